import type { WallMs } from '../base/clock.js';
import { SDES_CNAME } from './rtcp.js';

/** What a receiver says of one source (RFC 3550 §6.4.1). */
export type ReportBlock = {
  readonly ssrc: number;
  /** Share lost since the last report, in 1/256. */
  readonly fractionLost: number;
  readonly cumulativeLost: number;
  readonly extendedHighest: number;
  readonly jitterTicks: number;
  /** The middle 32 bits of the last sender report's NTP time, 0 if there was none. */
  readonly lastSenderReport: number;
  /** Time since it came, in 1/65536 s. */
  readonly delaySinceLastSenderReport: number;
};

/** What a sender says of itself (RFC 3550 §6.4.1). */
export type SenderInfo = {
  readonly wallMs: WallMs;
  /** The RTP time of `wallMs`. */
  readonly rtpTimestamp: number;
  readonly packets: number;
  readonly octets: number;
};

/** Seconds from 1900, where NTP begins, to 1970. */
const NTP_EPOCH_SECONDS = 2_208_988_800;

/** NTP time, 32 bits of seconds and 32 of fraction, as milliseconds since 1970; era 1 begins in 2036. */
export const ntpToWallMs = (ntpSeconds: number, ntpFraction: number): WallMs => {
  const eraSeconds = ntpSeconds < 0x80000000 ? 0x100000000 : 0;
  return ((ntpSeconds + eraSeconds - NTP_EPOCH_SECONDS) * 1000 +
    (ntpFraction * 1000) / 0x100000000) as WallMs;
};

const clampCumulativeLost = (lost: number): number => Math.max(-0x800000, Math.min(0x7fffff, lost));

const writeHeader = (target: Buffer, at: number, count: number, packetType: number, endAt: number): void => {
  target[at] = 0x80 | count;
  target[at + 1] = packetType;
  target.writeUInt16BE((endAt - at) / 4 - 1, at + 2);
};

const writeBlock = (target: Buffer, at: number, block: ReportBlock): number => {
  target.writeUInt32BE(block.ssrc >>> 0, at); // SSRC_n
  target[at + 4] = block.fractionLost; // fraction lost
  target.writeIntBE(clampCumulativeLost(block.cumulativeLost), at + 5, 3); // cumulative number of packets lost
  target.writeUInt32BE(block.extendedHighest % 0x100000000, at + 8); // extended highest sequence number
  target.writeUInt32BE(Math.floor(block.jitterTicks) >>> 0, at + 12); // interarrival jitter
  target.writeUInt32BE(block.lastSenderReport >>> 0, at + 16); // LSR
  target.writeUInt32BE(block.delaySinceLastSenderReport >>> 0, at + 20); // DLSR
  return at + 24;
};

/** Writes a receiver report, without a block when nothing was received yet. Returns where it ends. */
export const writeReceiverReport = (
  target: Buffer,
  at: number,
  ownSsrc: number,
  block: ReportBlock | null,
): number => {
  target.writeUInt32BE(ownSsrc >>> 0, at + 4);
  const endAt = block === null ? at + 8 : writeBlock(target, at + 8, block);
  writeHeader(target, at, block === null ? 0 : 1, 201, endAt);
  return endAt;
};

/** Writes a sender report without report blocks. Returns where it ends. */
export const writeSenderReport = (target: Buffer, at: number, ownSsrc: number, info: SenderInfo): number => {
  const seconds = Math.floor(info.wallMs / 1000);
  const fraction = Math.floor(((info.wallMs - seconds * 1000) / 1000) * 0x100000000);
  target.writeUInt32BE(ownSsrc >>> 0, at + 4); // SSRC of sender
  target.writeUInt32BE((seconds + NTP_EPOCH_SECONDS) % 0x100000000, at + 8); // NTP timestamp, seconds
  target.writeUInt32BE(fraction, at + 12); // NTP timestamp, fraction
  target.writeUInt32BE(info.rtpTimestamp >>> 0, at + 16); // RTP timestamp
  target.writeUInt32BE(info.packets % 0x100000000, at + 20); // sender's packet count
  target.writeUInt32BE(info.octets % 0x100000000, at + 24); // sender's octet count
  writeHeader(target, at, 0, 200, at + 28);
  return at + 28;
};

/** Writes an SDES packet with our CNAME, ASCII and up to 255 bytes, which the caller chose. Returns where it ends. */
export const writeSourceDescription = (
  target: Buffer,
  at: number,
  ownSsrc: number,
  cname: string,
): number => {
  target.writeUInt32BE(ownSsrc >>> 0, at + 4);
  target[at + 8] = SDES_CNAME;
  target[at + 9] = cname.length;
  const textEnd = at + 10 + target.write(cname, at + 10, 'latin1');
  // At least one zero byte ends the items, then up to the next 32-bit border (RFC 3550 §6.5).
  const endAt = at + ((textEnd - at + 4) & ~3);
  target.fill(0, textEnd, endAt);
  writeHeader(target, at, 1, 202, endAt);
  return endAt;
};

/** Writes a BYE: the source sends nothing more (RFC 3550 §6.6). Returns where it ends. */
export const writeBye = (target: Buffer, at: number, ownSsrc: number): number => {
  target.writeUInt32BE(ownSsrc >>> 0, at + 4);
  writeHeader(target, at, 1, 203, at + 8);
  return at + 8;
};
