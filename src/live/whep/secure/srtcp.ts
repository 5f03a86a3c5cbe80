import { createHmac, timingSafeEqual } from 'node:crypto';
import { type SrtpKeys, TAG_BYTES } from './srtp-keys.js';

/** The part of an RTCP packet that stays readable: the first header and the sender's SSRC (RFC 3711 §3.4). */
const CLEAR_BYTES = 8;
const INDEX_BYTES = 4;
const ENCRYPTED = 0x80000000;
const MAX_INDEX = 0x7fffffff;

/** Encrypts, or decrypts, what follows the clear part, in place: AES-CM with the SRTCP index (RFC 3711 §4.1.1). */
const applyKeystream = (keys: SrtpKeys, packet: Buffer, end: number, index: number): void => {
  const blocks = Math.ceil((end - CLEAR_BYTES) / 16);
  if (blocks <= 0) return;
  const counters = Buffer.alloc(blocks * 16);
  const iv = Buffer.alloc(16);
  keys.salt.copy(iv);
  for (let i = 0; i < 4; i += 1) iv[4 + i] = iv[4 + i]! ^ packet[4 + i]!;
  iv.writeUInt32BE((iv.readUInt32BE(10) ^ index) >>> 0, 10);
  for (let block = 0; block < blocks; block += 1) {
    iv.copy(counters, block * 16);
    counters.writeUInt16BE(block, block * 16 + 14);
  }
  const keystream = keys.cipher.update(counters);
  for (let at = CLEAR_BYTES; at < end; at += 1) packet[at] = packet[at]! ^ keystream[at - CLEAR_BYTES]!;
};

const tagOf = (keys: SrtpKeys, signed: Buffer): Buffer =>
  createHmac('sha1', keys.authKey).update(signed).digest().subarray(0, TAG_BYTES);

/** Secures the RTCP that we send. */
export class SrtcpSender {
  readonly #keys: SrtpKeys;
  #index = 0;

  constructor(keys: SrtpKeys) {
    this.#keys = keys;
  }

  /** A secured copy of a compound packet. */
  protect(rtcp: Buffer): Buffer {
    this.#index = (this.#index + 1) & MAX_INDEX;
    const packet = Buffer.alloc(rtcp.length + INDEX_BYTES + TAG_BYTES);
    rtcp.copy(packet);
    applyKeystream(this.#keys, packet, rtcp.length, this.#index);
    packet.writeUInt32BE((this.#index | ENCRYPTED) >>> 0, rtcp.length);
    const signedEnd = rtcp.length + INDEX_BYTES;
    tagOf(this.#keys, packet.subarray(0, signedEnd)).copy(packet, signedEnd);
    return packet;
  }
}

/** Opens the RTCP that the viewer sends. */
export class SrtcpReceiver {
  readonly #keys: SrtpKeys;
  #lastIndex = -1;

  constructor(keys: SrtpKeys) {
    this.#keys = keys;
  }

  /** The plain packet; null if it isn't the viewer's, or not newer than the last one (RFC 3711 §3.3.2). */
  open(packet: Buffer): Buffer | null {
    const signedEnd = packet.length - TAG_BYTES;
    const end = signedEnd - INDEX_BYTES;
    if (end < CLEAR_BYTES) return null;
    const expected = tagOf(this.#keys, packet.subarray(0, signedEnd));
    if (!timingSafeEqual(expected, packet.subarray(signedEnd))) return null;
    const word = packet.readUInt32BE(end);
    const index = word & MAX_INDEX;
    if (index <= this.#lastIndex) return null;
    this.#lastIndex = index;
    const plain = Buffer.from(packet.subarray(0, end));
    if (word >= ENCRYPTED) applyKeystream(this.#keys, plain, end, index);
    return plain;
  }
}
