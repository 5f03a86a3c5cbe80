import { parentPort, workerData } from 'node:worker_threads';
import { serveMailbox } from '../src/archive/offsite/mailbox.js';
import { BoxAsker } from '../src/archive/others/box-asker.js';
import type { AskerSetup, FromAsker, ToAsker } from '../src/archive/others/messages.js';
import { systemClock } from '../src/base/clock.js';
import { ThreadStats } from '../src/base/thread-stats.js';
import { Asking } from '../src/relay/ask/asking.js';

/** The thread around a BoxAsker: messages in, messages out, its mailbox, and an orderly end. */
if (parentPort === null) throw new Error('workers/archive-boxes.js runs as a worker thread only');
const port = parentPort;
const send = (message: FromAsker, memory: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, memory);
const stats = new ThreadStats(systemClock);
stats.start();
send({ type: 'thread', stats: stats.shared });
const { box, key, mailbox } = workerData as AskerSetup;
const asker = new BoxAsker(new Asking({ box, key: Buffer.from(key) }, { clock: systemClock }), {
  clock: systemClock,
  send,
});
serveMailbox(mailbox, (question) => asker.read(question));

// Whoever waits for an answer has its own patience.
port.on('message', (message: ToAsker) => {
  if (message.type === 'stop') process.exit(0);
  asker.handle(message);
});
