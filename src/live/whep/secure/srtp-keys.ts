import { type Cipher, createCipheriv } from 'node:crypto';
import { sha1Block, sha1Start } from './sha1.js';

/** SRTP_AES128_CM_HMAC_SHA1_80 (RFC 5764 §4.1.2): the profile that every WebRTC endpoint has. */
export const SRTP_PROFILE = 0x0001;
export const MASTER_KEY_BYTES = 16;
export const MASTER_SALT_BYTES = 14;
/** Length of the authentication tag behind every packet. */
export const TAG_BYTES = 10;

const BLOCK_BYTES = 64;

/** Labels of the derived keys (RFC 3711 §4.3.1, §4.3.2). */
const labels = { rtp: { key: 0, auth: 1, salt: 2 }, rtcp: { key: 3, auth: 4, salt: 5 } } as const;

/** Derives one key: AES-CM over the master salt with the label in it, at key derivation rate 0 (§4.3.3). */
const derive = (masterKey: Buffer, masterSalt: Buffer, label: number, lengthBytes: number): Buffer => {
  const iv = Buffer.alloc(16);
  masterSalt.copy(iv);
  iv[7] = iv[7]! ^ label;
  return createCipheriv('aes-128-ctr', masterKey, iv).update(Buffer.alloc(lengthBytes));
};

/** The keys of one direction of one session, for RTP or for RTCP. */
export class SrtpKeys {
  /**
   * AES in ECB mode, which of a row of counters makes the keystream of many packets in one call; a cipher in
   * counter mode would have to be made for each packet, at four times the cost of all else.
   */
  readonly cipher: Cipher;
  readonly salt: Buffer;
  readonly authKey: Buffer;
  /** The authentication key xored with 0x36: the first block of HMAC's inner hash (RFC 2104 §2). */
  readonly innerBlock = Buffer.alloc(BLOCK_BYTES, 0x36);
  /** State of HMAC's outer hash after its first block, the key xored with 0x5c. */
  readonly outerState = sha1Start();

  constructor(kind: 'rtp' | 'rtcp', masterKey: Buffer, masterSalt: Buffer) {
    const label = labels[kind];
    this.cipher = createCipheriv('aes-128-ecb', derive(masterKey, masterSalt, label.key, 16), null);
    this.cipher.setAutoPadding(false);
    this.salt = derive(masterKey, masterSalt, label.salt, MASTER_SALT_BYTES);
    this.authKey = derive(masterKey, masterSalt, label.auth, 20);
    const outerBlock = Buffer.alloc(BLOCK_BYTES, 0x5c);
    for (let i = 0; i < this.authKey.length; i += 1) {
      this.innerBlock[i] = this.innerBlock[i]! ^ this.authKey[i]!;
      outerBlock[i] = outerBlock[i]! ^ this.authKey[i]!;
    }
    const words = Int32Array.from({ length: 16 }, (_, i) => outerBlock.readInt32BE(i * 4));
    sha1Block(this.outerState, this.outerState, words);
  }
}
