import type { Clock, MonotonicMs } from '../base/clock.js';

/** Packets a second of one worker below which waking up for each is cheap enough while somebody watches. */
const BUSY_PACKETS_PER_SEC = 10_000;
const UNWATCHED_NAP_MS = 10;
const WATCHED_NAP_MS = 1;
/** How often it is looked at what to do: a viewer who comes sees the longer nap for so long at most. */
const WINDOW_MS = 100;

/**
 * Adaptive nap batching. Waking up and reading are most of what ingest costs (about 8 us each), and paced
 * cameras send a packet at a time: a worker that sleeps a few milliseconds after a loop turn finds many packets
 * in each socket and reads them at once. The price is latency, so it is paid where nobody watches, and kept to
 * a millisecond where somebody does. Packets are counted, not reads: a nap doesn't change their rate.
 */
export class NapPolicy {
  readonly #clock: Clock;
  readonly #need: () => 'rest' | 'latency' | 'haste';
  readonly #sleeper = new Int32Array(new SharedArrayBuffer(4));
  #packets = 0;
  #windowStartMs: MonotonicMs;
  #napMs = 0;

  /** `need`: latency where somebody watches, haste where a camera is being connected, which takes many turns. */
  constructor(deps: { clock: Clock; need: () => 'rest' | 'latency' | 'haste' }) {
    this.#clock = deps.clock;
    this.#need = deps.need;
    this.#windowStartMs = deps.clock.monotonicMs();
  }

  countPacket(): void {
    this.#packets++;
  }

  /** How long to sleep at the end of a loop turn that received media. */
  napMs(): number {
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#windowStartMs;
    if (elapsedMs >= WINDOW_MS) {
      const isBusy = (this.#packets * 1000) / elapsedMs > BUSY_PACKETS_PER_SEC;
      const need = this.#need();
      if (need === 'rest') this.#napMs = UNWATCHED_NAP_MS;
      else this.#napMs = isBusy && need === 'latency' ? WATCHED_NAP_MS : 0;
      this.#packets = 0;
      this.#windowStartMs = nowMs;
    }
    return this.#napMs;
  }

  /** Blocks the thread: only ever in a worker. */
  sleep(durationMs: number): void {
    Atomics.wait(this.#sleeper, 0, 0, durationMs);
  }
}
