import { annexBBytes, writeAnnexB } from '../../codec/annex-b.js';
import type { VideoTrackInfo } from '../../codec/track.js';
import { BINARY, headBytes, writeHead } from '../socket-frame.js';

/** The first byte of a message says what it carries. */
const CONFIG = 0x01;
const VIDEO = 0x02;
/** The type, then microseconds as 64 bits. */
const VIDEO_HEAD_BYTES = 9;

/** Size of a video message whose access unit has this many bytes. */
export const videoMessageBytes = (accessUnitBytes: number): number =>
  headBytes(VIDEO_HEAD_BYTES + accessUnitBytes) + VIDEO_HEAD_BYTES + accessUnitBytes;

/** Writes all of a video message but the access unit; returns where that belongs. */
export const writeVideoHead = (target: Buffer, accessUnitBytes: number, timestampUs: number): number => {
  const start = writeHead(target, 0, BINARY, VIDEO_HEAD_BYTES + accessUnitBytes);
  target[start] = VIDEO;
  target.writeUInt32BE(Math.floor(timestampUs / 2 ** 32), start + 1);
  target.writeUInt32BE(timestampUs % 2 ** 32, start + 5);
  return start + VIDEO_HEAD_BYTES;
};

/** A configuration message: the parameter sets in the order in which a decoder wants them. */
export const configMessage = ({ vps, sps, pps }: VideoTrackInfo): Buffer => {
  const sets = [...vps, ...sps, ...pps];
  const payloadBytes = 1 + annexBBytes(sets);
  const message = Buffer.allocUnsafeSlow(headBytes(payloadBytes) + payloadBytes);
  const start = writeHead(message, 0, BINARY, payloadBytes);
  message[start] = CONFIG;
  writeAnnexB(message, start + 1, sets);
  return message;
};
