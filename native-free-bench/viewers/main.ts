/** Viewers of one kind in a process of their own, so that the service's CPU stands alone. */
import { answer } from '../child.js';
import { Seen } from './frame-watch.js';
import type { ViewerKind, ViewersQuestion, ViewersReport, ViewerTarget } from './messages.js';
import type { OpenViewer, Viewer } from './viewer.js';

/** So many connect at the same time. */
const JOINING_AT_ONCE = 16;
/** Longer than any server makes its viewers wait for a keyframe. */
const FIRST_PICTURE_MS = 30_000;

const openers: Readonly<Record<ViewerKind, () => Promise<OpenViewer>>> = {
  ws: async () => (await import('./websocket-viewer.js')).openWebSocketViewer,
  wall: async () => (await import('./websocket-viewer.js')).openWall,
  hls: async () => (await import('./hls-viewer.js')).openHlsViewer,
  whep: async () => (await import('./whep-viewer.js')).openWhepViewer,
  rtsp: async () => (await import('./rtsp-viewer.js')).openRtspViewer,
};

const seen = new Seen();
const viewers: Viewer[] = [];

/** A viewer with a picture; where none comes, a fault says so. */
const openOne = (open: OpenViewer, target: ViewerTarget): Promise<Viewer> =>
  new Promise((resolve) => {
    const timeout = setTimeout(() => {
      seen.faults.push(`${new URL(target.url).pathname}: no picture in ${FIRST_PICTURE_MS / 1_000} s`);
      resolve(viewer);
    }, FIRST_PICTURE_MS);
    const viewer = open(target, seen, () => {
      clearTimeout(timeout);
      setImmediate(() => resolve(viewer));
    });
  });

const join = async (kind: ViewerKind, targets: readonly ViewerTarget[]): Promise<void> => {
  const open = await openers[kind]();
  const waiting = [...targets];
  const joinNext = async (): Promise<void> => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift())
      viewers.push(await openOne(open, target));
  };
  await Promise.all(Array.from({ length: JOINING_AT_ONCE }, joinNext));
};

answer(async (question: ViewersQuestion): Promise<ViewersReport> => {
  if (question.type === 'join') await join(question.kind, question.targets);
  if (question.type === 'measure') seen.begin();
  if (question.type === 'leave') for (const viewer of viewers.splice(0, question.count)) viewer.close();
  const { user, system } = process.cpuUsage();
  const { frames, lostFrames, lostPackets, bytes, faults } = seen;
  return {
    viewers: viewers.reduce((sum, { pictures }) => sum + pictures, 0),
    ...{ frames, lostFrames, lostPackets, bytes, faults },
    latencies: seen.latencies.toCounts(),
    reloads: seen.reloads.toCounts(),
    firstPictures: seen.firstPictures.toCounts(),
    cpuMs: (user + system) / 1000,
  };
});
