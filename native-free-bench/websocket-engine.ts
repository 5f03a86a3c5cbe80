/** Cameras and their WebSocket viewers in a process of their own, without the management around them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RootState } from '../src/archive/root-state.js';
import { RecordingDesk } from '../src/archive/write/recording-desk.js';
import { systemClock } from '../src/base/clock.js';
import { createLogger } from '../src/base/log.js';
import { Cameras } from '../src/camera/fleet/cameras.js';
import { spawnCameraWorker } from '../src/camera/fleet/worker-thread.js';
import { Walls } from '../src/live/wall/walls.js';
import { WebSocketViews } from '../src/live/websocket/websocket-views.js';
import { answer } from './child.js';
import { WALL_PATH } from './wall-path.js';

export type EngineQuestion =
  | { readonly type: 'start'; readonly urls: readonly string[] }
  | { readonly type: 'figures' }
  /** Memory without what is garbage already. */
  | { readonly type: 'collect' };

export type EngineFigures = {
  readonly port: number;
  readonly streaming: number;
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly viewers: number;
  readonly droppedFrames: number;
};

const log = createLogger((level, message, fields) => {
  if (level !== 'info') process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`);
});
// Nothing is recorded here.
const recordings = new RecordingDesk(
  { archiveDir: tmpdir(), fileSeconds: 3600, root: new RootState().memory },
  { clock: systemClock, log, recover: () => {}, onRefused: () => {} },
);
const cameras = new Cameras(
  { camerasPerWorker: 'auto', coreCount: availableParallelism() },
  { clock: systemClock, log, spawn: spawnCameraWorker, recordings },
);
const views = new WebSocketViews({ feeds: cameras, clock: systemClock, log });
const walls = new Walls({
  ...{ feeds: cameras, clock: systemClock, log },
  problemOf: (thrown) => ({ detail: String(thrown) }),
  sourceOf: (cameraId) => cameraId,
});
const events = { position: 0, listen: () => () => {}, since: () => ({ position: 0, texts: [] }) };
const place = { onEnd: () => {}, release: () => {} };
const server = createServer().on('upgrade', (request, socket, head) => {
  const path = (request.url ?? '').slice(1);
  if (path === WALL_PATH)
    walls.accept(request, socket, head, { username: 'bench', events, watch: () => place, ...place });
  else views.accept(path, request, socket, head, place);
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const figures = (): EngineFigures => {
  const { user, system } = process.cpuUsage();
  const sum = (of: (id: string) => number): number => cameras.ids.reduce((total, id) => total + of(id), 0);
  return {
    port: (server.address() as AddressInfo).port,
    streaming: sum((id) => (cameras.get(id)?.status().state === 'streaming' ? 1 : 0)),
    cpuMs: (user + system) / 1000,
    rssMb: process.memoryUsage.rss() / 1e6,
    viewers: sum((id) => views.viewers(id) + walls.viewers(id)),
    droppedFrames: sum((id) => views.droppedFrames(id) + walls.droppedFrames(id)),
  };
};

answer(async (question: EngineQuestion): Promise<EngineFigures> => {
  if (question.type === 'start') {
    cameras.replaceAll(
      question.urls.map((url, index) => ({
        id: `camera-${index}`,
        source: { url, transport: 'tcp' },
        host: '127.0.0.1',
        disabled: false,
        isRecorded: false,
      })),
    );
  }
  if (question.type === 'collect') collectGarbage();
  return figures();
});
