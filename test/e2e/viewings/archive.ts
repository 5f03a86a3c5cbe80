import { until } from '../../support/until.js';
import type { Visitor } from './visitor.js';
import { DOOR, oneOf, pause, type Viewing, type Wall } from './wall.js';

const RETRY_MS = 100;

/** A recording that is there and has parts; the door's are kept as long as the test runs. */
const aRecording = async (wall: Wall, visitor: Visitor): Promise<string> => {
  const text = await visitor.read(`/api/cameras/${DOOR}/archive`, { token: wall.token });
  const closed = (JSON.parse(text) as { filename: string }[]).filter(
    ({ filename }) => !filename.includes('ongoing'),
  );
  return encodeURIComponent(oneOf(wall, ...closed.slice(-20)).filename);
};

/** Plays the beginning of a recording. */
const play: Viewing = async (wall, visitor) => {
  const file = await aRecording(wall, visitor);
  const playlist = await visitor.read(`/hls/${DOOR}/archive.m3u8?file=${file}`);
  const segments = playlist.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  for (const segment of segments.slice(0, 2)) {
    const bytes = await visitor.fetch(new URL(segment, `http://wall/hls/${DOOR}/`).pathname + query(segment));
    if (bytes[0] !== 0x47) throw new Error('a segment that is no MPEG-TS');
  }
};

const query = (address: string): string => new URL(address, 'http://wall/').search;

/** Is cut off while a segment comes. */
const cutSegment: Viewing = async (wall, visitor) => {
  const file = await aRecording(wall, visitor);
  await visitor.cut(`/hls/${DOOR}/segment.ts?file=${file}&seq=0`);
};

const exportPath = async (wall: Wall, visitor: Visitor): Promise<string> =>
  `/api/cameras/${DOOR}/export?file=${await aRecording(wall, visitor)}`;

/** Takes a whole file; comes again if too many want one at the same moment. */
const download: Viewing = async (wall, visitor) => {
  const path = await exportPath(wall, visitor);
  const page = await until('the service has time for an export', async () => {
    const answer = await visitor.ask(path, { token: wall.token });
    if (answer.status !== 503) return answer;
    await pause(RETRY_MS);
    return null;
  });
  if (page.status !== 200 || page.bytes.toString('latin1', 4, 8) !== 'ftyp')
    throw new Error(`an export that is no MP4: ${page.status}`);
};

/** Is cut off halfway, or as soon as it has asked. */
const cutDownload: Viewing = async (wall, visitor) => {
  const path = await exportPath(wall, visitor);
  if (wall.random() < 0.5) await visitor.cut(path, { token: wall.token });
  else await visitor.abandon(path, oneOf(wall, 0, 5), { token: wall.token });
};

/** Looks at the wall, its timeline and its log. */
const look: Viewing = async (wall, visitor) => {
  const { token } = wall;
  await visitor.read('/api/cameras', { token });
  await visitor.read(`/api/cameras/${DOOR}/recordings`, { token });
  await visitor.cut('/api/logs/stream', { token });
};

export const archiveViewings = { play, cutSegment, download, cutDownload, look } as const;
