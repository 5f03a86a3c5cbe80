const WHOLE_BYTES = 0;
const END_MICROSECONDS = 1;
const START_MICROSECONDS = 2;
const WORDS = 3;

/** How far a recording is while it is being written: its recorder says so, in memory that all threads see. */
export class FileProgress {
  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#words = new BigInt64Array(memory);
  }

  /** Bytes up to the end of the last whole fragment; what lies behind may still change. 0: nothing is whole. */
  get wholeBytes(): number {
    return Number(Atomics.load(this.#words, WHOLE_BYTES));
  }

  /** The latest moment that the file covers. Ask for the bytes first: it is then no earlier than theirs. */
  get endMs(): number {
    return Number(Atomics.load(this.#words, END_MICROSECONDS)) / 1000;
  }

  /** The first moment that the file covers. */
  get startMs(): number {
    return Number(Atomics.load(this.#words, START_MICROSECONDS)) / 1000;
  }

  set startMs(startMs: number) {
    Atomics.store(this.#words, START_MICROSECONDS, BigInt(Math.floor(startMs * 1000)));
  }

  /** Called for each write, which is some once a second. */
  set(wholeBytes: number, endMs: number): void {
    Atomics.store(this.#words, END_MICROSECONDS, BigInt(Math.round(endMs * 1000)));
    Atomics.store(this.#words, WHOLE_BYTES, BigInt(wholeBytes));
  }
}

/** Knows the files that recorders have open now. */
export type FilesInProgress = {
  /** Null: nobody writes this file. */
  progressOf(cameraId: string, fileName: string): FileProgress | null;
};
