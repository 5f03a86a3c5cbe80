import type { DiskGate, DiskUse } from './disk-gate.js';

/** What goes first where not all can go at once: frames can be overwritten, the rest can wait. */
const priorities = ['write', 'close', 'sync'] as const;
export type DiskPriority = (typeof priorities)[number];

const useFor = (priority: DiskPriority): DiskUse => (priority === 'write' ? 'write' : 'other');

type Waiting = {
  readonly run: () => Promise<void>;
  readonly done: (fault: unknown) => void;
  readonly sinceMs: number;
};

/**
 * The disk operations of one thread, begun as the gate lets them. Nothing here waits for the disk: what can't
 * begin now is tried again whenever an operation ends and whenever `drain` is called.
 */
export class DiskQueue {
  readonly #gate: DiskGate;
  readonly #seat: number;
  readonly #waiting: Readonly<Record<DiskPriority, Waiting[]>> = { write: [], close: [], sync: [] };
  #isSyncing = false;
  /** Operations that are over. */
  ended = 0;

  constructor(options: { gate: DiskGate; seat: number }) {
    this.#gate = options.gate;
    this.#seat = options.seat;
  }

  /** Resolves when the operation is through; rejects with what it threw. */
  run(priority: DiskPriority, operation: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (fault: unknown): void => (fault === null ? resolve() : reject(fault));
      this.#waiting[priority].push({ run: operation, done, sinceMs: performance.now() });
      this.drain();
    });
  }

  /** Operations that wait for the gate. */
  get waiting(): number {
    return this.#waiting.write.length + this.#waiting.close.length + this.#waiting.sync.length;
  }

  /** Begins what may begin. */
  drain(): void {
    for (const priority of priorities) {
      // One sync at a time: it can take seconds, and writes must not stand behind several.
      while (this.#waiting[priority].length > 0 && !(priority === 'sync' && this.#isSyncing)) {
        if (!this.#gate.tryEnter(this.#seat, useFor(priority))) return;
        this.#begin(priority, this.#waiting[priority].shift()!);
      }
    }
  }

  #begin(priority: DiskPriority, { run, done, sinceMs }: Waiting): void {
    if (priority === 'sync') this.#isSyncing = true;
    const end = (fault: unknown): void => {
      if (priority === 'sync') this.#isSyncing = false;
      this.ended += 1;
      // Frames wait from when they are handed over: behind others, too.
      if (priority === 'write') this.#gate.writeTimes.add((performance.now() - sinceMs) / 1_000);
      this.#gate.leave(this.#seat, useFor(priority));
      done(fault);
      this.drain();
    };
    run().then(
      () => end(null),
      (fault) => end(fault ?? new Error('a disk operation failed')),
    );
  }
}
