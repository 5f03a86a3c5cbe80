import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { crc32 } from 'node:zlib';

/**
 * STUN binding requests and their answers (RFC 8489), as ICE uses them (RFC 8445 §7.3).
 *
 *  0                   1                   2                   3
 *  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |0 0|     message type          |         message length        |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 * |                         magic cookie                          |
 * |                 transaction id (96 bits)                      |
 * +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 */
const HEADER_BYTES = 20;
const MAGIC_COOKIE = 0x2112a442;
const BINDING_REQUEST = 0x0001;
const BINDING_SUCCESS = 0x0101;

const attribute = {
  username: 0x0006,
  messageIntegrity: 0x0008,
  xorMappedAddress: 0x0020,
  useCandidate: 0x0025,
  fingerprint: 0x8028,
} as const;

const INTEGRITY_BYTES = 20;
const INTEGRITY_ATTRIBUTE_BYTES = 4 + INTEGRITY_BYTES;
const FINGERPRINT_BYTES = 8;
const FINGERPRINT_XOR = 0x5354554e;
const MAX_MESSAGE_BYTES = 1_500;

/** A binding request whose integrity has been checked. */
export type BindingRequest = {
  readonly username: string;
  readonly useCandidate: boolean;
  readonly transactionId: Buffer;
};

/** HMAC over the message up to the integrity attribute, its length field counting that attribute (§14.5). */
const integrityOf = (message: Buffer, end: number, password: string): Buffer => {
  const signed = Buffer.from(message.subarray(0, end));
  signed.writeUInt16BE(end - HEADER_BYTES + INTEGRITY_ATTRIBUTE_BYTES, 2);
  return createHmac('sha1', password).update(signed).digest();
};

const isBindingRequest = (message: Buffer): boolean =>
  message.length >= HEADER_BYTES &&
  message.length <= MAX_MESSAGE_BYTES &&
  message.readUInt16BE(0) === BINDING_REQUEST &&
  message.readUInt32BE(4) === MAGIC_COOKIE &&
  message.readUInt16BE(2) === message.length - HEADER_BYTES;

/** Reads a binding request that was made with our password; null for anything else. */
export const parseBindingRequest = (message: Buffer, password: string): BindingRequest | null => {
  if (!isBindingRequest(message)) return null;
  let username = '';
  let useCandidate = false;
  for (let at = HEADER_BYTES; at + 4 <= message.length; ) {
    const type = message.readUInt16BE(at);
    const start = at + 4;
    const end = start + message.readUInt16BE(at + 2);
    if (end > message.length) return null;
    if (type === attribute.messageIntegrity) {
      // What follows the integrity isn't covered by it, and isn't read.
      if (end - start !== INTEGRITY_BYTES) return null;
      if (!timingSafeEqual(integrityOf(message, at, password), message.subarray(start, end))) return null;
      return { username, useCandidate, transactionId: Buffer.from(message.subarray(8, HEADER_BYTES)) };
    }
    if (type === attribute.username) username = message.toString('utf8', start, end);
    else if (type === attribute.useCandidate) useCandidate = true;
    at = (end + 3) & ~3;
  }
  return null;
};

/** The bytes of an IPv6 address; an embedded IPv4 tail included. */
const ipv6Bytes = (address: string): Buffer => {
  const plain = address.split('%')[0]!;
  const [head = '', tail] = plain.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').flatMap((group) => groupBytes(group));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  return Buffer.from([...first, ...Array<number>(16 - first.length - last.length).fill(0), ...last]);
};

const groupBytes = (group: string): number[] => {
  if (group.includes('.')) return group.split('.').map(Number);
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
};

/** The viewer's address as we see it, xored so that no middlebox rewrites it (§14.2). */
const xorMappedAddress = (address: string, port: number, header: Buffer): Buffer => {
  const bytes = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const value = Buffer.alloc(8 + bytes.length);
  value.writeUInt16BE(attribute.xorMappedAddress, 0);
  value.writeUInt16BE(4 + bytes.length, 2);
  value[5] = bytes.length === 4 ? 1 : 2;
  value.writeUInt16BE(port ^ (MAGIC_COOKIE >>> 16), 6);
  // The mask is the magic cookie and, for IPv6, the transaction id after it.
  for (let i = 0; i < bytes.length; i += 1) value[8 + i] = bytes[i]! ^ header[4 + i]!;
  return value;
};

/** The answer to a check that came from `address` and `port`. */
export const writeBindingSuccess = (
  transactionId: Buffer,
  address: string,
  port: number,
  password: string,
): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(BINDING_SUCCESS, 0);
  header.writeUInt32BE(MAGIC_COOKIE, 4);
  transactionId.copy(header, 8);
  const mapped = xorMappedAddress(address, port, header);
  const signedEnd = HEADER_BYTES + mapped.length;
  const totalBytes = signedEnd + INTEGRITY_ATTRIBUTE_BYTES + FINGERPRINT_BYTES;
  const message = Buffer.alloc(totalBytes);
  header.copy(message);
  mapped.copy(message, HEADER_BYTES);
  message.writeUInt16BE(attribute.messageIntegrity, signedEnd);
  message.writeUInt16BE(INTEGRITY_BYTES, signedEnd + 2);
  integrityOf(message, signedEnd, password).copy(message, signedEnd + 4);
  const fingerprintAt = signedEnd + INTEGRITY_ATTRIBUTE_BYTES;
  message.writeUInt16BE(totalBytes - HEADER_BYTES, 2);
  message.writeUInt16BE(attribute.fingerprint, fingerprintAt);
  message.writeUInt16BE(4, fingerprintAt + 2);
  const checksum = crc32(message.subarray(0, fingerprintAt)) ^ FINGERPRINT_XOR;
  message.writeUInt32BE(checksum >>> 0, fingerprintAt + 4);
  return message;
};
