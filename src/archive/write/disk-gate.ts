import { WriteTimes } from './write-times.js';

/** Words of the shared memory; the seats of the threads follow them, two words each. */
const word = { capacity: 0, inUse: 1, others: 2, firstSeat: 3 } as const;
const SEATS = 512;
const seatWord = { inUse: 0, others: 1 } as const;
const WORDS_A_SEAT = 2;
/** Behind the seats, where numbers of 8 bytes may begin. */
const TIMES_AT_BYTES = Math.ceil(((word.firstSeat + SEATS * WORDS_A_SEAT) * 4) / 8) * 8;

/** Writes have frames waiting that can be overwritten; all else can wait. */
export type DiskUse = 'write' | 'other';

/** What libuv starts where UV_THREADPOOL_SIZE says nothing. */
const USUAL_POOL_THREADS = 4;

/** Threads of libuv's pool, which is one for all threads of the process. */
export const poolThreads = (env: Readonly<Record<string, string | undefined>>): number => {
  const threads = Number(env['UV_THREADPOOL_SIZE'] ?? USUAL_POOL_THREADS);
  return Number.isInteger(threads) && threads >= 1 && threads <= 1024 ? threads : USUAL_POOL_THREADS;
};

/**
 * How many disk operations of all recorders together may be under way: a disk that takes nothing any more then
 * holds so many threads of the pool and not one more, and DNS, crypto and file serving keep theirs.
 */
export const recorderShare = (threads: number): number => Math.max(1, Math.floor(threads / 2) - 1);

const seatAt = (seat: number): number => word.firstSeat + (seat % SEATS) * WORDS_A_SEAT;

/**
 * A count of disk operations under way, in memory that all threads share. Nobody ever waits at it. One place is always
 * left to writes, unless there is no other.
 */
export class DiskGate {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly writeTimes: WriteTimes;

  private constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, TIMES_AT_BYTES / 4);
    this.writeTimes = new WriteTimes(memory, TIMES_AT_BYTES);
  }

  static create(capacity: number): DiskGate {
    const gate = new DiskGate(new SharedArrayBuffer(TIMES_AT_BYTES + WriteTimes.BYTES));
    Atomics.store(gate.#words, word.capacity, capacity);
    return gate;
  }

  static open(memory: SharedArrayBuffer): DiskGate {
    return new DiskGate(memory);
  }

  get inUse(): number {
    return Atomics.load(this.#words, word.inUse);
  }

  /** True: the caller may begin one operation, and must `leave` after it. */
  tryEnter(seat: number, use: DiskUse): boolean {
    const capacity = Atomics.load(this.#words, word.capacity);
    const isOther = use === 'other';
    if (isOther && !this.#tryAdd(word.others, Math.max(capacity - 1, 1))) return false;
    if (!this.#tryAdd(word.inUse, capacity)) {
      if (isOther) Atomics.sub(this.#words, word.others, 1);
      return false;
    }
    const at = seatAt(seat);
    Atomics.add(this.#words, at + seatWord.inUse, 1);
    if (isOther) Atomics.add(this.#words, at + seatWord.others, 1);
    return true;
  }

  leave(seat: number, use: DiskUse): void {
    const at = seatAt(seat);
    if (use === 'other') {
      Atomics.sub(this.#words, at + seatWord.others, 1);
      Atomics.sub(this.#words, word.others, 1);
    }
    Atomics.sub(this.#words, at + seatWord.inUse, 1);
    Atomics.sub(this.#words, word.inUse, 1);
  }

  /** A thread has died with operations under way that nobody will report any more. */
  vacate(seat: number): void {
    const at = seatAt(seat);
    Atomics.sub(this.#words, word.others, Atomics.exchange(this.#words, at + seatWord.others, 0));
    Atomics.sub(this.#words, word.inUse, Atomics.exchange(this.#words, at + seatWord.inUse, 0));
  }

  /** At the end of the service recordings come before all else. */
  widen(capacity: number): void {
    Atomics.store(this.#words, word.capacity, capacity);
  }

  /** Counts one more, if there are fewer than so many. */
  #tryAdd(at: number, most: number): boolean {
    for (;;) {
      const count = Atomics.load(this.#words, at);
      if (count >= most) return false;
      if (Atomics.compareExchange(this.#words, at, count, count + 1) === count) return true;
    }
  }
}
