import type { PacketWriter } from './packet-writer.js';

/** Which of RFC 7798 the receiver asked for, and what we make of it. */
export type H265PacketizerOptions = {
  /** Puts neighbouring small NAL units into one aggregation packet (RFC 7798 §4.4.2). */
  readonly aggregate: boolean;
  /** Sends decoding order numbers, as sprop-max-don-diff > 0 asks for (RFC 7798 §7.1). */
  readonly donl: boolean;
};

const AGGREGATION = 48;
const FRAGMENTATION = 49;

/** Access units, as the ring holds them (4-byte length before each NAL unit), to RTP packets (RFC 7798). */
export class H265Packetizer {
  readonly #options: H265PacketizerOptions;
  readonly #writer: PacketWriter;
  #decodingOrder = 0;

  constructor(options: H265PacketizerOptions, writer: PacketWriter) {
    this.#options = options;
    this.#writer = writer;
  }

  /**
   * Sends `source[start, end)`. The last packet carries the marker, unless `marker` is false because more of
   * the access unit follows. A broken length, or a NAL unit without a whole header, ends the walk.
   */
  packetize(source: Buffer, start: number, end: number, timestamp: number, marker = true): void {
    let at = start;
    while (at + 4 <= end) {
      const nalEnd = at + 4 + source.readUInt32BE(at);
      if (nalEnd > end || nalEnd < at + 6) return;
      const runEnd = this.#options.aggregate ? this.#runEnd(source, at, end) : nalEnd;
      const isLast = marker && runEnd + 4 > end;
      if (runEnd > nalEnd) this.#aggregation(source, at, runEnd, timestamp, isLast);
      else this.#nal(source, at + 4, nalEnd, timestamp, isLast);
      at = runEnd;
    }
  }

  /** Where the NAL units that fit into one aggregation packet with the one at `start` end. */
  #runEnd(source: Buffer, start: number, end: number): number {
    let at = start;
    let payloadBytes = 2;
    while (at + 4 <= end) {
      const lengthBytes = source.readUInt32BE(at);
      const orderBytes = this.#options.donl ? (at === start ? 2 : 1) : 0;
      payloadBytes += orderBytes + 2 + lengthBytes;
      const fits = payloadBytes <= this.#writer.maxPayloadBytes && at + 4 + lengthBytes <= end;
      if ((at > start && !fits) || lengthBytes < 2) break;
      at += 4 + lengthBytes;
      if (!fits) break;
    }
    return at;
  }

  /** The payload header carries the lowest layer and temporal id of what is inside (RFC 7798 §4.4.2). */
  #aggregation(source: Buffer, start: number, end: number, timestamp: number, marker: boolean): void {
    const writer = this.#writer;
    let layerId = 63;
    let temporalId = 7;
    for (let at = start; at < end; at += 4 + source.readUInt32BE(at)) {
      layerId = Math.min(layerId, ((source[at + 4]! & 1) << 5) | (source[at + 5]! >> 3));
      temporalId = Math.min(temporalId, source[at + 5]! & 7);
    }
    writer.begin();
    writer.byte((AGGREGATION << 1) | (layerId >> 5));
    writer.byte(((layerId & 0x1f) << 3) | temporalId);
    for (let at = start; at < end; ) {
      const lengthBytes = source.readUInt32BE(at);
      if (this.#options.donl) {
        if (at === start) writer.uint16(this.#decodingOrder);
        else writer.byte(0); // DOND: the difference to the one before, minus 1.
        this.#decodingOrder = (this.#decodingOrder + 1) & 0xffff;
      }
      writer.uint16(lengthBytes);
      writer.copy(source, at + 4, at + 4 + lengthBytes);
      at += 4 + lengthBytes;
    }
    writer.finish(timestamp, marker);
  }

  #nal(source: Buffer, start: number, end: number, timestamp: number, marker: boolean): void {
    const writer = this.#writer;
    const donlBytes = this.#options.donl ? 2 : 0;
    if (end - start + donlBytes > writer.maxPayloadBytes) {
      this.#fragments(source, start, end, timestamp, marker);
    } else {
      writer.begin();
      writer.byte(source[start]!);
      writer.byte(source[start + 1]!);
      if (this.#options.donl) writer.uint16(this.#decodingOrder);
      writer.copy(source, start + 2, end);
      writer.finish(timestamp, marker);
    }
    this.#decodingOrder = (this.#decodingOrder + 1) & 0xffff;
  }

  /** The decoding order number stands in the first fragment alone (RFC 7798 §4.4.3). */
  #fragments(source: Buffer, start: number, end: number, timestamp: number, marker: boolean): void {
    const writer = this.#writer;
    const header = source[start]!;
    for (let at = start + 2; at < end; ) {
      const isFirst = at === start + 2;
      const headBytes = isFirst && this.#options.donl ? 5 : 3;
      const stop = Math.min(at + writer.maxPayloadBytes - headBytes, end);
      writer.begin();
      writer.byte((header & 0x81) | (FRAGMENTATION << 1));
      writer.byte(source[start + 1]!);
      writer.byte((isFirst ? 0x80 : 0) | (stop === end ? 0x40 : 0) | ((header >> 1) & 0x3f));
      if (headBytes === 5) writer.uint16(this.#decodingOrder);
      writer.copy(source, at, stop);
      writer.finish(timestamp, marker && stop === end);
      at = stop;
    }
  }
}
