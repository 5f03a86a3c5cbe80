import type { MonotonicMs } from '../../../base/clock.js';
import { BATCH_PACKETS, MAX_PACKET_BYTES } from '../secure/srtp-batch.js';
import { TokenBucket } from './token-bucket.js';

/**
 * A keyframe at once overflows a receiver's socket: 150 packets in one go lost all of their frame in Chromium. These
 * go at once, and then 30 a millisecond, which is 290 Mbit/s.
 */
const BURST_PACKETS = 30;
const PACKETS_PER_MS = 30;
const PORTION_PACKETS = 24;

/** At a rate: what is sent together, which is also how often there is a turn, and what a late turn makes up for. */
const PORTION_MS = 5;
const BURST_MS = 20;
/** What can't wait for others may go ahead of them by so much. */
const AHEAD_MS = 100;

/** How fast packets may follow each other: as fast as a receiver's socket takes them, or at a link's rate. */
export class SendPace {
  readonly #packets: TokenBucket;
  readonly #bytes: TokenBucket;
  #bytesPerMs = Number.POSITIVE_INFINITY;

  constructor(nowMs: MonotonicMs) {
    this.#packets = new TokenBucket(BURST_PACKETS, PACKETS_PER_MS, nowMs);
    this.#bytes = new TokenBucket(0, 0, nowMs);
  }

  /** Infinite: as fast as a socket takes them. */
  setRate(bytesPerMs: number, nowMs: MonotonicMs): void {
    if (bytesPerMs === this.#bytesPerMs) return;
    this.#bytesPerMs = bytesPerMs;
    if (!this.#isUnlimited) {
      this.#bytes.setRate(Math.max(2 * MAX_PACKET_BYTES, bytesPerMs * BURST_MS), bytesPerMs, nowMs);
    }
  }

  /** How many of `left` packets may go now; 0: fewer than are worth a turn. */
  available(left: number, nowMs: MonotonicMs): number {
    const most = Math.min(left, BATCH_PACKETS);
    const allowed = this.#packets.available(nowMs);
    if (allowed < Math.min(left, PORTION_PACKETS)) return 0;
    if (this.#isUnlimited) return Math.min(most, allowed);
    const byRate = Math.floor(this.#bytes.available(nowMs) / MAX_PACKET_BYTES);
    const portion = Math.floor((this.#bytesPerMs * PORTION_MS) / MAX_PACKET_BYTES);
    return byRate < Math.min(left, Math.max(1, portion)) ? 0 : Math.min(most, allowed, byRate);
  }

  /** Waiting for the link's rate takes longer than waiting for a socket's. */
  get isSlow(): boolean {
    return !this.#isUnlimited;
  }

  /** Whether something may go before what waits. */
  mayGoAhead(nowMs: MonotonicMs): boolean {
    return this.#isUnlimited || this.#bytes.available(nowMs) > -AHEAD_MS * this.#bytesPerMs;
  }

  take(packets: number, bytes: number): void {
    this.#packets.take(packets);
    if (!this.#isUnlimited) this.#bytes.take(bytes);
  }

  get #isUnlimited(): boolean {
    return this.#bytesPerMs === Number.POSITIVE_INFINITY;
  }
}
