import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type Digest = { readonly sha256: string; readonly crc32: number };

/** Checksums of content that comes in pieces, some of them more than once: what was seen already doesn't count again. */
export class RunningDigest {
  readonly #sizeBytes: number;
  readonly #hash = createHash('sha256');
  #crc32 = 0;
  #seenBytes = 0;
  #digest: Digest | null = null;

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes;
  }

  /** Up to here all bytes were seen. */
  get seenBytes(): number {
    return this.#seenBytes;
  }

  /** Null before all bytes were seen. */
  get value(): Digest | null {
    return this.#digest;
  }

  /** Sees `bytes`, which stand at `at`; those behind a hole are forgotten. */
  add(bytes: Buffer, at: number): void {
    const next = this.#seenBytes;
    if (at > next || at + bytes.length <= next) return;
    const fresh = bytes.subarray(next - at);
    this.#hash.update(fresh);
    this.#crc32 = crc32(fresh, this.#crc32);
    this.#seenBytes += fresh.length;
    if (this.#seenBytes === this.#sizeBytes)
      this.#digest = { sha256: this.#hash.digest('hex'), crc32: this.#crc32 };
  }
}
