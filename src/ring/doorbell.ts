const RINGS = 0;
/** Listeners that are waiting, or about to: without one, ringing wakes nobody and costs no system call. */
const WAITING = 16;
const BYTES = 128;

/** The bell of one producing thread, for all its rings: told of commits, rung once a turn of the event loop. */
export class Bell {
  readonly memory = new SharedArrayBuffer(BYTES);
  readonly #words = new Int32Array(this.memory);
  #isDue = false;

  /** Something was published that somebody in another thread waits for. */
  markPublished(): void {
    this.#isDue = true;
  }

  /** Called at the end of a turn: wakes all listeners at once, if there is news. */
  ringIfNeeded(): void {
    if (!this.#isDue) return;
    this.#isDue = false;
    Atomics.add(this.#words, RINGS, 1);
    if (Atomics.load(this.#words, WAITING) > 0) Atomics.notify(this.#words, RINGS);
  }
}

/**
 * Calls back after each ringing of a bell, in any thread, without blocking it. Ringings during a callback make
 * one more. It keeps no process alive, and a producer that has died is merely silent.
 */
export class BellListener {
  readonly #words: Int32Array;
  readonly #callback: () => void;
  /** Counts starts and stops, so that a wake-up knows whether it is still meant. */
  #run = 0;
  #isRunning = false;

  constructor(bell: SharedArrayBuffer, callback: () => void) {
    this.#words = new Int32Array(bell);
    this.#callback = callback;
  }

  /** Begins with one callback, on a later turn: for what was published before. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#run += 1;
    this.#answerLater(this.#run);
  }

  /** No callback follows. Wakes its own wait, so that none is left behind; that of others sees no news. */
  stop(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#run += 1;
    Atomics.notify(this.#words, RINGS);
  }

  /** On a turn of its own: a bell that never rests must not starve the thread's other work. */
  #answerLater(run: number): void {
    setImmediate(() => {
      if (run === this.#run) this.#answer(run);
    });
  }

  /** Reads how often the bell has rung, then calls back, then waits for a ringing after that reading. */
  #answer(run: number): void {
    const rings = Atomics.load(this.#words, RINGS);
    this.#callback();
    if (run === this.#run) this.#wait(run, rings);
  }

  #wait(run: number, rings: number): void {
    // Before the wait compares: the producer either sees the listener or has changed the word.
    Atomics.add(this.#words, WAITING, 1);
    const wait = Atomics.waitAsync(this.#words, RINGS, rings);
    if (!wait.async) {
      Atomics.sub(this.#words, WAITING, 1);
      this.#answerLater(run);
      return;
    }
    void wait.value.then(() => {
      Atomics.sub(this.#words, WAITING, 1);
      if (run !== this.#run) return;
      if (Atomics.load(this.#words, RINGS) === rings) this.#wait(run, rings);
      else this.#answer(run);
    });
  }
}
