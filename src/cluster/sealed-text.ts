import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { clusterError } from './cluster-error.js';

/** First byte of what is sealed: how. */
const AES_256_GCM = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;

/** A key of its own for each purpose: none of them tells of the secret, or of another. */
export const derivedKey = (secret: string, clusterName: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, clusterName, `framering ${purpose}`, KEY_BYTES));

/**
 * Seals texts, or bytes, for whoever has the cluster's key (AES-256-GCM, a random nonce each). The name that a text is kept under is
 * bound to it, so that nobody can put one in the place of another.
 */
export class SealedText {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  seal(name: string, data: string | Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.from(name));
    const sealed = [cipher.update(typeof data === 'string' ? Buffer.from(data) : data), cipher.final()];
    return Buffer.concat([Buffer.from([AES_256_GCM]), nonce, ...sealed, cipher.getAuthTag()]);
  }

  /** Throws `cluster_key_wrong` where it was sealed by another key, or under another name, or is none of ours. */
  open(name: string, bytes: Uint8Array): string {
    return this.openBytes(name, bytes).toString('utf8');
  }

  /** The same of what is no text. */
  openBytes(name: string, bytes: Uint8Array): Buffer {
    const tagAt = bytes.length - TAG_BYTES;
    try {
      if (bytes[0] !== AES_256_GCM || tagAt < HEAD_BYTES) throw new Error('it is not sealed');
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(1, HEAD_BYTES));
      decipher.setAAD(Buffer.from(name));
      decipher.setAuthTag(bytes.subarray(tagAt));
      return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES, tagAt)), decipher.final()]);
    } catch (cause) {
      throw clusterError(
        'cluster_key_wrong',
        `what the cluster keeps as ${name} can't be opened: CLUSTER_KEY is another than that of the cluster`,
        cause,
      );
    }
  }
}
