import type { EventChanges, KeptEvent } from './event.js';

/** Events that are not written yet, and changes of such as could not be read: bounded, the oldest are given up. */
export class WaitingEvents {
  /** Those given up. */
  lostCount = 0;
  readonly #most: number;
  readonly #events = new Map<number, KeptEvent>();
  readonly #changes = new Map<number, EventChanges>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#events.size + this.#changes.size;
  }

  get events(): ReadonlyMap<number, KeptEvent> {
    return this.#events;
  }

  /** What becomes of events that are still to be read. */
  get changes(): ReadonlyMap<number, EventChanges> {
    return this.#changes;
  }

  /** False: the oldest one had to be given up. */
  put(event: KeptEvent): boolean {
    this.#events.delete(event.id);
    this.#events.set(event.id, event);
    return this.#bound(this.#events);
  }

  putChange(id: number, changes: EventChanges): boolean {
    this.#changes.set(id, { ...this.#changes.get(id), ...changes });
    return this.#bound(this.#changes);
  }

  /** The event was read, or is gone. */
  forgetChange(id: number): void {
    this.#changes.delete(id);
  }

  /** They are written. */
  clear(): void {
    this.#events.clear();
  }

  #bound(waiting: Map<number, unknown>): boolean {
    if (waiting.size <= this.#most) return true;
    waiting.delete(waiting.keys().next().value!);
    this.lostCount += 1;
    return false;
  }
}
