/** Takes one finished packet; the bytes are valid during the call only, the next packet overwrites them. */
export type PacketSink = (buffer: Buffer, start: number, end: number) => void;

/** What the packets of one source have in common. */
export type PacketWriterOptions = {
  readonly payloadType: number;
  readonly ssrc: number;
  readonly firstSequence: number;
  /** Limit of a packet's payload; the 12 header bytes come on top. */
  readonly maxPayloadBytes: number;
};

/** Size of the fixed RTP header (RFC 3550 §5.1): we write neither CSRCs nor extensions. */
export const RTP_HEADER_BYTES = 12;

/**
 * Writes RTP packets into a buffer that the caller owns, one after another at the same place. `target` and
 * `targetStart` may be moved by the sink for the next packet: to keep packets, or to leave room in front.
 * The payload goes in through `position`: whoever writes there moves it on.
 */
export class PacketWriter {
  target: Buffer;
  targetStart: number;
  position = 0;
  payloadType: number;
  ssrc: number;
  sequence: number;
  readonly maxPayloadBytes: number;
  readonly #sink: PacketSink;

  constructor(options: PacketWriterOptions, target: Buffer, targetStart: number, sink: PacketSink) {
    if (options.maxPayloadBytes < 16) throw new RangeError('maxPayloadBytes has to be at least 16');
    if (target.length - targetStart < RTP_HEADER_BYTES + options.maxPayloadBytes) {
      throw new RangeError('the target holds no whole packet');
    }
    this.target = target;
    this.targetStart = targetStart;
    this.payloadType = options.payloadType;
    this.ssrc = options.ssrc;
    this.sequence = options.firstSequence & 0xffff;
    this.maxPayloadBytes = options.maxPayloadBytes;
    this.#sink = sink;
  }

  /** Starts a packet: `position` is where its payload begins. */
  begin(): void {
    this.position = this.targetStart + RTP_HEADER_BYTES;
  }

  byte(value: number): void {
    this.target[this.position] = value;
    this.position += 1;
  }

  uint16(value: number): void {
    this.target[this.position] = (value >> 8) & 0xff;
    this.target[this.position + 1] = value & 0xff;
    this.position += 2;
  }

  copy(source: Buffer, start: number, end: number): void {
    if (this.position + end - start > this.target.length)
      throw new RangeError('the packet outgrows its buffer');
    source.copy(this.target, this.position, start, end);
    this.position += end - start;
  }

  /** Puts the header in front of the payload and hands the packet over. */
  finish(timestamp: number, marker: boolean): void {
    const { target, targetStart } = this;
    target[targetStart] = 0x80;
    target[targetStart + 1] = (marker ? 0x80 : 0) | this.payloadType;
    target.writeUInt16BE(this.sequence, targetStart + 2);
    target.writeUInt32BE(timestamp >>> 0, targetStart + 4);
    target.writeUInt32BE(this.ssrc >>> 0, targetStart + 8);
    this.sequence = (this.sequence + 1) & 0xffff;
    this.#sink(target, targetStart, this.position);
  }
}
