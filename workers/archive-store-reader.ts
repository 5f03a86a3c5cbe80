import { parentPort, workerData } from 'node:worker_threads';
import { serveMailbox } from '../src/archive/offsite/mailbox.js';
import type { FromReader, ReaderSetup } from '../src/archive/offsite/reading-thread.js';
import { openStoreReader } from '../src/archive/offsite/store-reader.js';
import { systemClock } from '../src/base/clock.js';
import { ThreadStats } from '../src/base/thread-stats.js';

/** The thread around a StoreReader: its mailbox, and an orderly end. */
if (parentPort === null) throw new Error('workers/archive-store-reader.js runs as a worker thread only');
const port = parentPort;
const stats = new ThreadStats(systemClock);
stats.start();
port.postMessage({ type: 'thread', stats: stats.shared } satisfies FromReader);
const setup = workerData as ReaderSetup;
const tell = (message: FromReader): void => port.postMessage(message);
const reader = openStoreReader(setup, systemClock, {
  onAway: () => tell({ type: 'away' }),
  onGone: (cameraId) => tell({ type: 'gone', cameraId }),
});
serveMailbox(setup.mailbox, (question) => reader.answer(question));

// Whoever waits for an answer has its own patience.
port.on('message', () => process.exit(0));
