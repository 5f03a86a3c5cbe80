import type { TestContext } from 'node:test';

const PERIOD_MS = 20;

/**
 * How much later than due a timer of this process fired, at the worst, since it was last asked: what a busy machine
 * adds to every time that is measured beside it.
 */
export const watchLateness = (t: TestContext): (() => number) => {
  let dueMs = performance.now() + PERIOD_MS;
  let worstMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    worstMs = Math.max(worstMs, nowMs - dueMs);
    dueMs = nowMs + PERIOD_MS;
  }, PERIOD_MS);
  t.after(() => clearInterval(timer));
  return () => {
    const sinceMs = Math.max(worstMs, performance.now() - dueMs);
    worstMs = 0;
    return sinceMs;
  };
};
