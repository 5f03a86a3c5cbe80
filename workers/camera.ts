import { parentPort, workerData } from 'node:worker_threads';
import { Recorders, type RecordersSetup } from '../src/archive/write/recorders.js';
import { systemClock } from '../src/base/clock.js';
import { createLogger } from '../src/base/log.js';
import { ThreadStats } from '../src/base/thread-stats.js';
import type { CameraThreadSetup } from '../src/camera/fleet/worker-thread.js';
import { IngestWorker } from '../src/camera/ingest/ingest-worker.js';
import { sleepThread } from '../src/camera/ingest/nap.js';
import type { FromCameraWorker, ToCameraWorker } from '../src/camera/messages.js';
import { RingCeiling } from '../src/ring/ceiling.js';

/** The thread around an IngestWorker: messages in, messages out, an orderly end. */
if (parentPort === null) throw new Error('workers/camera.js runs as a worker thread only');
const port = parentPort;
const send = (message: FromCameraWorker): void => port.postMessage(message);
const log = createLogger((level, message, fields) => send({ type: 'log', level, message, fields }));
const stats = new ThreadStats(systemClock);
stats.start();
send({ type: 'thread', stats: stats.shared });
const setup = workerData as RecordersSetup & CameraThreadSetup;
const recorders = new Recorders(setup, {
  clock: systemClock,
  log,
  onNews: (cameraId, news) => send({ type: 'recording', cameraId, news }),
  onLost: (cameraId, frames) => send({ type: 'unrecorded', cameraId, frames }),
  onFile: (cameraId, fileName, state, progress) =>
    send({ type: 'recording_file', cameraId, fileName, state, progress: progress?.memory ?? null }),
});
const ceiling = new RingCeiling(setup.ringCeiling);
const openPull =
  setup.relay &&
  (await import('../src/relay/receive/pull.js')).pullsOf(setup.relay.box, Buffer.from(setup.relay.key));
const deps = { clock: systemClock, log, send, recorders, ceiling, openPull };
const worker = new IngestWorker({ ...deps, sleep: sleepThread });

port.on('message', (message: ToCameraWorker) => {
  if (message.type !== 'stop') worker.handle(message);
  else void worker.stop().finally(() => port.close());
});
