import { writeMicroseconds } from './microseconds.js';

const TYPE = 0x13;
const HEAD_BYTES = 24;
/** Its length is one byte. */
const MAX_REASON_BYTES = 255;

/** Nothing is there of a stream from one moment of the wall clock to another, and why. */
export const gapMessage = (stream: number, fromUs: number, toUs: number, reason: string): Buffer => {
  const text = Buffer.from(reason, 'latin1').subarray(0, MAX_REASON_BYTES);
  const message = Buffer.allocUnsafeSlow(HEAD_BYTES + text.length);
  message[0] = TYPE;
  message[1] = text.length;
  message.writeUInt16BE(0, 2);
  message.writeUInt32BE(stream, 4);
  const toAt = writeMicroseconds(message, fromUs, 8);
  message.set(text, writeMicroseconds(message, toUs, toAt));
  return message;
};
