import { parentPort, workerData } from 'node:worker_threads';
import { CopierThread } from '../src/archive/offsite/copier-thread.js';
import type { CopierSetup, FromCopier, ToCopier } from '../src/archive/offsite/messages.js';
import { systemClock } from '../src/base/clock.js';
import { createLogger } from '../src/base/log.js';
import { ThreadStats } from '../src/base/thread-stats.js';

/** The thread around a Copier: messages in, messages out, an orderly end. */
if (parentPort === null) throw new Error('workers/archive-copier.js runs as a worker thread only');
const port = parentPort;
const send = (message: FromCopier): void => port.postMessage(message);
const log = createLogger((level, message, fields) => send({ type: 'log', level, message, fields }));
const stats = new ThreadStats(systemClock);
stats.start();
send({ type: 'thread', stats: stats.shared });
const thread = new CopierThread(workerData as CopierSetup, { clock: systemClock, log, send });

port.on('message', (message: ToCopier) => {
  if (message.type !== 'stop') thread.handle(message);
  else void thread.stop().finally(() => port.close());
});
