import type { Clock } from '../../base/clock.js';
import { startDeadline } from '../../base/deadline.js';
import { forgetOldest } from '../forget-oldest.js';
import type { Answer, Outcome, StoreQuestion } from './mailbox.js';

/** Heads, indexes and the beginnings of fragments are small, and are read again and again. */
const BLOCK_BYTES = 64 * 1024;
const MAX_CACHED_BYTES = 64 << 20;
/** What is larger is read as it is, and kept by nobody. */
const MAX_SMALL_BYTES = 2 * BLOCK_BYTES;
/** While who is asked doesn't answer, others don't wait for that. */
const AWAY_MS = 5_000;
const ANSWER_MS = 9_000;

/** Who is asked for ranges, be it a store or a box. */
export type RangeClient = {
  read(object: string, startByte: number, endByte: number, signal: AbortSignal): Promise<Buffer>;
  /** What somebody who wanted a range is told; `isAway`: nothing else can be read, either. */
  outcomeOf(fault: unknown): { readonly outcome: Exclude<Outcome, 'read'>; readonly isAway: boolean };
  /** It takes too long. */
  late(): Error;
};

/** Reads ranges for those who play recordings, and keeps small pieces in mind. */
export class RangeReader {
  readonly #client: RangeClient;
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly #onAway: () => void;
  readonly #maxCachedBytes: number;
  /** Blocks by object, its length and number, as what was seen grows; the one asked for last is the last one. */
  readonly #blocks = new Map<string, Promise<Buffer>>();
  /** When the store is tried again; null: it answered last time. */
  #againMs: number | null = null;

  constructor(
    client: RangeClient,
    clock: Pick<Clock, 'after' | 'monotonicMs'>,
    onAway: () => void,
    maxCachedBytes = MAX_CACHED_BYTES,
  ) {
    this.#maxCachedBytes = maxCachedBytes;
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
      const { outcome, isAway } = this.#client.outcomeOf(fault);
      this.#againMs = isAway ? this.#clock.monotonicMs() + AWAY_MS : null;
      if (isAway) this.#onAway();
      return { outcome, bytes: null };
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
    const key = `${number} ${objectBytes} ${object}`;
    const known = this.#blocks.get(key);
    this.#blocks.delete(key);
    const startByte = number * BLOCK_BYTES;
    const block = known ?? this.#range(object, startByte, Math.min(startByte + BLOCK_BYTES, objectBytes));
    this.#blocks.set(key, block);
    if (known === undefined) {
      block.catch(() => this.#blocks.delete(key));
      forgetOldest(this.#blocks, () => BLOCK_BYTES, this.#maxCachedBytes, key);
    }
    return block;
  }

  async #range(object: string, startByte: number, endByte: number): Promise<Buffer> {
    const deadline = startDeadline(this.#clock, { afterMs: ANSWER_MS, reason: () => this.#client.late() });
    try {
      return await this.#client.read(object, startByte, endByte, deadline.signal);
    } finally {
      deadline.end();
    }
  }
}
