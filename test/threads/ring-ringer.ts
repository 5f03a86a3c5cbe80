import { parentPort, workerData } from 'node:worker_threads';
import { Bell } from '../../src/ring/doorbell.js';

/** Counts up in shared memory, `bursts` times by a few at once, ringing after each burst; then just lives. */
const { counter, bursts, pauseMs } = workerData as {
  counter: SharedArrayBuffer;
  bursts: number;
  pauseMs: number;
};
const words = new Int32Array(counter);
const bell = new Bell();

const burst = (left: number): void => {
  if (left === 0) return;
  for (let i = 0; i < 3; i += 1) {
    Atomics.add(words, 0, 1);
    bell.markPublished();
  }
  bell.ringIfNeeded();
  if (pauseMs === 0) setImmediate(burst, left - 1);
  else setTimeout(burst, pauseMs, left - 1);
};

parentPort?.postMessage(bell.memory);
parentPort?.once('message', () => burst(bursts));
parentPort?.on('message', () => {});
