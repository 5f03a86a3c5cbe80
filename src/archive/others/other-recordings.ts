import { join } from 'node:path';
import { MAX_LENGTH_MS } from '../files/file-name.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Recording } from '../list/recording.js';
import { type WrittenPlace, WrittenRecordings } from '../list/written-recordings.js';
import { copiesPath } from '../offsite/copies-file.js';
import { boxObject } from './box-object.js';

/** Of all boxes together, some 50 MB in mind; what is kept on the disk is read anew. */
const MAX_FILES_KNOWN = 100_000;

const awayOf = new WeakMap<Recording, Recording>();

/** The same, of a box that is away; lists are asked for again and again, and each would be copied anew. */
const away = (recording: Recording, endMs: number): Recording => {
  const known = awayOf.get(recording);
  if (known?.endMs === endMs) return known;
  const marked: Recording = { ...recording, endMs, isAway: true };
  awayOf.set(recording, marked);
  return marked;
};

/** A box that has some of a camera. */
export type HavingBox = {
  readonly box: string;
  readonly isHere: boolean;
  /** When it told last what is new. */
  readonly heardMs: number | null;
};

/**
 * What a box has that is away. A file that grows is no news, and its end would have been: what it wrote last it wrote until it was
 * heard last.
 */
const ofAway = (all: readonly Recording[], heardMs: number | null): readonly Recording[] => {
  const lastMs = all.reduce((last, { startMs }) => Math.max(last, startMs), Number.NEGATIVE_INFINITY);
  return all.map((recording) => {
    const { startMs, endMs, isOpen } = recording;
    const isLast = isOpen && startMs === lastMs && heardMs !== null;
    return away(recording, isLast ? Math.max(endMs, Math.min(heardMs, startMs + MAX_LENGTH_MS)) : endMs);
  });
};

/** What of each camera lies at other boxes, by what these told last. */
export class OtherRecordings {
  readonly #boxesDir: string;
  readonly #mailbox: SharedArrayBuffer;
  readonly #written: WrittenRecordings;
  readonly #places = new Map<string, WrittenPlace>();

  constructor(
    { boxesDir }: { readonly boxesDir: string },
    { runner, mailbox }: { readonly runner: JobRunner; readonly mailbox: SharedArrayBuffer },
  ) {
    this.#boxesDir = boxesDir;
    this.#mailbox = mailbox;
    this.#written = new WrittenRecordings(MAX_FILES_KNOWN, runner);
  }

  /** How many are in mind. */
  get count(): number {
    return this.#written.count;
  }

  /** By one job, of however many boxes; in no order. */
  async of(cameraId: string, boxes: readonly HavingBox[]): Promise<readonly Recording[]> {
    const places = boxes.map(({ box }) => this.#placeOf(box));
    const found = await this.#written.of(cameraId, places);
    return found.flatMap((byName, at) => {
      const all = [...byName.values()];
      const { isHere, heardMs } = boxes[at]!;
      return isHere ? all : ofAway(all, heardMs);
    });
  }

  #placeOf(box: string): WrittenPlace {
    const folder = join(this.#boxesDir, box);
    const known = this.#places.get(box) ?? {
      ...{ box, ofBox: box, mailbox: this.#mailbox },
      pathOf: (cameraId: string) => copiesPath(folder, cameraId),
      objectOf: (cameraId: string, recording: Recording) =>
        `${box}/${boxObject(cameraId, recording.fileName, recording)}`,
    };
    this.#places.set(box, known);
    return known;
  }
}
