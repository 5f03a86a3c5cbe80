import type { VideoSink } from '../codec/frame-sink.js';
import { endWithoutZeros } from '../codec/nal.js';
import type { AccessUnit } from './access-unit.js';
import type { DepacketizerCounters, VideoDepacketizer } from './depacketizer.js';
import { NalAssembler } from './nal-assembler.js';
import type { RtpPacket } from './packet.js';

const STAP_A = 24;
const STAP_B = 25;
const FU_A = 28;
const FU_B = 29;

/**
 * RTP to H.264 access units (RFC 6184), modes 0 and 1; of mode 2 the packets that stand in decoding order
 * (STAP-B, FU-B). What cameras do beyond that is in this folder's README.
 */
export class H264Depacketizer implements VideoDepacketizer {
  readonly counters: Readonly<DepacketizerCounters>;
  readonly #assembler: NalAssembler;
  readonly #accessUnit: AccessUnit;

  constructor(sink: VideoSink) {
    this.#assembler = new NalAssembler('h264', sink);
    this.#accessUnit = this.#assembler.accessUnit;
    this.counters = this.#accessUnit.counters;
  }

  get damagedSinceLastCommit(): boolean {
    return this.#accessUnit.damagedSinceLastCommit;
  }

  push(packet: RtpPacket, lostBefore: number): void {
    const { buffer, payloadStart, payloadEnd } = packet;
    this.#assembler.startPacket(packet.timestamp | 0, lostBefore);
    if (payloadStart < payloadEnd) {
      const type = buffer[payloadStart]! & 0x1f;
      if (type < STAP_A) this.#assembler.unit(buffer, payloadStart, payloadEnd);
      else if (type === FU_A || type === FU_B) this.#fragment(buffer, payloadStart, payloadEnd, type);
      else if (type === STAP_A) this.#aggregate(buffer, payloadStart + 1, payloadEnd);
      else if (type === STAP_B) this.#aggregate(buffer, payloadStart + 3, payloadEnd);
      else this.#accessUnit.malformed();
    }
    this.#assembler.endPacket(packet.marker);
  }

  reset(): void {
    this.#assembler.reset();
  }

  /**
   * Single-time aggregation (RFC 6184 §5.7.1): 16 bits of size before each unit.
   *
   *  0                   1                   2                   3
   *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
   * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
   * |STAP-A NAL HDR |         NALU 1 Size           | NALU 1 HDR    |
   * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
   */
  #aggregate(buffer: Buffer, start: number, end: number): void {
    let at = start;
    while (at + 2 <= end) {
      const lengthBytes = buffer.readUInt16BE(at);
      if (lengthBytes === 0) return; // Cameras pad with zeros.
      at += 2;
      if (at + lengthBytes > end) break;
      this.#assembler.unit(buffer, at, at + lengthBytes);
      at += lengthBytes;
    }
    if (at === end || (at + 1 === end && buffer[at] === 0)) return;
    this.#assembler.broken();
  }

  /**
   * Fragmentation unit (RFC 6184 §5.8); FU-B has a decoding order number behind its header.
   *
   *  0                   1                   2                   3
   *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
   * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
   * | FU indicator  |S|E|R|  Type   |         FU payload            |
   * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
   */
  #fragment(buffer: Buffer, payloadStart: number, payloadEnd: number, type: number): void {
    const start = payloadStart + (type === FU_B ? 4 : 2);
    if (start > payloadEnd) {
      this.#assembler.broken();
      return;
    }
    const fuHeader = buffer[payloadStart + 1]!;
    const header = (buffer[payloadStart]! & 0xe0) | (fuHeader & 0x1f);
    const isEnd = (fuHeader & 0x40) !== 0;
    const end = isEnd ? endWithoutZeros(buffer, start, payloadEnd) : payloadEnd;
    if (fuHeader & 0x80) this.#assembler.startFragments(header, 0, buffer, start, end);
    else this.#assembler.continueFragments(header, 0, buffer, start, end);
    if (isEnd) this.#assembler.endFragments();
  }
}
