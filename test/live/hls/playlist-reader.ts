import HLS from 'hls-parser';

/** Reads a playlist as strictly as can be: what breaks a rule throws. */
export const parse = (text: string): HLS.types.MediaPlaylist => {
  HLS.setOptions({ strictMode: true, silent: true });
  const playlist = HLS.parse(text);
  if (playlist.isMasterPlaylist) throw new Error('a media playlist was expected');
  return playlist as HLS.types.MediaPlaylist;
};

/** Reads a master manifest likewise. */
export const parseMaster = (text: string): HLS.types.MasterPlaylist => {
  HLS.setOptions({ strictMode: true, silent: true });
  const playlist = HLS.parse(text);
  if (!playlist.isMasterPlaylist) throw new Error('a master manifest was expected');
  return playlist as HLS.types.MasterPlaylist;
};

/** The addresses of the whole segments. */
export const addressesOf = (playlist: HLS.types.MediaPlaylist): string[] =>
  playlist.segments.map(({ uri }) => uri).filter((uri) => uri !== '');
