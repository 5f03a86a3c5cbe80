import { parentPort, workerData } from 'node:worker_threads';
import { BellListener } from '../../src/ring/doorbell.js';

/** Listens until it has seen the counter reach `target`; nothing else keeps this thread alive. */
const { bell, counter, target } = workerData as {
  bell: SharedArrayBuffer;
  counter: SharedArrayBuffer;
  target: number;
};
const words = new Int32Array(counter);
let calls = 0;
const listener = new BellListener(bell, () => {
  calls += 1;
  if (calls === 1) parentPort?.postMessage('listening');
  if (Atomics.load(words, 0) < target) return;
  listener.stop();
  parentPort?.postMessage(calls);
  parentPort?.close();
});
// A target keeps the thread waiting for messages, as a server's would; without one it may end at once.
if (target < Number.POSITIVE_INFINITY) parentPort?.on('message', () => {});
listener.start();
