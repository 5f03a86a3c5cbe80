import type { MonotonicMs } from '../../../base/clock.js';
import { parseRtcp, type RtcpHandler } from '../../../rtp/rtcp.js';
import type { ReportBlock } from '../../../rtp/rtcp-writer.js';
import { TokenBucket } from './token-bucket.js';

/** What a viewer's RTCP asks for. */
export type FeedbackTarget = {
  /** Packets of this source, by sequence number, didn't arrive. */
  onLost(ssrc: number, sequence: number): void;
  /** The viewer can't go on without a keyframe. */
  onKeyframeWanted(ssrc: number): void;
  /** What the viewer says of this source. */
  onReport(report: ReportBlock): void;
};

const TRANSPORT_FEEDBACK = 205;
const PAYLOAD_FEEDBACK = 206;
const GENERIC_NACK = 1;
const PICTURE_LOSS = 1;
const FULL_INTRA_REQUEST = 4;
/** Packets that are heard to be lost: browsers miss a thousand at most. One datagram can name six thousand. */
const LOST_AT_ONCE = 2_000;
const LOST_PER_MS = 2;

/** Reads receiver reports (RFC 3550 §6.4) and feedback (RFC 4585 §6, RFC 5104 §4.3.1); the rest is of no use to us. */
export class Feedback implements RtcpHandler {
  readonly #target: FeedbackTarget;
  readonly #lost: TokenBucket;
  #mayBeLost = 0;

  constructor(target: FeedbackTarget, nowMs: MonotonicMs) {
    this.#target = target;
    this.#lost = new TokenBucket(LOST_AT_ONCE, LOST_PER_MS, nowMs);
  }

  read(rtcp: Buffer, nowMs: MonotonicMs): void {
    this.#mayBeLost = this.#lost.available(nowMs);
    parseRtcp(rtcp, 0, rtcp.length, this);
  }

  onSenderReport(): void {}

  onReportBlock(_senderSsrc: number, buffer: Buffer, start: number): void {
    this.#target.onReport({
      ssrc: buffer.readUInt32BE(start),
      fractionLost: buffer.readUInt8(start + 4),
      cumulativeLost: buffer.readIntBE(start + 5, 3),
      extendedHighest: buffer.readUInt32BE(start + 8),
      jitterTicks: buffer.readUInt32BE(start + 12),
      lastSenderReport: buffer.readUInt32BE(start + 16),
      delaySinceLastSenderReport: buffer.readUInt32BE(start + 20),
    });
  }

  onSourceDescription(): void {}
  onBye(): void {}

  onOther(packetType: number, format: number, buffer: Buffer, start: number, end: number): void {
    // Both kinds begin with the SSRCs of who sends it and of the media it is about.
    if (end - start < 8) return;
    if (packetType === TRANSPORT_FEEDBACK && format === GENERIC_NACK) {
      this.#readLost(buffer, buffer.readUInt32BE(start + 4), start + 8, end);
    } else if (packetType === PAYLOAD_FEEDBACK && format === PICTURE_LOSS) {
      this.#target.onKeyframeWanted(buffer.readUInt32BE(start + 4));
    } else if (packetType === PAYLOAD_FEEDBACK && format === FULL_INTRA_REQUEST) {
      // A FIR names its sources in entries of 8 bytes.
      for (let at = start + 8; at + 8 <= end; at += 8) this.#target.onKeyframeWanted(buffer.readUInt32BE(at));
    }
  }

  /** A sequence number and a mask of the sixteen after it, as often as there is room (RFC 4585 §6.2.1). */
  #readLost(buffer: Buffer, ssrc: number, start: number, end: number): void {
    for (let at = start; at + 4 <= end && this.#mayBeLost > 0; at += 4) {
      const first = buffer.readUInt16BE(at);
      const mask = buffer.readUInt16BE(at + 2);
      this.#tellLost(ssrc, first);
      for (let bit = 0; bit < 16; bit += 1) {
        if ((mask >> bit) & 1) this.#tellLost(ssrc, (first + bit + 1) & 0xffff);
      }
    }
  }

  #tellLost(ssrc: number, sequence: number): void {
    this.#mayBeLost -= 1;
    this.#lost.take(1);
    this.#target.onLost(ssrc, sequence);
  }
}
