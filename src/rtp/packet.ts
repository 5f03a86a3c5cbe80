/**
 * A view of one RTP packet (RFC 3550 §5.1) in somebody else's buffer. One object is reused for every packet of
 * a worker: `parse` validates the whole header once, the fields are then plain numbers.
 *
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |V=2|P|X|  CC   |M|     PT      |       sequence number         |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |                           timestamp                           |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |           synchronization source (SSRC) identifier            |
 * +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
 */
export class RtpPacket {
  buffer: Buffer = Buffer.alloc(0);
  payloadStart = 0;
  payloadEnd = 0;
  payloadType = 0;
  marker = false;
  sequence = 0;
  timestamp = 0;
  ssrc = 0;

  /** Points the view at `buffer[start, end)`. False: that isn't an RTP packet, and the fields are stale. */
  parse(buffer: Buffer, start: number, end: number): boolean {
    if (end - start < 12) return false;
    const first = buffer[start]!;
    if (first >> 6 !== 2) return false;
    let payloadStart = start + 12 + (first & 0x0f) * 4;
    if (first & 0x10) {
      if (payloadStart + 4 > end) return false;
      payloadStart += 4 + buffer.readUInt16BE(payloadStart + 2) * 4;
    }
    let payloadEnd = end;
    if (first & 0x20) {
      const paddingBytes = buffer[end - 1]!;
      if (paddingBytes === 0) return false;
      payloadEnd -= paddingBytes;
    }
    if (payloadStart > payloadEnd) return false;
    const second = buffer[start + 1]!;
    this.buffer = buffer;
    this.payloadStart = payloadStart;
    this.payloadEnd = payloadEnd;
    this.marker = second >= 0x80;
    this.payloadType = second & 0x7f;
    this.sequence = (buffer[start + 2]! << 8) | buffer[start + 3]!;
    // Not by readUInt32BE: what a call returns from 2^31 on is an object on the heap, one for each packet.
    this.timestamp =
      ((buffer[start + 4]! << 24) |
        (buffer[start + 5]! << 16) |
        (buffer[start + 6]! << 8) |
        buffer[start + 7]!) >>>
      0;
    this.ssrc =
      ((buffer[start + 8]! << 24) |
        (buffer[start + 9]! << 16) |
        (buffer[start + 10]! << 8) |
        buffer[start + 11]!) >>>
      0;
    return true;
  }

  /** Points the view at what `other` points at: for the few packets that have to wait. */
  assign(other: RtpPacket): void {
    this.buffer = other.buffer;
    this.payloadStart = other.payloadStart;
    this.payloadEnd = other.payloadEnd;
    this.payloadType = other.payloadType;
    this.marker = other.marker;
    this.sequence = other.sequence;
    this.timestamp = other.timestamp;
    this.ssrc = other.ssrc;
  }
}
