import type { PacketWriter } from './packet-writer.js';

/** Which of RFC 6184 the receiver understands, and what we make of it. */
export type H264PacketizerOptions = {
  /** Puts neighbouring small NAL units into one STAP-A (RFC 6184 §5.7.1). */
  readonly aggregate: boolean;
  /** 0: each NAL unit is one packet, however large (RFC 6184 §6.2); 1: STAP-A and FU-A (§6.3). */
  readonly packetizationMode: 0 | 1;
};

const STAP_A = 24;
const FU_A = 28;

/** Access units, as the ring holds them (4-byte length before each NAL unit), to RTP packets (RFC 6184). */
export class H264Packetizer {
  readonly #options: H264PacketizerOptions;
  readonly #writer: PacketWriter;

  constructor(options: H264PacketizerOptions, writer: PacketWriter) {
    this.#options = options;
    this.#writer = writer;
  }

  /**
   * Sends `source[start, end)`. The last packet carries the marker, unless `marker` is false because more of
   * the access unit follows. A broken length, or an empty NAL unit, ends the walk.
   */
  packetize(source: Buffer, start: number, end: number, timestamp: number, marker = true): void {
    let at = start;
    while (at + 4 <= end) {
      const nalEnd = at + 4 + source.readUInt32BE(at);
      if (nalEnd > end || nalEnd === at + 4) return;
      const runEnd = this.#options.aggregate ? this.#runEnd(source, at, end) : nalEnd;
      const isLast = marker && runEnd + 4 > end;
      if (runEnd > nalEnd) this.#stapA(source, at, runEnd, timestamp, isLast);
      else this.#nal(source, at + 4, nalEnd, timestamp, isLast);
      at = runEnd;
    }
  }

  /** Where the NAL units that fit into one STAP-A with the one at `start` end. */
  #runEnd(source: Buffer, start: number, end: number): number {
    let at = start;
    let payloadBytes = 1;
    let isFirst = true;
    while (at + 4 <= end) {
      const lengthBytes = source.readUInt32BE(at);
      payloadBytes += 2 + lengthBytes;
      const fits = payloadBytes <= this.#writer.maxPayloadBytes && at + 4 + lengthBytes <= end;
      if ((!isFirst && !fits) || lengthBytes === 0) break;
      at += 4 + lengthBytes;
      if (!fits || this.#options.packetizationMode === 0) break;
      isFirst = false;
    }
    return at;
  }

  #stapA(source: Buffer, start: number, end: number, timestamp: number, marker: boolean): void {
    const writer = this.#writer;
    let forbidden = 0;
    let refIdc = 0;
    for (let at = start; at < end; at += 4 + source.readUInt32BE(at)) {
      forbidden |= source[at + 4]! & 0x80;
      refIdc = Math.max(refIdc, source[at + 4]! & 0x60);
    }
    writer.begin();
    writer.byte(forbidden | refIdc | STAP_A);
    for (let at = start; at < end; ) {
      const lengthBytes = source.readUInt32BE(at);
      writer.uint16(lengthBytes);
      writer.copy(source, at + 4, at + 4 + lengthBytes);
      at += 4 + lengthBytes;
    }
    writer.finish(timestamp, marker);
  }

  #nal(source: Buffer, start: number, end: number, timestamp: number, marker: boolean): void {
    const writer = this.#writer;
    if (end - start <= writer.maxPayloadBytes || this.#options.packetizationMode === 0) {
      writer.begin();
      writer.copy(source, start, end);
      writer.finish(timestamp, marker);
      return;
    }
    const header = source[start]!;
    const stepBytes = writer.maxPayloadBytes - 2;
    for (let at = start + 1; at < end; at += stepBytes) {
      const stop = Math.min(at + stepBytes, end);
      const startBit = at === start + 1 ? 0x80 : 0;
      const endBit = stop === end ? 0x40 : 0;
      writer.begin();
      writer.byte((header & 0xe0) | FU_A);
      writer.byte(startBit | endBit | (header & 0x1f));
      writer.copy(source, at, stop);
      writer.finish(timestamp, marker && stop === end);
    }
  }
}
