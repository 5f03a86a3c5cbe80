import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

const NAP_MS = 20;
const DISTURBED_MS = 250;
const MAX_TRIES = 3;

/** In a thread that does nothing else: what holds up the test's own thread alone, be it the product, excuses nothing. */
const NAPPER = `
  const { parentPort, workerData: worstMs } = require('node:worker_threads');
  parentPort.postMessage('begins');
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const beganMs = performance.now();
    Atomics.wait(never, 0, 0, ${NAP_MS});
    worstMs[0] = Math.max(worstMs[0], performance.now() - beganMs - ${NAP_MS});
  }`;

/**
 * What is promised only where nothing stands still meanwhile: tried again where it failed while this process was held
 * up, three times in all. What fails beside a process that ran on time fails at once. Each try begins from nothing.
 */
export const undisturbed = async <T>(t: TestContext, attempt: () => Promise<T>): Promise<T> => {
  const worstMs = new Float64Array(new SharedArrayBuffer(8));
  const napper = new Worker(NAPPER, { eval: true, workerData: worstMs });
  t.after(() => napper.terminate());
  await once(napper, 'message');
  for (let tries = 1; ; tries += 1) {
    worstMs[0] = 0;
    try {
      return await attempt();
    } catch (error) {
      // It may have been held up until just now.
      await pause(2 * NAP_MS);
      const [lateMs = 0] = worstMs;
      if (tries === MAX_TRIES || lateMs < DISTURBED_MS) throw error;
      t.diagnostic(`tried again, for this process stood still for ${Math.round(lateMs)} ms: ${error}`);
    }
  }
};
