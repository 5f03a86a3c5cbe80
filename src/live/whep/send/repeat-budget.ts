import type { MonotonicMs } from '../../../base/clock.js';
import { TokenBucket } from './token-bucket.js';

/** Repeats of lost packets: a lost keyframe at once, 5 Mbit/s in the long run. */
const BURST_PACKETS = 160;
const PACKETS_PER_MS = 0.5;
/** On a link that is held back: of its rate, less what it loses; and so much of it at once. */
const MOST_SHARE = 0.75;
const LEAST_SHARE = 0.25;
const BURST_MS = 250;
/** A packet that was repeated is on its way for so long, in round trips. */
const GAP_RTTS = 0.9;
/** While that isn't known, and there is a queue. */
const QUEUE_MS = 200;
/** Packets whose last repeat is remembered. */
const SLOTS = 1_024;

/** Which of the lost packets are sent again: so many as the link takes, and none whose repeat is still on its way. */
export class RepeatBudget {
  readonly #bucket: TokenBucket;
  readonly #indices = new Float64Array(SLOTS).fill(-1);
  readonly #sentMs = new Float64Array(SLOTS);
  #gapMs = 0;

  constructor(nowMs: MonotonicMs) {
    this.#bucket = new TokenBucket(BURST_PACKETS, PACKETS_PER_MS, nowMs);
  }

  /** What the link takes, in packets, infinite if that isn't known; how many of those it loses; how long it is. */
  setLink(packetsPerMs: number, loss: number, rttMs: number, nowMs: MonotonicMs): void {
    const unknownMs = packetsPerMs < Number.POSITIVE_INFINITY ? QUEUE_MS : 0;
    this.#gapMs = rttMs > 0 ? rttMs * GAP_RTTS : unknownMs;
    const perMs = packetsPerMs * Math.max(LEAST_SHARE, MOST_SHARE - loss);
    if (perMs >= PACKETS_PER_MS) this.#bucket.setRate(BURST_PACKETS, PACKETS_PER_MS, nowMs);
    else this.#bucket.setRate(Math.min(BURST_PACKETS, Math.ceil(perMs * BURST_MS)), perMs, nowMs);
  }

  /** Whether the packet may go again now; urgent ones whatever the budget says. */
  take(index: number, isUrgent: boolean, nowMs: MonotonicMs): boolean {
    const slot = index & (SLOTS - 1);
    if (this.#indices[slot] === index && nowMs - this.#sentMs[slot]! < this.#gapMs) return false;
    if (!isUrgent) {
      if (this.#bucket.available(nowMs) < 1) return false;
      this.#bucket.take(1);
    }
    this.#indices[slot] = index;
    this.#sentMs[slot] = nowMs;
    return true;
  }
}
