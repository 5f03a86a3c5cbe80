const WINDOW_MS = 200;
const LONGEST_WINDOW_MS = 1_000;
const FLOOD_SHARE = 1 / 3;
const FLOOD_PACKETS = 30;

/** Notices when much of what was just sent is asked for again: a viewer's report tells that a second later. */
export class RequestFlood {
  // In this window: what was sent, and how many of the packets were asked for.
  #packets = 0;
  #bytes = 0;
  #asked = 0;
  #sinceMs: number;
  #highestAsked = -1;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs - WINDOW_MS;
  }

  onSent(packets: number, bytes: number): void {
    this.#packets += packets;
    this.#bytes += bytes;
  }

  /**
   * A packet is asked for; `next` is the one that goes out next. Of a flood the share that is asked for, and what was
   * sent a millisecond; else null.
   */
  onAsked(index: number, next: number, nowMs: number): { share: number; bytesPerMs: number } | null {
    // What is asked for a second time says nothing new.
    if (index > this.#highestAsked) {
      this.#asked += 1;
      this.#highestAsked = index;
    }
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs < WINDOW_MS) return null;
    const share = this.#asked / Math.max(1, this.#packets);
    const isFlood = this.#asked > FLOOD_PACKETS && share > FLOOD_SHARE;
    const bytesPerMs = this.#bytes / passedMs;
    if (isFlood || passedMs > LONGEST_WINDOW_MS) this.begin(next, nowMs);
    return isFlood ? { share: Math.min(1, share), bytesPerMs } : null;
  }

  /** What has gone out so far counts no more: the rate is another now. */
  begin(next: number, nowMs: number): void {
    this.#highestAsked = Math.max(this.#highestAsked, next - 1);
    this.#sinceMs = nowMs;
    this.#packets = 0;
    this.#bytes = 0;
    this.#asked = 0;
  }
}
