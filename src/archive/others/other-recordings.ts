import { join } from 'node:path';
import type { JobRunner } from '../jobs/jobs.js';
import type { Recording } from '../list/recording.js';
import { type WrittenPlace, WrittenRecordings } from '../list/written-recordings.js';
import { copiesPath } from '../offsite/copies-file.js';
import { boxObject } from './box-object.js';

/** Of all boxes together, some 50 MB in mind; what is kept on the disk is read anew. */
const MAX_FILES_KNOWN = 100_000;

const awayOf = new WeakMap<Recording, Recording>();

/** The same, of a box that is away; lists are asked for again and again, and each would be copied anew. */
const away = (recording: Recording): Recording => {
  const known = awayOf.get(recording);
  if (known !== undefined) return known;
  const marked: Recording = { ...recording, isAway: true };
  awayOf.set(recording, marked);
  return marked;
};

/** A box that has some of a camera. */
export type HavingBox = { readonly box: string; readonly isHere: boolean };

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
      return boxes[at]!.isHere ? all : all.map(away);
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
