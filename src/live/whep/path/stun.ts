import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { addressBytes } from '../door/ip-address.js';

/**
 * STUN binding requests and their answers (RFC 8489), as ICE uses them (RFC 8445 §7).
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
  priority: 0x0024,
  useCandidate: 0x0025,
  fingerprint: 0x8028,
  iceControlled: 0x8029,
} as const;

const INTEGRITY_BYTES = 20;
const INTEGRITY_ATTRIBUTE_BYTES = 4 + INTEGRITY_BYTES;
const FINGERPRINT_BYTES = 8;
const FINGERPRINT_XOR = 0x5354554e;
const MAX_MESSAGE_BYTES = 1_500;
/** RFC 8839 §5.4. */
const MAX_UFRAG_BYTES = 256;
/** Type preference 110, local preference 65535, component 1 (RFC 8445 §5.1.2). */
const PEER_REFLEXIVE_PRIORITY = 110 * 2 ** 24 + 65_535 * 2 ** 8 + 255;

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

const isMessage = (message: Buffer, type: number): boolean =>
  message.length >= HEADER_BYTES &&
  message.length <= MAX_MESSAGE_BYTES &&
  message.readUInt16BE(0) === type &&
  message.readUInt32BE(4) === MAGIC_COOKIE &&
  message.readUInt16BE(2) === message.length - HEADER_BYTES;

/** Walks the attributes in their order until `visit` wants no more; false: they don't fit the message. */
const walkAttributes = (
  message: Buffer,
  visit: (type: number, start: number, end: number) => boolean,
): boolean => {
  for (let at = HEADER_BYTES; at + 4 <= message.length; ) {
    const start = at + 4;
    const end = start + message.readUInt16BE(at + 2);
    if (end > message.length) return false;
    if (!visit(message.readUInt16BE(at), start, end)) return true;
    at = (end + 3) & ~3;
  }
  return true;
};

/** Checks the integrity, and shows `visit` what is covered by it: what follows isn't read. */
const isSigned = (
  message: Buffer,
  password: string,
  visit: (type: number, start: number, end: number) => void,
): boolean => {
  let isGenuine = false;
  walkAttributes(message, (type, start, end) => {
    if (type !== attribute.messageIntegrity) {
      visit(type, start, end);
      return true;
    }
    isGenuine =
      end - start === INTEGRITY_BYTES &&
      timingSafeEqual(integrityOf(message, start - 4, password), message.subarray(start, end));
    return false;
  });
  return isGenuine;
};

/** Reads a binding request that was made with our password; null for anything else. */
export const parseBindingRequest = (message: Buffer, password: string): BindingRequest | null => {
  if (!isMessage(message, BINDING_REQUEST)) return null;
  let username = '';
  let useCandidate = false;
  const isGenuine = isSigned(message, password, (type, start, end) => {
    if (type === attribute.username) username = message.toString('utf8', start, end);
    else if (type === attribute.useCandidate) useCandidate = true;
  });
  if (!isGenuine) return null;
  return { username, useCandidate, transactionId: Buffer.from(message.subarray(8, HEADER_BYTES)) };
};

/** Whom a binding request claims to be for: the receiver's half of its username, before anything is checked. */
export const claimedUfrag = (message: Buffer): string | null => {
  if (!isMessage(message, BINDING_REQUEST)) return null;
  let ufrag: string | null = null;
  walkAttributes(message, (type, start, end) => {
    if (type !== attribute.username) return true;
    const colon = message.indexOf(':', start);
    if (colon > start && colon < end && colon - start <= MAX_UFRAG_BYTES)
      ufrag = message.toString('latin1', start, colon);
    return false;
  });
  return ufrag;
};

/** Whether this is the other side's answer to the request with this id: only who has received that can know it. */
export const isBindingSuccess = (message: Buffer, transactionId: Buffer, password: string): boolean =>
  isMessage(message, BINDING_SUCCESS) &&
  message.subarray(8, HEADER_BYTES).equals(transactionId) &&
  isSigned(message, password, () => {});

/** The viewer's address as we see it, xored so that no middlebox rewrites it (§14.2). */
const xorMappedAddress = (address: string, port: number, transactionId: Buffer): Buffer => {
  const bytes = addressBytes(address);
  const value = Buffer.alloc(4 + bytes.length);
  value[1] = bytes.length === 4 ? 1 : 2;
  value.writeUInt16BE(port ^ (MAGIC_COOKIE >>> 16), 2);
  // The mask is the magic cookie and, for IPv6, the transaction id after it.
  const mask = Buffer.alloc(16);
  mask.writeUInt32BE(MAGIC_COOKIE);
  transactionId.copy(mask, 4);
  for (let i = 0; i < bytes.length; i += 1) value[4 + i] = bytes[i]! ^ mask[i]!;
  return value;
};

/** An attribute, padded to whole words (§14). */
const encode = (type: number, value: Buffer): Buffer => {
  const bytes = Buffer.alloc(4 + ((value.length + 3) & ~3));
  bytes.writeUInt16BE(type, 0);
  bytes.writeUInt16BE(value.length, 2);
  value.copy(bytes, 4);
  return bytes;
};

/** A message with its integrity and fingerprint behind its attributes (§14.5, §14.7). */
const write = (
  type: number,
  transactionId: Buffer,
  attributes: readonly Buffer[],
  password: string,
): Buffer => {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(type, 0);
  header.writeUInt32BE(MAGIC_COOKIE, 4);
  const unsigned = Buffer.concat([header, transactionId, ...attributes]);
  const integrity = encode(attribute.messageIntegrity, integrityOf(unsigned, unsigned.length, password));
  const signed = Buffer.concat([unsigned, integrity]);
  signed.writeUInt16BE(signed.length - HEADER_BYTES + FINGERPRINT_BYTES, 2);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE((crc32(signed) ^ FINGERPRINT_XOR) >>> 0);
  return Buffer.concat([signed, encode(attribute.fingerprint, checksum)]);
};

/** The answer to a check that came from `address` and `port`. */
export const writeBindingSuccess = (
  transactionId: Buffer,
  address: string,
  port: number,
  password: string,
): Buffer => {
  const mapped = encode(attribute.xorMappedAddress, xorMappedAddress(address, port, transactionId));
  return write(BINDING_SUCCESS, transactionId, [mapped], password);
};

/** A check of the controlled side's own (RFC 8445 §7.1). */
export const writeBindingRequest = (transactionId: Buffer, username: string, password: string): Buffer => {
  const priority = Buffer.alloc(4);
  priority.writeUInt32BE(PEER_REFLEXIVE_PRIORITY);
  const attributes = [
    encode(attribute.username, Buffer.from(username)),
    encode(attribute.priority, priority),
    encode(attribute.iceControlled, randomBytes(8)),
  ];
  return write(BINDING_REQUEST, transactionId, attributes, password);
};
