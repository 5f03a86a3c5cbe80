import type { VideoTrackInfo } from '../../codec/track.js';

/** The first byte of a message says what it carries. */
const CONFIG = 0x01;
const VIDEO = 0x02;
/** The type, then microseconds as 64 bits. */
const VIDEO_HEAD_BYTES = 9;
const PREFIX_BYTES = 4;
const START_CODE = 1;

/** Final fragment and opcode (RFC 6455 §5.2); a server masks nothing (§5.1). */
const BINARY = 0x82;
const PING = 0x89;

/** What a ping and the pong that answers it carry: a time as a double. */
export const PING_PAYLOAD_BYTES = 8;
export const PING_BYTES = 2 + PING_PAYLOAD_BYTES;

const headBytes = (payloadBytes: number): number => {
  if (payloadBytes < 126) return 2;
  return payloadBytes < 65_536 ? 4 : 10;
};

/** Writes the head of a binary message; returns where its payload begins. */
const writeHead = (target: Buffer, payloadBytes: number): number => {
  target[0] = BINARY;
  if (payloadBytes < 126) {
    target[1] = payloadBytes;
    return 2;
  }
  if (payloadBytes < 65_536) {
    target[1] = 126;
    target.writeUInt16BE(payloadBytes, 2);
    return 4;
  }
  target[1] = 127;
  target.writeUInt32BE(0, 2);
  target.writeUInt32BE(payloadBytes, 6);
  return 10;
};

/** Size of a video message whose access unit has this many bytes. */
export const videoMessageBytes = (accessUnitBytes: number): number =>
  headBytes(VIDEO_HEAD_BYTES + accessUnitBytes) + VIDEO_HEAD_BYTES + accessUnitBytes;

/** Writes all of a video message but the access unit; returns where that belongs. */
export const writeVideoHead = (target: Buffer, accessUnitBytes: number, timestampUs: number): number => {
  const start = writeHead(target, VIDEO_HEAD_BYTES + accessUnitBytes);
  target[start] = VIDEO;
  target.writeUInt32BE(Math.floor(timestampUs / 2 ** 32), start + 1);
  target.writeUInt32BE(timestampUs % 2 ** 32, start + 5);
  return start + VIDEO_HEAD_BYTES;
};

/**
 * Makes Annex B of NAL units behind 4-byte lengths, in place: a long start code is as long as a length (H.264
 * §B.1.1). False: the lengths don't add up.
 */
export const toAnnexB = (bytes: Buffer, start: number, end: number): boolean => {
  let at = start;
  while (at + PREFIX_BYTES <= end) {
    const nalBytes = bytes.readUInt32BE(at);
    bytes.writeUInt32BE(START_CODE, at);
    at += PREFIX_BYTES + nalBytes;
  }
  return at === end;
};

/** Writes a ping that carries `nowMs`. */
export const writePing = (target: Buffer, at: number, nowMs: number): void => {
  target[at] = PING;
  target[at + 1] = PING_PAYLOAD_BYTES;
  target.writeDoubleBE(nowMs, at + 2);
};

/** A configuration message: the parameter sets in the order in which a decoder wants them. */
export const configMessage = ({ vps, sps, pps }: VideoTrackInfo): Buffer => {
  const sets = [...vps, ...sps, ...pps];
  const payloadBytes = sets.reduce((sum, set) => sum + PREFIX_BYTES + set.length, 1);
  const message = Buffer.allocUnsafeSlow(headBytes(payloadBytes) + payloadBytes);
  let at = writeHead(message, payloadBytes);
  message[at++] = CONFIG;
  for (const set of sets) {
    at = message.writeUInt32BE(START_CODE, at);
    message.set(set, at);
    at += set.length;
  }
  return message;
};
