import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../src/base/clock.js';
import { createLogger } from '../src/base/log.js';
import { ThreadStats } from '../src/base/thread-stats.js';
import type { FromRelayThread, RelayThreadOptions, ToRelayThread } from '../src/relay/messages.js';
import { RelayServer } from '../src/relay/send/relay-server.js';

/** The thread around a RelayServer: messages in, messages out, an orderly end. */
if (parentPort === null) throw new Error('workers/relay.js runs as a worker thread only');
const port = parentPort;
const send = (message: FromRelayThread): void => port.postMessage(message);
const log = createLogger((level, message, fields) => send({ type: 'log', level, message, fields }));
const stats = new ThreadStats(systemClock);
stats.start();
send({ type: 'thread', stats: stats.shared });
const server = new RelayServer(workerData as RelayThreadOptions, { clock: systemClock, log, send });
server.listen();

port.on('message', (message: ToRelayThread) => {
  if (message.type !== 'stop') {
    server.handle(message);
    return;
  }
  server.stop();
  port.close();
});
