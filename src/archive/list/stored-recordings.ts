import { parseRecordingName } from '../files/file-name.js';
import { isSameStamp } from '../files/scan-folder.js';
import type { JobRunner } from '../jobs/jobs.js';
import { objectName } from '../offsite/object-name.js';
import { isPieceOf, type Recording } from './recording.js';
import { type ByName, type WrittenPlace, WrittenRecordings } from './written-recordings.js';

/** Where it is written what is in the store, and by which the thread is asked that reads there; whether it can't be reached now. */
export type CopiesPlace = {
  pathOf(cameraId: string): string;
  readonly mailbox: SharedArrayBuffer;
  readonly isAway: boolean;
  /** Other boxes of the cluster that put some there, and where that is written. */
  readonly otherBoxes?: readonly string[];
  otherPathOf?(box: string, cameraId: string): string;
};

/** What this box put there it made itself, also by a name that it had before. */
const objectOf: WrittenPlace['objectOf'] = (cameraId, { fileName, epoch }, putBy) =>
  objectName({ cameraId, recording: parseRecordingName(fileName)!, epoch, box: putBy });

/** Of those that the disk has what was made of them: lists are asked for again and again, and each would be copied anew. */
const joined = new WeakMap<Recording, { readonly of: Recording; readonly both: Recording }>();

/** One that the disk has, and where else it is. */
export const withStored = (here: Recording, stored: Recording | undefined): Recording => {
  if (stored?.stored === undefined || !isSameStamp(here, stored)) return here;
  const known = joined.get(here);
  if (known?.of === stored) return known.both;
  const { object, mailbox, sidecarBytes } = stored.stored;
  const both = { ...here, stored: { object, mailbox, sidecarBytes, isAlone: false } };
  joined.set(here, { of: stored, both });
  return both;
};

/** Those that the disk has, and those that the store has alone. */
export const withAllStored = (here: readonly Recording[], stored: ByName): Recording[] => {
  const names = new Set(here.map(({ fileName }) => fileName));
  return [
    ...here.map((recording) => withStored(recording, stored.get(recording.fileName))),
    ...[...stored.values()].filter(({ fileName }) => !names.has(fileName)),
  ];
};

const isOfStore = ({ stored }: Recording): boolean => stored?.isAlone === true && stored.ofBox === undefined;

/** Of recordings in their order each that is a piece of what the store has as a whole. */
const eachPiece = (
  sorted: readonly Recording[],
  onPiece: (piece: Recording, whole: Recording) => void,
): void => {
  const wholes = sorted.filter(isOfStore);
  if (wholes.length === 0) return;
  let [first, next] = [0, 0];
  for (const recording of sorted) {
    while (next < wholes.length && wholes[next]!.startMs <= recording.startMs) next += 1;
    while (first < next && wholes[first]!.endMs < recording.startMs) first += 1;
    for (let at = first; at < next; at += 1)
      if (wholes[at] !== recording && wholes[at]!.box === recording.box && isPieceOf(recording, wholes[at]!))
        onPiece(recording, wholes[at]!);
  }
};

const without = (sorted: readonly Recording[], hidden: ReadonlySet<Recording>): readonly Recording[] =>
  hidden.size === 0 ? sorted : sorted.filter((recording) => !hidden.has(recording));

/** Of recordings in their order those that aren't pieces of what the store has as a whole. */
const withoutPieces = (sorted: readonly Recording[]): readonly Recording[] => {
  const pieces = new Set<Recording>();
  eachPiece(sorted, (piece) => pieces.add(piece));
  return without(sorted, pieces);
};

/** While the store can't be reached nobody can read a whole: then it is hidden where a disk has pieces of it, be it another box's that is here. */
const withoutAbsent = (sorted: readonly Recording[]): readonly Recording[] => {
  const absent = new Set<Recording>();
  eachPiece(sorted, (piece, whole) => {
    if (!isOfStore(piece) && piece.isAway !== true) absent.add(whole);
  });
  return withoutPieces(without(sorted, absent));
};

/** What of each camera is in the store. */
export class StoredRecordings {
  readonly #place: CopiesPlace;
  readonly #own: WrittenPlace;
  readonly #written: WrittenRecordings;
  readonly #others = new Map<string, WrittenPlace>();

  constructor(place: CopiesPlace, box: string, maxFiles: number, runner: JobRunner) {
    this.#place = place;
    this.#own = {
      ...{ box, mailbox: place.mailbox, objectOf },
      pathOf: (cameraId) => place.pathOf(cameraId),
    };
    this.#written = new WrittenRecordings(maxFiles, runner);
  }

  /** What this box put there. */
  async of(cameraId: string): Promise<ByName> {
    const [own] = await this.#written.of(cameraId, [this.#own]);
    return own!;
  }

  /** What other boxes put there. */
  async ofOthers(cameraId: string): Promise<readonly Recording[]> {
    const boxes = this.#place.otherBoxes ?? [];
    const found = await this.#written.of(
      cameraId,
      boxes.map((box) => this.#otherOf(box)),
    );
    return found.flatMap((byName) => [...byName.values()]);
  }

  /** Of all that there is of a camera, in its order, what is shown: each time once. */
  shownOf(sorted: readonly Recording[]): readonly Recording[] {
    return this.#place.isAway ? withoutAbsent(sorted) : withoutPieces(sorted);
  }

  #otherOf(box: string): WrittenPlace {
    const pathOf = (cameraId: string): string => this.#place.otherPathOf!(box, cameraId);
    const known = this.#others.get(box) ?? { ...this.#own, box, pathOf };
    this.#others.set(box, known);
    return known;
  }
}
