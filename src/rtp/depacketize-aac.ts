import type { AudioSink } from '../codec/frame-sink.js';
import type { Depacketizer, DepacketizerCounters } from './depacketizer.js';
import type { RtpPacket } from './packet.js';
import { SideBuffer } from './side-buffer.js';

/** How the payload is framed, by the fmtp line of the SDP. */
export type AacDepacketizerOptions = {
  /** The fmtp parameters of these names, 0 where absent; 13, 3, 3 in AAC-hbr, 6, 2, 2 in AAC-lbr (RFC 3640 §3.3). */
  readonly sizeLength: number;
  readonly indexLength: number;
  readonly indexDeltaLength: number;
  /** RTP ticks from one access unit to the next: 1024, or 960 if the AudioSpecificConfig says so. */
  readonly ticksPerFrame: number;
};

/** AAC-hbr can say 8191; more than this is no access unit of any AAC. */
const MAX_AU_BYTES = 65_536;

/** RTP to AAC access units (RFC 3640): several in a packet, or one over several packets. */
export class AacDepacketizer implements Depacketizer {
  readonly counters: DepacketizerCounters = { damagedFrames: 0, malformedPackets: 0, oversizedFrames: 0 };
  readonly #options: AacDepacketizerOptions;
  readonly #hasHeaders: boolean;
  readonly #sink: AudioSink;
  readonly #partial = new SideBuffer(MAX_AU_BYTES);
  /** Size of the access unit whose first pieces are in `#partial`, 0 if none is. */
  #partialSize = 0;
  #partialTimestamp = 0;

  constructor(options: AacDepacketizerOptions, sink: AudioSink) {
    const { sizeLength, indexLength, indexDeltaLength } = options;
    if (Math.max(sizeLength, indexLength, indexDeltaLength) > 32)
      throw new RangeError('over 32 bits a field');
    this.#options = options;
    this.#hasHeaders = sizeLength > 0;
    this.#sink = sink;
  }

  /**
   * AU-headers-length (in bits), the headers bit by bit, padding to a byte, the access units (RFC 3640 §3.2):
   *
   * +---------+-----------+-----------+---------------+
   * | RTP     | AU Header | Auxiliary | Access Unit   |
   * | Header  | Section   | Section   | Data Section  |
   * +---------+-----------+-----------+---------------+
   */
  push(packet: RtpPacket, lostBefore: number): void {
    const { buffer, payloadStart, payloadEnd } = packet;
    if (lostBefore > 0) this.#dropPartial();
    if (payloadStart === payloadEnd) return;
    if (!this.#hasHeaders) {
      this.#frame(buffer, payloadStart, payloadEnd, packet.timestamp);
      return;
    }
    if (payloadStart + 2 > payloadEnd) {
      this.#malformed();
      return;
    }
    const headerBits = buffer.readUInt16BE(payloadStart);
    const dataStart = payloadStart + 2 + Math.ceil(headerBits / 8);
    if (headerBits < this.#options.sizeLength + this.#options.indexLength || dataStart > payloadEnd) {
      this.#malformed();
      return;
    }
    this.#units(packet, (payloadStart + 2) * 8, headerBits, dataStart);
  }

  reset(): void {
    this.#partialSize = 0;
    this.#partial.clear();
  }

  #units(packet: RtpPacket, headerBit: number, headerBits: number, dataStart: number): void {
    const { buffer, payloadEnd } = packet;
    const { sizeLength, indexLength, indexDeltaLength, ticksPerFrame } = this.#options;
    const lastBit = headerBit + headerBits;
    let indexBits = indexLength;
    let timestamp = packet.timestamp;
    let at = dataStart;
    for (let bit = headerBit; bit + sizeLength + indexBits <= lastBit; indexBits = indexDeltaLength) {
      const size = readBits(buffer, bit, sizeLength);
      // AU-Index-delta is how many access units were left out between this one and the last (interleaving).
      const isFirst = bit === headerBit;
      if (!isFirst) timestamp += ticksPerFrame * (readBits(buffer, bit + sizeLength, indexBits) + 1);
      bit += sizeLength + indexBits;
      if (at + size > payloadEnd) {
        if (isFirst && bit + sizeLength + indexDeltaLength > lastBit) this.#piece(packet, size, at);
        else this.#malformed();
        return;
      }
      if (this.#partialSize > 0 && packet.timestamp === this.#partialTimestamp) {
        // The rest of a cut access unit, from a sender that gives the size of what is in this packet.
        this.#piece(packet, this.#partialSize, at);
        return;
      }
      this.#dropPartial();
      this.#frame(buffer, at, at + size, timestamp % 0x100000000);
      at += size;
    }
  }

  /** A piece of an access unit that is cut over packets: each repeats the size of the whole (RFC 3640 §3.2.3). */
  #piece(packet: RtpPacket, size: number, start: number): void {
    if (
      this.#partialSize > 0 &&
      (size !== this.#partialSize || packet.timestamp !== this.#partialTimestamp)
    ) {
      this.#dropPartial();
    }
    if (this.#partialSize === 0) {
      this.#partial.clear();
      this.#partialSize = size;
      this.#partialTimestamp = packet.timestamp;
    }
    if (size > MAX_AU_BYTES || !this.#partial.append(packet.buffer, start, packet.payloadEnd)) {
      this.counters.oversizedFrames += 1;
      this.#partialSize = 0;
      return;
    }
    if (this.#partial.lengthBytes < size && !packet.marker) return;
    if (this.#partial.lengthBytes === size) {
      this.#partialSize = 0;
      this.#frame(this.#partial.bytes, 0, size, this.#partialTimestamp);
    } else {
      this.#malformed();
    }
  }

  /** Some cameras leave the ADTS header on (ISO 14496-3 §1.A.2.2): 7 bytes, 9 with a checksum. */
  #frame(buffer: Buffer, start: number, end: number, timestamp: number): void {
    let at = start;
    if (end - start > 7 && buffer[start] === 0xff && (buffer[start + 1]! & 0xf6) === 0xf0) {
      const lengthBytes =
        ((buffer[start + 3]! & 3) << 11) | (buffer[start + 4]! << 3) | (buffer[start + 5]! >> 5);
      if (lengthBytes === end - start) at += buffer[start + 1]! & 1 ? 7 : 9;
    }
    if (at < end) this.#sink.frame(buffer, at, end, timestamp);
  }

  #malformed(): void {
    this.counters.malformedPackets += 1;
    this.#dropPartial();
  }

  #dropPartial(): void {
    if (this.#partialSize > 0) this.counters.damagedFrames += 1;
    this.#partialSize = 0;
  }
}

/** `count` bits from bit `at` of the buffer on. */
const readBits = (buffer: Buffer, at: number, count: number): number => {
  let value = 0;
  for (let bit = at; bit < at + count; bit += 1)
    value = value * 2 + ((buffer[bit >> 3]! >> (7 - (bit & 7))) & 1);
  return value;
};
