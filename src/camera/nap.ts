import type { Clock } from '../base/clock.js';

/** Packets a second of one worker below which waking up for each is cheap enough while somebody watches. */
const BUSY_PACKETS_PER_SEC = 2_000;
const UNWATCHED_NAP_MS = 5;
const WATCHED_NAP_MS = 1;
const RATE_WINDOW_MS = 500;

/**
 * Adaptive nap batching. Waking up and reading are most of what ingest costs (about 8 us each), and paced
 * cameras send a packet at a time: a worker that sleeps a few milliseconds after a loop turn finds many packets
 * in each socket and reads them at once. The price is latency, so it is paid where nobody watches, and kept to
 * a millisecond where somebody does. Packets are counted, not reads: a nap doesn't change their rate.
 */
export class NapPolicy {
  readonly #clock: Clock;
  readonly #sleeper = new Int32Array(new SharedArrayBuffer(4));
  #packets = 0;
  #windowStartMs: number;
  #isBusy = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#windowStartMs = clock.monotonicMs();
  }

  countPacket(): void {
    this.#packets++;
  }

  /** How long to sleep at the end of a loop turn that received media. */
  napMs(isWatched: boolean): number {
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#windowStartMs;
    if (elapsedMs >= RATE_WINDOW_MS) {
      this.#isBusy = (this.#packets * 1000) / elapsedMs > BUSY_PACKETS_PER_SEC;
      this.#packets = 0;
      this.#windowStartMs = nowMs;
    }
    if (!isWatched) return UNWATCHED_NAP_MS;
    return this.#isBusy ? WATCHED_NAP_MS : 0;
  }

  /** Blocks the thread: only ever in a worker. */
  sleep(durationMs: number): void {
    Atomics.wait(this.#sleeper, 0, 0, durationMs);
  }
}
