import { aacTrack } from '../../codec/audio-track.js';
import { parseAvcc } from '../../codec/avcc.js';
import { type Hvcc, parseHvcc } from '../../codec/hvcc.js';
import { ParameterSets } from '../../codec/parameter-sets.js';
import type { AudioTrackInfo, StreamInfo, VideoTrackInfo } from '../../codec/track.js';
import type { Movie, MovieTrack } from '../../fmp4/movie-reader.js';

/** NAL units behind lengths of any other size can't be muxed in place; we write no such file. */
const NAL_LENGTH_BYTES = 4;

const avcSets = (config: Uint8Array): Pick<Hvcc, 'lengthBytes' | 'vps' | 'sps' | 'pps'> | null => {
  const record = parseAvcc(config);
  return record === null ? null : { ...record, vps: [] };
};

const videoOf = (track: MovieTrack): VideoTrackInfo | null => {
  const { codec } = track;
  if (codec !== 'h264' && codec !== 'h265') return null;
  const record = codec === 'h264' ? avcSets(track.config) : parseHvcc(track.config);
  if (record === null || record.lengthBytes !== NAL_LENGTH_BYTES) return null;
  const sets = new ParameterSets(codec);
  for (const nal of [...record.vps, ...record.sps, ...record.pps]) sets.offer(nal, 0, nal.length);
  return sets.toVideoTrackInfo();
};

const audioOf = (track: MovieTrack): AudioTrackInfo | null =>
  track.codec === 'aac' ? aacTrack(track.config, track.timescaleHz, track.channels) : null;

/** What the muxer has to know of a movie, and which of its tracks it means. */
export type MovieStream = {
  readonly info: StreamInfo;
  /** Indexes of the tracks; -1: no audio that MPEG-TS carries. */
  readonly video: number;
  readonly audio: number;
};

/** The stream that a recording's moov describes; null: its video can't be used. */
export const movieStream = ({ tracks }: Movie): MovieStream | null => {
  const video = tracks.findIndex(({ kind }) => kind === 'video');
  const audio = tracks.findIndex(({ kind }) => kind === 'audio');
  const videoInfo = video < 0 ? null : videoOf(tracks[video]!);
  const audioInfo = audio < 0 ? null : audioOf(tracks[audio]!);
  if (videoInfo === null) return null;
  return { info: { video: videoInfo, audio: audioInfo }, video, audio: audioInfo === null ? -1 : audio };
};
