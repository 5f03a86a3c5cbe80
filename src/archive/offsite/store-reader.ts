import type { Clock } from '../../base/clock.js';
import { startDeadline } from '../../base/deadline.js';
import { AppError } from '../../base/errors.js';
import { isS3Error, s3Error } from '../../s3/errors.js';
import { S3Client } from '../../s3/s3-client.js';
import { forgetOldest } from '../forget-oldest.js';
import type { Answer, StoreQuestion } from './mailbox.js';
import type { ReaderSetup } from './reading-thread.js';

/** Heads, indexes and the beginnings of fragments are small, and are read again and again. */
const BLOCK_BYTES = 64 * 1024;
const MAX_CACHED_BYTES = 64 << 20;
/** What is larger is read as it is, and kept by nobody. */
const MAX_SMALL_BYTES = 2 * BLOCK_BYTES;
/** While the store doesn't answer, others don't wait for that. */
const AWAY_MS = 5_000;
const ANSWER_MS = 9_000;

/** Reads ranges of objects for those who play recordings, and keeps small pieces in mind. */
export class StoreReader {
  readonly #client: Pick<S3Client, 'read'>;
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly #onAway: () => void;
  /** Blocks by object and number; the one asked for last is the last one. */
  readonly #blocks = new Map<string, Promise<Buffer>>();
  /** When the store is tried again; null: it answered last time. */
  #againMs: number | null = null;

  constructor(
    client: Pick<S3Client, 'read'>,
    clock: Pick<Clock, 'after' | 'monotonicMs'>,
    onAway: () => void,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#onAway = onAway;
  }

  async answer(question: StoreQuestion): Promise<Answer> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#againMs !== null) {
      if (nowMs < this.#againMs) return { outcome: 'away', bytes: null };
      // One tries, and the others don't wait for that.
      this.#againMs = nowMs + ANSWER_MS;
    }
    try {
      const bytes = await this.#read(question);
      this.#againMs = null;
      return { outcome: 'read', bytes };
    } catch (fault) {
      if (isS3Error(fault, 's3_not_found')) {
        this.#againMs = null;
        return { outcome: 'gone', bytes: null };
      }
      // What it refuses of one object says nothing of others.
      const isAway =
        !(fault instanceof AppError) || fault.code === 's3_unavailable' || fault.code === 's3_clock';
      this.#againMs = isAway ? this.#clock.monotonicMs() + AWAY_MS : null;
      if (isAway) this.#onAway();
      return { outcome: 'away', bytes: null };
    }
  }

  async #read({ object, objectBytes, startByte, endByte }: StoreQuestion): Promise<Buffer> {
    if (endByte - startByte > MAX_SMALL_BYTES) return this.#range(object, startByte, endByte);
    const first = Math.floor(startByte / BLOCK_BYTES);
    const last = Math.floor((endByte - 1) / BLOCK_BYTES);
    const blocks: Promise<Buffer>[] = [];
    for (let number = first; number <= last; number += 1)
      blocks.push(this.#block(object, objectBytes, number));
    const bytes = Buffer.concat(await Promise.all(blocks));
    return bytes.subarray(startByte - first * BLOCK_BYTES, endByte - first * BLOCK_BYTES);
  }

  #block(object: string, objectBytes: number, number: number): Promise<Buffer> {
    const key = `${number} ${object}`;
    const known = this.#blocks.get(key);
    this.#blocks.delete(key);
    const startByte = number * BLOCK_BYTES;
    const block = known ?? this.#range(object, startByte, Math.min(startByte + BLOCK_BYTES, objectBytes));
    this.#blocks.set(key, block);
    if (known === undefined) {
      block.catch(() => this.#blocks.delete(key));
      forgetOldest(this.#blocks, () => BLOCK_BYTES, MAX_CACHED_BYTES, key);
    }
    return block;
  }

  async #range(object: string, startByte: number, endByte: number): Promise<Buffer> {
    const reason = (): Error => s3Error('s3_unavailable', "the store doesn't answer in time");
    const deadline = startDeadline(this.#clock, { afterMs: ANSWER_MS, reason });
    try {
      return await this.#client.read(object, startByte, endByte, deadline.signal);
    } finally {
      deadline.end();
    }
  }
}

export const openStoreReader = (
  { address, ca }: Pick<ReaderSetup, 'address' | 'ca'>,
  clock: Clock,
  onAway: () => void,
): StoreReader => {
  // What comes from another thread is bytes, and no Buffer any more.
  const client = new S3Client(address, { clock, ca: ca === null ? null : Buffer.from(ca) });
  return new StoreReader(client, clock, onAway);
};
