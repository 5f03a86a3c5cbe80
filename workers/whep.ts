import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../src/base/clock.js';
import { createLogger } from '../src/base/log.js';
import { ThreadStats } from '../src/base/thread-stats.js';
import type { FromWhepWorker, ToWhepWorker, WhepWorkerOptions } from '../src/live/whep/messages.js';
import { WhepWorker } from '../src/live/whep/whep-worker.js';

/** The thread around a WhepWorker: messages in, messages out, an orderly end. */
if (parentPort === null) throw new Error('workers/whep.js runs as a worker thread only');
const port = parentPort;
const send = (message: FromWhepWorker): void => port.postMessage(message);
const log = createLogger((level, message, fields) => send({ type: 'log', level, message, fields }));
const stats = new ThreadStats(systemClock);
stats.start();
send({ type: 'thread', stats: stats.shared });
const worker = new WhepWorker(workerData as WhepWorkerOptions, { clock: systemClock, log, send });

port.on('message', (message: ToWhepWorker) => {
  if (message.type !== 'stop') {
    worker.handle(message);
    return;
  }
  worker.stop();
  port.close();
});
