import { performance } from 'node:perf_hooks';

declare const kind: unique symbol;

/** Milliseconds of the system's monotonic clock: for waiting and measuring, comparable between threads. */
export type MonotonicMs = number & { readonly [kind]: 'MonotonicMs' };

/** Milliseconds since 1970, UTC: for file names and anything shown to people. */
export type WallMs = number & { readonly [kind]: 'WallMs' };

/** Ticks of a track's own clock (90 kHz for video): media time. */
export type Ticks = number & { readonly [kind]: 'Ticks' };

export type Timer = { cancel(): void };

/** Injected wherever time matters, so that a test can own it. */
export interface Clock {
  monotonicMs(): MonotonicMs;
  wallMs(): WallMs;
  /** Calls back once after `delayMs`. */
  after(delayMs: number, callback: () => void): Timer;
  /** Calls back every `periodMs` until cancelled. */
  every(periodMs: number, callback: () => void): Timer;
}

const ORIGIN_SAMPLES = 8;

/**
 * performance.now() counts from the thread's own start; hrtime's epoch is the machine's, the same in all threads
 * and processes. The thread may be preempted between the two readings: the closest pair counts.
 */
const measureOriginMs = (): number => {
  let originMs = 0;
  let closestMs = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < ORIGIN_SAMPLES; sample += 1) {
    const beforeMs = performance.now();
    const machineMs = Number(process.hrtime.bigint() / 1000n) / 1000;
    const apartMs = performance.now() - beforeMs;
    if (apartMs >= closestMs) continue;
    closestMs = apartMs;
    originMs = machineMs - beforeMs - apartMs / 2;
  }
  return originMs;
};

const hrtimeOriginMs = measureOriginMs();

export const systemClock: Clock = {
  monotonicMs: () => (hrtimeOriginMs + performance.now()) as MonotonicMs,
  wallMs: () => Date.now() as WallMs,
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  every: (periodMs, callback) => {
    const timer = setInterval(callback, periodMs);
    return { cancel: () => clearInterval(timer) };
  },
};
