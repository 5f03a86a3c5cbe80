import type { S3Client } from '../../s3/s3-client.js';
import type { Departures } from './departures.js';
import { findCopies } from './find-copies.js';
import type { Notes } from './notes.js';
import { objectOf, parseObjectName } from './object-name.js';
import type { OtherCopies } from './other-copies.js';
import type { Outbox } from './outbox.js';
import type { Patience } from './patience.js';
import { isOfStore, mayBeItsOwn } from './store-health.js';

export type StoreListsDeps = {
  readonly client: Pick<S3Client, 'list'>;
  readonly nowMs: () => number;
  readonly notes: Notes;
  readonly outbox: Outbox;
  readonly departures: Departures;
  readonly patience: Patience;
  /** What other boxes put there; nothing: this one is alone. */
  readonly others?: OtherCopies | undefined;
  readonly isOwn?: (cameraId: string, box: string) => boolean;
};

/** Where there are more than can be written down, the others are asked for once some of these may have gone. */
const LISTED_AGAIN_MS = 3_600_000;

/** Asks the store for what it has of cameras of which that isn't written, or not for certain. */
export class StoreLists {
  readonly #deps: StoreListsDeps;
  readonly #unlisted = new Set<string>();
  /** Cameras of which there are more, and from when on they are asked for. */
  readonly #againMs = new Map<string, number>();

  constructor(deps: StoreListsDeps) {
    this.#deps = deps;
  }

  /** Of this camera nothing is written. */
  want(cameraId: string): void {
    this.#unlisted.add(cameraId);
  }

  /** Lists the next one that may have its turn; null: there is none. */
  async step(signal: AbortSignal): Promise<string | null> {
    const { nowMs, patience, outbox, notes } = this.#deps;
    for (const cameraId of notes.unsure) this.want(cameraId);
    for (const { cameraId } of outbox.wishes) if (notes.read(cameraId) === null) this.want(cameraId);
    for (const { object } of outbox.sendings) {
      const cameraId = parseObjectName(object)?.cameraId;
      if (cameraId !== undefined && !notes.kept.has(cameraId)) this.want(cameraId);
    }
    for (const cameraId of this.#unlisted) {
      if (patience.isWaiting(cameraId, nowMs()) || nowMs() < (this.#againMs.get(cameraId) ?? 0)) continue;
      try {
        await this.#list(cameraId, signal);
      } catch (fault) {
        if (!mayBeItsOwn(fault) && isOfStore(fault)) throw fault;
        // Others are to have their turn; the fault is told all the same.
        patience.fail(cameraId, nowMs());
        throw fault;
      }
      patience.forget(cameraId);
      this.#unlisted.delete(cameraId);
      return cameraId;
    }
    return null;
  }

  async #list(cameraId: string, signal: AbortSignal): Promise<void> {
    const { client, notes, nowMs, outbox, departures, isOwn = () => true } = this.#deps;
    let isKnown = true;
    if (notes.read(cameraId) === null || notes.unsure.has(cameraId)) {
      const found = await findCopies(client, cameraId, signal, { isOwn: (box) => isOwn(cameraId, box) });
      const { copies, isAll, others } = found;
      // What somebody wants gone is at no moment one of its recordings.
      const isGoing = departures.wishedOf(cameraId);
      notes.replace(cameraId, copies, { isAll, isGoing });
      if (found.isListed)
        this.#deps.others?.take(cameraId, found.ofOthers, Number.NEGATIVE_INFINITY, isGoing);
      for (const { mark, ...other } of others) {
        const object = objectOf(cameraId, other);
        outbox.set({ object, source: '', mark, uploadId: null, parts: {}, isUnwanted: true });
      }
      isKnown = isAll;
    }
    if (isKnown) this.#againMs.delete(cameraId);
    else this.#againMs.set(cameraId, nowMs() + LISTED_AGAIN_MS);
  }
}
