import { constants } from 'node:fs';

/** What positions, lengths and memory must be multiples of, to suit every disk: a page, and a block of all usual disks. */
export const BLOCK_BYTES = 4096;
/** What one write takes at most: 0.75 s of 20 Mbit/s. */
export const STAGE_BYTES = 2 << 20;
const WASM_PAGE_BYTES = 64 << 10;

/** A disk that takes so long for a write, on average, is better served by the system's gathering and sorting. */
const SLOW_WRITE_MS = 50;
/** A disk that stands still now and then is not slow for that. */
const MAX_COUNTED_MS = 4 * SLOW_WRITE_MS;
/** Writes that the average is mostly made of. */
const AVERAGED_WRITES = 128;

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

/**
 * What the recorders of a thread need to write directly. Frames are gathered in a stage, as whole blocks, and go from
 * there to the disk: the page cache's share of a write, new pages and giving them back, costs several times as much.
 */
export class DirectDisk {
  readonly #onSlow: (averageMs: number) => void;
  readonly #idle: Buffer[] = [];
  #averageMs = 0;
  #isSlow = false;

  /** `onSlow`: called once, when the disk turns out to be too slow for it. */
  constructor(onSlow: (averageMs: number) => void) {
    this.#onSlow = onSlow;
  }

  /** Whether files should be written directly. */
  get isWanted(): boolean {
    return DIRECT_FLAGS !== null && !this.#isSlow;
  }

  /** Memory for one write; there are as many as there are writes under way. */
  take(): Buffer {
    return this.#idle.pop() ?? makeStage();
  }

  giveBack(stage: Buffer): void {
    this.#idle.push(stage);
  }

  /** How long a direct write took. */
  note(durationMs: number): void {
    this.#averageMs += (Math.min(durationMs, MAX_COUNTED_MS) - this.#averageMs) / AVERAGED_WRITES;
    if (this.#isSlow || this.#averageMs < SLOW_WRITE_MS) return;
    this.#isSlow = true;
    this.#onSlow(this.#averageMs);
  }
}
