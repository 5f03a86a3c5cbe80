import type { S3Client } from '../../s3/s3-client.js';
import type { Departures } from './departures.js';
import { findCopies } from './find-copies.js';
import type { OtherCopies } from './other-copies.js';
import { isOfStore, mayBeItsOwn } from './store-health.js';

export type OtherListsDeps = {
  readonly client: Pick<S3Client, 'list'>;
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly others: OtherCopies;
  readonly departures: Pick<Departures, 'wishedOf'>;
  /** Whether this box put there what has that name. */
  readonly isOwn: (cameraId: string, box: string) => boolean;
};

/** All cameras are asked for within this; but a store gets five such questions a second at most. */
const ROUND_MS = 120_000;
const LEAST_GAP_MS = 200;
const DAY_MS = 86_400_000;
/** What is new is of these days, or of those that a box is at which is late, but not by more than that; all is looked for once a day. */
const NEW_MS = 2 * DAY_MS;
const LATE_MS = 14 * DAY_MS;
const ALL_AGAIN_MS = DAY_MS;
/** Where the store goes on to list what it doesn't give. */
const LEAST_AGAIN_MS = 60_000;

/** Asks the store again and again for what other boxes put there, one camera after another. */
export class OtherLists {
  readonly #deps: OtherListsDeps;
  /** The one that is next comes first. */
  readonly #cameras = new Set<string>();
  /** From when on each is listed whole. */
  readonly #wholeMs = new Map<string, number>();
  /** When each was listed last. */
  readonly #listedMs = new Map<string, number>();
  #nextMs = Number.NEGATIVE_INFINITY;

  constructor(deps: OtherListsDeps) {
    this.#deps = deps;
  }

  /** All cameras that there are. */
  know(cameraIds: readonly string[]): void {
    const all = new Set(cameraIds);
    for (const cameraId of this.#cameras) if (!all.has(cameraId)) this.#cameras.delete(cameraId);
    for (const cameraId of all) this.#cameras.add(cameraId);
    for (const times of [this.#wholeMs, this.#listedMs])
      for (const cameraId of times.keys()) if (!all.has(cameraId)) times.delete(cameraId);
  }

  /** All of this one is asked for next. */
  again(cameraId: string): void {
    const nowMs = this.#deps.nowMs();
    const isJustListed = nowMs < (this.#listedMs.get(cameraId) ?? Number.NEGATIVE_INFINITY) + LEAST_AGAIN_MS;
    if (isJustListed || !this.#cameras.has(cameraId)) return;
    this.#wholeMs.delete(cameraId);
    const others = [...this.#cameras].filter((other) => other !== cameraId);
    this.#cameras.clear();
    for (const next of [cameraId, ...others]) this.#cameras.add(next);
    this.#nextMs = Math.min(this.#nextMs, nowMs);
  }

  /** How long there is nothing to ask. */
  get restMs(): number {
    return this.#cameras.size === 0
      ? Number.POSITIVE_INFINITY
      : Math.max(this.#nextMs - this.#deps.nowMs(), 0);
  }

  /** Asks for the next one, if it is time for that; whether it was. */
  async step(signal: AbortSignal): Promise<boolean> {
    const [cameraId] = this.#cameras;
    const nowMs = this.#deps.nowMs();
    if (cameraId === undefined || nowMs < this.#nextMs) return false;
    this.#nextMs = nowMs + Math.max(ROUND_MS / this.#cameras.size, LEAST_GAP_MS);
    this.#cameras.delete(cameraId);
    this.#cameras.add(cameraId);
    try {
      await this.#list(cameraId, signal);
    } catch (fault) {
      // What is the camera's own is tried again in its turn.
      if (signal.aborted || (isOfStore(fault) && !mayBeItsOwn(fault))) throw fault;
    }
    return true;
  }

  async #list(cameraId: string, signal: AbortSignal): Promise<void> {
    const { client, nowMs, wallMs, others, departures, isOwn } = this.#deps;
    const isWhole = nowMs() >= (this.#wholeMs.get(cameraId) ?? Number.NEGATIVE_INFINITY);
    const lastMs = Math.min(wallMs() - NEW_MS, others.lastMs(cameraId, wallMs() - LATE_MS));
    const fromMs = isWhole ? Number.NEGATIVE_INFINITY : Math.floor(lastMs / DAY_MS) * DAY_MS;
    const found = await findCopies(client, cameraId, signal, {
      isOwn: (box) => isOwn(cameraId, box),
      fromMs,
    });
    if (!found.isListed) return;
    others.take(cameraId, found.ofOthers, fromMs, departures.wishedOf(cameraId));
    if (!isWhole) return;
    this.#wholeMs.set(cameraId, nowMs() + ALL_AGAIN_MS);
    this.#listedMs.set(cameraId, nowMs());
  }
}
