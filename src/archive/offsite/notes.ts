import { type Copy, camerasWithCopies, copiesPath, readCopies, removeCopies, writeCopies } from './copies.js';

/** What is written of each camera's copies, and how many these are. */
export class Notes {
  readonly #dir: string;
  readonly #nowMs: () => number;
  readonly #leaveMs: number;
  /** Recordings in the store, by camera, without those that are to be deleted there; of all of which something is written. */
  readonly kept = new Map<string, number>();
  /** Cameras of which something is to be deleted there, and from when on, by the monotonic clock. */
  readonly leaving = new Map<string, number>();

  constructor(dir: string, { nowMs, leaveMs }: { nowMs: () => number; leaveMs: number }) {
    this.#dir = dir;
    this.#nowMs = nowMs;
    this.#leaveMs = leaveMs;
    for (const cameraId of camerasWithCopies(dir)) {
      this.#countAtStart(cameraId);
      // By a run before.
      if (this.leaving.has(cameraId)) this.leaving.set(cameraId, nowMs());
    }
  }

  /** Null: nothing is written, or it is damaged. */
  read(cameraId: string): Copy[] | null {
    return readCopies(copiesPath(this.#dir, cameraId));
  }

  write(cameraId: string, copies: readonly Copy[]): void {
    writeCopies(copiesPath(this.#dir, cameraId), copies);
    this.count(cameraId, copies);
  }

  remove(cameraId: string): void {
    removeCopies(copiesPath(this.#dir, cameraId));
    this.kept.delete(cameraId);
    this.leaving.delete(cameraId);
  }

  count(cameraId: string, copies: readonly Copy[]): void {
    const count = copies.filter(({ isLeaving }) => !isLeaving).length;
    this.kept.set(cameraId, count);
    if (count < copies.length && !this.leaving.has(cameraId))
      this.leaving.set(cameraId, this.#nowMs() + this.#leaveMs);
  }

  /** Marks what is to be deleted in the store, synced; how many. */
  leave(cameraId: string, copies: readonly Copy[], isGoing: (copy: Copy) => boolean): number {
    let count = 0;
    const marked = copies.map((copy) => {
      if (copy.isLeaving || !isGoing(copy)) return copy;
      count += 1;
      return { ...copy, isLeaving: true };
    });
    if (count === 0) return 0;
    this.write(cameraId, marked);
    this.leaving.set(cameraId, this.#nowMs() + this.#leaveMs);
    return count;
  }

  /** What the disk refuses now is told when it is needed. */
  #countAtStart(cameraId: string): void {
    try {
      const copies = this.read(cameraId);
      if (copies !== null) this.count(cameraId, copies);
    } catch {
      // It isn't known, so that it counts as kept.
    }
  }
}
