import type { Clock, MonotonicMs } from '../../base/clock.js';

/** What the cameras of a thread need of it now. */
export type NapNeed = {
  /** A camera is in its handshake, and answers: that takes many turns of the loop. */
  readonly isConnecting: boolean;
  /** Cameras that send, and those of them that somebody in another thread watches. */
  readonly playing: number;
  readonly watched: number;
};

const UNWATCHED_NAP_MS = 10;
/** Where just a few are watched, the others are worth these, from some packets a second on. */
const FEW_WATCHED_NAP_MS = 2;
const FEW_WATCHED_SHARE = 1 / 4;
const SOME_PACKETS_PER_SEC = 5_000;
/** Where many are, waking up for each packet is cheap enough for longer. */
const WATCHED_NAP_MS = 1;
const BUSY_PACKETS_PER_SEC = 10_000;
/** A read of a link between boxes is 16 KB at most. */
const PACKETS_PER_PULL = 8;
/** How often it is looked at what to do: a viewer who comes sees the longer nap for so long at most. */
const WINDOW_MS = 100;

/**
 * Adaptive nap batching. Waking up and reading are most of what ingest costs (about 8 us each), and paced
 * cameras send a packet at a time: a worker that sleeps a few milliseconds after a loop turn finds many packets
 * in each socket and reads them at once. The price is latency, so it is paid where nobody watches, and kept to
 * a millisecond or two where somebody does. Packets are counted, not reads: a nap doesn't change their rate.
 */
export class NapPolicy {
  readonly #clock: Clock;
  readonly #need: () => NapNeed;
  #packets = 0;
  #windowStartMs: MonotonicMs;
  #napMs = 0;

  constructor(deps: { clock: Clock; need: () => NapNeed }) {
    this.#clock = deps.clock;
    this.#need = deps.need;
    this.#windowStartMs = deps.clock.monotonicMs();
  }

  countPacket(): void {
    this.#packets++;
  }

  /** A read of another box's link, which wakes the thread as many packets do that come one by one. */
  countPull(): void {
    this.#packets += PACKETS_PER_PULL;
  }

  /** How long to sleep at the end of a loop turn that received media. */
  napMs(): number {
    const nowMs = this.#clock.monotonicMs();
    const elapsedMs = nowMs - this.#windowStartMs;
    if (elapsedMs >= WINDOW_MS) {
      this.#napMs = napFor(this.#need(), (this.#packets * 1000) / elapsedMs);
      this.#packets = 0;
      this.#windowStartMs = nowMs;
    }
    return this.#napMs;
  }
}

const napFor = ({ isConnecting, playing, watched }: NapNeed, packetsPerSec: number): number => {
  if (isConnecting) return 0;
  if (watched === 0) return UNWATCHED_NAP_MS;
  if (watched > playing * FEW_WATCHED_SHARE) return packetsPerSec > BUSY_PACKETS_PER_SEC ? WATCHED_NAP_MS : 0;
  return packetsPerSec > SOME_PACKETS_PER_SEC ? FEW_WATCHED_NAP_MS : 0;
};

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread: only ever in a worker. */
export const sleepThread = (durationMs: number): void => {
  Atomics.wait(sleeper, 0, 0, durationMs);
};
