/** What a compound RTCP packet says, report by report; every number is as it stands in the packet. */
export interface RtcpHandler {
  /** Sender report (RFC 3550 §6.4.1): `rtpTimestamp` is the media time of the NTP time. */
  onSenderReport(ssrc: number, ntpSeconds: number, ntpFraction: number, rtpTimestamp: number): void;
  /** One reception report block of a sender or receiver report, `buffer[start, start + 24)`. */
  onReportBlock(senderSsrc: number, buffer: Buffer, start: number): void;
  /** One SDES item (RFC 3550 §6.5), its text in `buffer[start, end)`. */
  onSourceDescription(ssrc: number, itemType: number, buffer: Buffer, start: number, end: number): void;
  onBye(ssrc: number): void;
  /** APP, feedback (RFC 4585) and unknown types, `format` being the five bits of the header. */
  onOther(packetType: number, format: number, buffer: Buffer, start: number, end: number): void;
}

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const SOURCE_DESCRIPTION = 202;
const BYE = 203;
/** CNAME, the SDES item that every compound packet has to have (RFC 3550 §6.5.1). */
export const SDES_CNAME = 1;
const REPORT_BLOCK_BYTES = 24;

/**
 * Walks the compound packet `buffer[start, end)` in place. False: it isn't RTCP, or it breaks off; what was
 * told before that stands. Lenient where cameras need it: a padded or lone report, SDES without its end.
 */
export const parseRtcp = (buffer: Buffer, start: number, end: number, handler: RtcpHandler): boolean => {
  let at = start;
  while (at + 4 <= end) {
    const first = buffer[at]!;
    if (first >> 6 !== 2) return false;
    const next = at + 4 + buffer.readUInt16BE(at + 2) * 4;
    if (next > end) return false;
    const paddingBytes = first & 0x20 ? buffer[next - 1]! : 0;
    const bodyEnd = next - paddingBytes;
    if (bodyEnd < at + 4) return false;
    if (!parseOne(buffer, at + 4, bodyEnd, buffer[at + 1]!, first & 0x1f, handler)) return false;
    at = next;
  }
  return at === end && end > start;
};

const parseOne = (
  buffer: Buffer,
  start: number,
  end: number,
  packetType: number,
  count: number,
  handler: RtcpHandler,
): boolean => {
  switch (packetType) {
    case SENDER_REPORT: {
      if (start + 24 > end) return false;
      const ssrc = buffer.readUInt32BE(start);
      handler.onSenderReport(
        ssrc,
        buffer.readUInt32BE(start + 4),
        buffer.readUInt32BE(start + 8),
        buffer.readUInt32BE(start + 12),
      );
      return parseBlocks(buffer, start + 24, end, ssrc, count, handler);
    }
    case RECEIVER_REPORT:
      if (start + 4 > end) return false;
      return parseBlocks(buffer, start + 4, end, buffer.readUInt32BE(start), count, handler);
    case SOURCE_DESCRIPTION:
      return parseChunks(buffer, start, end, count, handler);
    case BYE:
      if (start + count * 4 > end) return false;
      for (let i = 0; i < count; i += 1) handler.onBye(buffer.readUInt32BE(start + i * 4));
      return true;
    default:
      handler.onOther(packetType, count, buffer, start, end);
      return true;
  }
};

const parseBlocks = (
  buffer: Buffer,
  start: number,
  end: number,
  senderSsrc: number,
  count: number,
  handler: RtcpHandler,
): boolean => {
  if (start + count * REPORT_BLOCK_BYTES > end) return false;
  for (let i = 0; i < count; i += 1)
    handler.onReportBlock(senderSsrc, buffer, start + i * REPORT_BLOCK_BYTES);
  return true;
};

/** Chunks start on 32-bit borders; items end with a zero byte, which some cameras leave out at the end. */
const parseChunks = (
  buffer: Buffer,
  start: number,
  end: number,
  count: number,
  handler: RtcpHandler,
): boolean => {
  let at = start;
  for (let i = 0; i < count && at < end; i += 1) {
    if (at + 4 > end) return false;
    const ssrc = buffer.readUInt32BE(at);
    at += 4;
    while (at < end && buffer[at] !== 0) {
      const textEnd = at + 2 + (at + 1 < end ? buffer[at + 1]! : 0);
      if (textEnd > end) return false;
      handler.onSourceDescription(ssrc, buffer[at]!, buffer, at + 2, textEnd);
      at = textEnd;
    }
    at = start + ((at - start + 4) & ~3);
  }
  return true;
};
