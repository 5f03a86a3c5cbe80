/** Words of the shared memory; the seats of the threads follow them. */
const word = { capacity: 0, inUse: 1, firstSeat: 2 } as const;
const SEATS = 512;

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

/** A count of disk operations under way, in memory that all threads share. Nobody ever waits at it. */
export class DiskGate {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;

  private constructor(memory: SharedArrayBuffer) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
  }

  static create(capacity: number): DiskGate {
    const gate = new DiskGate(new SharedArrayBuffer((word.firstSeat + SEATS) * 4));
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
  tryEnter(seat: number): boolean {
    for (;;) {
      const inUse = Atomics.load(this.#words, word.inUse);
      if (inUse >= Atomics.load(this.#words, word.capacity)) return false;
      if (Atomics.compareExchange(this.#words, word.inUse, inUse, inUse + 1) !== inUse) continue;
      Atomics.add(this.#words, word.firstSeat + (seat % SEATS), 1);
      return true;
    }
  }

  leave(seat: number): void {
    Atomics.sub(this.#words, word.firstSeat + (seat % SEATS), 1);
    Atomics.sub(this.#words, word.inUse, 1);
  }

  /** A thread has died with operations under way that nobody will report any more. */
  vacate(seat: number): void {
    const left = Atomics.exchange(this.#words, word.firstSeat + (seat % SEATS), 0);
    Atomics.sub(this.#words, word.inUse, left);
  }

  /** At the end of the service recordings come before all else. */
  widen(capacity: number): void {
    Atomics.store(this.#words, word.capacity, capacity);
  }
}
