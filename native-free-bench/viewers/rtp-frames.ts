import { STAMP_BYTES } from '../../test/support/frame-generator.js';
import type { FrameWatch, Seen } from './frame-watch.js';

/** RTP's header, and that of a fragment. */
const MOST_HEADER_BYTES = 12 + 3;
const MARKER = 0x80;
const SEQUENCES = 0x10000;

/** Whole frames among the packets of one RTP stream: each ends with a marked packet, if none before it is missing. */
export class RtpFrames {
  readonly #seen: Seen;
  readonly #watch: FrameWatch;
  #next = -1;
  #isWhole = true;

  constructor(seen: Seen, watch: FrameWatch) {
    this.#seen = seen;
    this.#watch = watch;
  }

  /** Counts a packet that begins at `start`; whether it ends a frame. */
  take(packet: Buffer, start: number): boolean {
    const sequence = packet.readUInt16BE(start + 2);
    const missing = this.#next < 0 ? 0 : (sequence - this.#next + SEQUENCES) % SEQUENCES;
    if (missing > 0) {
      // Half of them or more: an old one, sent again.
      if (missing >= SEQUENCES / 2) return false;
      this.#isWhole = false;
      if (this.#seen.isMeasuring) this.#seen.lostPackets += missing;
    }
    this.#next = (sequence + 1) % SEQUENCES;
    return (packet[start + 1]! & MARKER) !== 0;
  }

  /** The frame whose last packet lies in `bytes[start, end)`. */
  finish(bytes: Buffer, start: number, end: number): void {
    if (this.#isWhole && end - start >= MOST_HEADER_BYTES + STAMP_BYTES) this.#watch.onFrame(bytes, end);
    else if (this.#isWhole) this.#watch.countUnread();
    this.#isWhole = true;
  }
}
