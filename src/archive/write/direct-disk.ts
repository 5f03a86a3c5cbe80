import { constants } from 'node:fs';
import type { Clock, MonotonicMs } from '../../base/clock.js';

/** What positions, lengths and memory must be multiples of, to suit every disk: a page, and a block of all usual disks. */
export const BLOCK_BYTES = 4096;
/** What one write takes at most: 0.75 s of 20 Mbit/s. */
export const STAGE_BYTES = 2 << 20;
const WASM_PAGE_BYTES = 64 << 10;

/**
 * What took longer than this, from being asked for to being written, has waited for others: the rings hold little more
 * than a second beyond it. The system's gathering and sorting then serves better, with fewer and larger writes.
 */
const LATE_MS = 300;
/** So long it has to be late without a write in time: hundreds of files that begin together make a shorter jam. */
const JAM_MS = 500;
/** So long it goes by the cache before direct writes are tried again; twice as long whenever that fails. */
const FIRST_REST_MS = 15_000;
const LAST_REST_MS = 3_600_000;
/** A trial that goes well for so long has succeeded. */
const TRIAL_MS = 60_000;

/** Opens a file that is there for writing past the system's page cache (open(2), O_DIRECT); null: not on this system. */
export const DIRECT_FLAGS: number | null =
  typeof constants.O_DIRECT === 'number' ? constants.O_WRONLY | constants.O_DIRECT : null;

/** As far as it is used here; the types of the language's own library leave it to browsers. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
};

/** Only memory of WebAssembly is known to begin at a page's border. */
const makeStage = (): Buffer => {
  // One more for what fills the last block.
  const pages = STAGE_BYTES / WASM_PAGE_BYTES + 1;
  return Buffer.from(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer);
};

export type DirectDiskDeps = {
  readonly clock: Clock;
  /** The disk turned out to be too slow for it, or is fast enough again; tried, and failed, again is told of to nobody. */
  readonly onChange: (isSlow: boolean, lastWriteMs: number) => void;
};

/**
 * What the recorders of a thread need to write directly. Frames are gathered in a stage, as whole blocks, and go from
 * there to the disk: the page cache's share of a write, new pages and giving them back, costs several times as much.
 */
export class DirectDisk {
  readonly #clock: Clock;
  readonly #onChange: DirectDiskDeps['onChange'];
  readonly #idle: Buffer[] = [];
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #restMs = FIRST_REST_MS;
  /** Since when the disk is late; null: the last write was in time. */
  #lateSinceMs: number | null = null;
  #notedMs = Number.NEGATIVE_INFINITY;
  /** As was told last. */
  #isSlow = false;

  constructor(deps: DirectDiskDeps) {
    this.#clock = deps.clock;
    this.#onChange = deps.onChange;
  }

  /** Whether files should be written directly. */
  get isWanted(): boolean {
    return DIRECT_FLAGS !== null && this.#clock.monotonicMs() >= this.#restUntilMs;
  }

  /** Memory for one write; there are as many as there are writes under way. */
  take(): Buffer {
    return this.#idle.pop() ?? makeStage();
  }

  giveBack(stage: Buffer): void {
    this.#idle.push(stage);
  }

  get nowMs(): MonotonicMs {
    return this.#clock.monotonicMs();
  }

  /** A direct write is done that was asked for then. */
  note(askedMs: MonotonicMs): void {
    const nowMs = this.#clock.monotonicMs();
    // What waited behind direct writes says nothing of the others.
    if (nowMs < this.#restUntilMs || askedMs < this.#restUntilMs) return;
    const dueMs = askedMs + LATE_MS;
    // While nothing was asked for nobody knows how the disk was.
    const sinceMs = askedMs - this.#notedMs < JAM_MS ? this.#lateSinceMs : null;
    this.#notedMs = nowMs;
    this.#lateSinceMs = nowMs < dueMs ? null : Math.min(sinceMs ?? dueMs, dueMs);
    const isJammed = this.#lateSinceMs !== null && nowMs - this.#lateSinceMs >= JAM_MS;
    if (isJammed) {
      this.#lateSinceMs = null;
      this.#restUntilMs = nowMs + this.#restMs;
      this.#restMs = Math.min(this.#restMs * 2, LAST_REST_MS);
    } else if (!this.#isSlow || nowMs - this.#restUntilMs < TRIAL_MS) return;
    else this.#restMs = FIRST_REST_MS;
    if (isJammed === this.#isSlow) return;
    this.#isSlow = isJammed;
    this.#onChange(isJammed, nowMs - askedMs);
  }
}
