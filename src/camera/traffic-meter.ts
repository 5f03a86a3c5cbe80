import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { utcMonth } from '../store/traffic.js';
import { trafficTold } from './told-fields.js';

/** Where counts last: bytes by camera and calendar month. */
export type TrafficStore = {
  add(month: string, bytesByCamera: ReadonlyMap<string, number>): void;
  usedBytes(month: string): Map<string, number>;
};

/** What a crash may forget: the interval between two writes, which cost a sync of the disk each. */
const FLUSH_EVERY_MS = 10_000;

/** Counts what each camera sends in a calendar month, UTC. */
export class TrafficMeter {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #store: TrafficStore;
  #month: string;
  #used: Map<string, number>;
  readonly #unsaved = new Map<string, number>();
  /** Of cameras that other boxes have: what those count. */
  readonly #told = new Map<string, number>();
  #flushedAtMs: number;

  constructor(deps: { clock: Clock; log: Logger; traffic: TrafficStore }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#store = deps.traffic;
    this.#month = utcMonth(deps.clock.wallMs());
    this.#used = deps.traffic.usedBytes(this.#month);
    this.#flushedAtMs = deps.clock.monotonicMs();
  }

  /** Bytes of this month. */
  usedBytes(cameraId: string): number {
    return Math.max(this.#used.get(cameraId) ?? 0, this.#told.get(cameraId) ?? 0);
  }

  /** The month that is counted. */
  get month(): string {
    return this.#month;
  }

  add(cameraId: string, bytes: number): void {
    if (bytes === 0) return;
    const before = this.#used.get(cameraId) ?? 0;
    const after = this.usedBytes(cameraId) + bytes;
    this.#used.set(cameraId, after);
    this.#unsaved.set(cameraId, (this.#unsaved.get(cameraId) ?? 0) + after - before);
  }

  /** A camera that was deleted, and may come back under the same id, starts from nothing. */
  forget(cameraId: string): void {
    this.#used.delete(cameraId);
    this.#told.delete(cameraId);
    this.#unsaved.delete(cameraId);
  }

  /**
   * Once a second: begins a new month, and writes the counts down now and then. `elsewhere` is what other boxes tell of the
   * cameras that they have, whose counts go on from there when they come here.
   */
  tick(elsewhere: Iterable<readonly [cameraId: string, told: unknown]> = []): void {
    const month = utcMonth(this.#clock.wallMs());
    if (month !== this.#month && this.flush()) {
      this.#used = this.#store.usedBytes(month);
      this.#told.clear();
      this.#month = month;
    }
    if (this.#clock.monotonicMs() - this.#flushedAtMs < FLUSH_EVERY_MS) return;
    this.flush();
    for (const [cameraId, told] of elsewhere) {
      const traffic = trafficTold(told);
      if (traffic?.month === this.#month) this.#told.set(cameraId, traffic.usedBytes);
    }
  }

  /** Writes down what isn't yet; false if the disk refuses, and it is to be tried again later. */
  flush(): boolean {
    this.#flushedAtMs = this.#clock.monotonicMs();
    try {
      this.#store.add(this.#month, this.#unsaved);
      this.#unsaved.clear();
      return true;
    } catch (fault) {
      this.#log.warn('traffic counts could not be saved', { reason: messageOf(fault) });
      return false;
    }
  }
}
