import type { VideoSink } from '../codec/frame-sink.js';
import { endWithoutZeros } from '../codec/nal.js';
import type { AccessUnit } from './access-unit.js';
import type { DepacketizerCounters, VideoDepacketizer } from './depacketizer.js';
import { NalAssembler } from './nal-assembler.js';
import type { RtpPacket } from './packet.js';

const AGGREGATION = 48;
const FRAGMENTATION = 49;

/** RTP to H.265 access units (RFC 7798), one stream in decoding order. */
export class H265Depacketizer implements VideoDepacketizer {
  readonly counters: Readonly<DepacketizerCounters>;
  readonly #assembler: NalAssembler;
  readonly #accessUnit: AccessUnit;
  /** 2 where decoding order numbers are sent (sprop-max-don-diff > 0, RFC 7798 §7.1), else 0. */
  readonly #donlBytes: number;

  constructor(options: { readonly donl: boolean }, sink: VideoSink) {
    this.#assembler = new NalAssembler('h265', sink);
    this.#accessUnit = this.#assembler.accessUnit;
    this.counters = this.#accessUnit.counters;
    this.#donlBytes = options.donl ? 2 : 0;
  }

  get damagedSinceLastCommit(): boolean {
    return this.#accessUnit.damagedSinceLastCommit;
  }

  push(packet: RtpPacket, lostBefore: number): void {
    const { buffer, payloadStart, payloadEnd } = packet;
    this.#assembler.startPacket(packet.timestamp | 0, lostBefore);
    if (payloadStart < payloadEnd) {
      const type = (buffer[payloadStart]! >> 1) & 0x3f;
      if (type < AGGREGATION) this.#single(buffer, payloadStart, payloadEnd);
      else if (type > FRAGMENTATION || payloadStart + 2 >= payloadEnd) this.#accessUnit.malformed();
      else if (type === FRAGMENTATION) this.#fragment(buffer, payloadStart, payloadEnd);
      else this.#aggregate(buffer, payloadStart + 2, payloadEnd);
    }
    this.#assembler.endPacket(packet.marker);
  }

  reset(): void {
    this.#assembler.reset();
  }

  /** A decoding order number stands between header and data (RFC 7798 §4.4.1): the unit is in two pieces then. */
  #single(buffer: Buffer, start: number, end: number): void {
    if (this.#donlBytes === 0) {
      this.#assembler.unit(buffer, start, end);
    } else if (start + 4 > end) {
      this.#accessUnit.malformed();
    } else {
      const dataEnd = endWithoutZeros(buffer, start + 4, end);
      this.#assembler.startFragments(buffer[start]!, buffer[start + 1]!, buffer, start + 4, dataEnd);
      this.#assembler.endFragments();
    }
  }

  /**
   * Aggregation packet (RFC 7798 §4.4.2): 16 bits of size before each unit, and before that DONL (16 bits) at
   * the first and DOND (8 bits) at each further one, if decoding order numbers are sent.
   */
  #aggregate(buffer: Buffer, start: number, end: number): void {
    let orderBytes = this.#donlBytes;
    let at = start;
    while (at + orderBytes + 2 <= end) {
      const lengthBytes = buffer.readUInt16BE(at + orderBytes);
      if (lengthBytes === 0) return; // Padding, as with H.264.
      const unitStart = at + orderBytes + 2;
      if (unitStart + lengthBytes > end) break;
      this.#assembler.unit(buffer, unitStart, unitStart + lengthBytes);
      at = unitStart + lengthBytes;
      orderBytes = this.#donlBytes / 2;
    }
    if (at === end || (at + 1 === end && buffer[at] === 0)) return;
    this.#assembler.broken();
  }

  /**
   * Fragmentation unit (RFC 7798 §4.4.3); the decoding order number is in the first fragment alone.
   *
   *  0                   1                   2                   3
   *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
   * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
   * |    PayloadHdr (Type=49)       |S|E|  FuType   | DONL (cond)   |
   * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
   */
  #fragment(buffer: Buffer, payloadStart: number, payloadEnd: number): void {
    const fuHeader = buffer[payloadStart + 2]!;
    const isStart = (fuHeader & 0x80) !== 0;
    const start = payloadStart + 3 + (isStart ? this.#donlBytes : 0);
    if (start > payloadEnd) {
      this.#assembler.broken();
      return;
    }
    const header = (buffer[payloadStart]! & 0x81) | ((fuHeader & 0x3f) << 1);
    const secondHeader = buffer[payloadStart + 1]!;
    const isEnd = (fuHeader & 0x40) !== 0;
    const end = isEnd ? endWithoutZeros(buffer, start, payloadEnd) : payloadEnd;
    if (isStart) this.#assembler.startFragments(header, secondHeader, buffer, start, end);
    else this.#assembler.continueFragments(header, secondHeader, buffer, start, end);
    if (isEnd) this.#assembler.endFragments();
  }
}
