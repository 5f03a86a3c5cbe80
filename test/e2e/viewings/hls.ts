import type { Visitor } from './visitor.js';
import { DOOR, GATE, oneOf, pause, ROOF, ticketFor, type Viewing, type Wall } from './wall.js';

/** Nobody asks for the yard while the crowd is there: its live HLS must come to rest. */
const CAMERAS = [DOOR, GATE, ROOF] as const;

const linesOf = (playlist: string): string[] => playlist.split('\n').filter((line) => line !== '');

/** The last address in a playlist that is no tag. */
const lastFile = (playlist: string): string => {
  const name = linesOf(playlist).findLast((line) => !line.startsWith('#'));
  if (name === undefined) throw new Error(`a playlist without a file: ${playlist}`);
  return name;
};

/** The last of the addresses in a kind of tag. */
const taggedUri = (playlist: string, tag: string): string =>
  [...playlist.matchAll(new RegExp(`^#EXT-X-${tag}:.*URI="([^"]+)"`, 'gm'))].at(-1)?.[1] ?? '';

/** The MPEG-TS variant of a master manifest. */
const segmentsOf = (master: string): string =>
  linesOf(master).find((line) => line.startsWith('stream.m3u8')) ?? '';

type Opened = { readonly base: string; readonly master: string };

const openMaster = async (wall: Wall, visitor: Visitor): Promise<Opened> => {
  const cameraId = oneOf(wall, ...CAMERAS);
  const query = await ticketFor(wall, visitor, cameraId);
  const base = `/stream/hls/${cameraId}/`;
  return { base, master: await visitor.read(`${base}index.m3u8${query}`) };
};

/** Plays MPEG-TS as hls.js does, then stops polling. */
const play: Viewing = async (wall, visitor) => {
  const { base, master } = await openMaster(wall, visitor);
  const stream = base + segmentsOf(master);
  for (let poll = 0; poll < 3; poll += 1) {
    const [video, subtitles] = await Promise.all([
      visitor.read(stream),
      visitor.read(base + taggedUri(master, 'MEDIA')),
    ]);
    const [segment] = await Promise.all([
      visitor.fetch(base + lastFile(video)),
      visitor.fetch(base + lastFile(subtitles)),
    ]);
    if (segment[0] !== 0x47) throw new Error('a segment that is no MPEG-TS');
    await pause(300);
  }
};

/** Is cut off while a segment comes. */
const cutSegment: Viewing = async (wall, visitor) => {
  const { base, master } = await openMaster(wall, visitor);
  const video = await visitor.read(base + segmentsOf(master));
  await visitor.cut(base + lastFile(video));
};

const openParts = async (
  wall: Wall,
  visitor: Visitor,
): Promise<{ base: string; list: string; text: string }> => {
  const cameraId = oneOf(wall, ...CAMERAS);
  const query = await ticketFor(wall, visitor, cameraId);
  const base = `/stream/hls/${cameraId}/`;
  const text = await visitor.read(`${base}ll.m3u8${query}`);
  const session = /\?session=[^"\s]+/.exec(text)?.[0] ?? '';
  return { base, list: `${base}ll.m3u8${session}`, text };
};

/** The query that waits for the part that comes next. */
const nextPart = (text: string): string => {
  const [, segment = '', part = ''] = /part_(\d+)_(\d+)/.exec(taggedUri(text, 'PRELOAD-HINT')) ?? [];
  return segment === '' ? '' : `_HLS_msn=${segment}&_HLS_part=${part}`;
};

const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;

/** Plays parts with blocking reloads. */
const playParts: Viewing = async (wall, visitor) => {
  const opened = await openParts(wall, visitor);
  let { text } = opened;
  await visitor.fetch(opened.base + taggedUri(text, 'MAP'));
  for (let reload = 0; reload < 4; reload += 1) {
    text = await visitor.read(withQuery(opened.list, nextPart(text)));
    await visitor.fetch(opened.base + taggedUri(text, 'PART'));
  }
};

/** Is gone while its reload, or the part that was hinted at, is waited for. */
const abandonReload: Viewing = async (wall, visitor) => {
  const { base, list, text } = await openParts(wall, visitor);
  const hinted = taggedUri(text, 'PRELOAD-HINT');
  const wanted = oneOf(wall, withQuery(list, nextPart(text)), hinted === '' ? list : base + hinted);
  await visitor.abandon(wanted, oneOf(wall, 0, 50));
};

/** Is gone while the first segment is waited for, or shows no token. */
const abandonStart: Viewing = async (wall, visitor) => {
  const cameraId = oneOf(wall, ...CAMERAS);
  await visitor.abandon(`/stream/hls/${cameraId}/${oneOf(wall, 'index', 'stream', 'll')}.m3u8`, 0);
};

/** A player that is silent for so long is gone: it shows its token again, and what was listed for it need not be there. */
const SILENT_MS = 10_000;
const MAX_TRIES = 3;

/** Begins anew where a machine that is busy took that long. */
const inTime =
  (viewing: Viewing): Viewing =>
  async (wall, visitor) => {
    for (let tries = 1; ; tries += 1) {
      const startMs = performance.now();
      try {
        await viewing(wall, visitor);
        return;
      } catch (fault) {
        const isGone = /: 401 .*token_expired|: 404 /.test(String(fault));
        if (!isGone || tries === MAX_TRIES || performance.now() - startMs < SILENT_MS) throw fault;
      }
    }
  };

export const hlsViewings = {
  play: inTime(play),
  cutSegment: inTime(cutSegment),
  playParts: inTime(playParts),
  abandonReload: inTime(abandonReload),
  abandonStart,
} as const;
