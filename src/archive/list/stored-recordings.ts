import { closedName, openName } from '../files/file-name.js';
import { type FileStamp, isSameStamp } from '../files/scan-folder.js';
import { forgetOldest } from '../forget-oldest.js';
import type { JobRunner } from '../jobs/jobs.js';
import { type Copy, timesOfKey } from '../offsite/copy.js';
import { type CopyChange, changesIn } from '../offsite/copy-table.js';
import { objectName } from '../offsite/object-name.js';
import { isPieceOf, type Recording, recordingOf } from './recording.js';
import type { KnownCopies } from './stored-copies.js';

/** Where it is written what is in the store, and by which the thread is asked that reads there; whether it can't be reached now. */
export type CopiesPlace = {
  pathOf(cameraId: string): string;
  readonly mailbox: SharedArrayBuffer;
  readonly isAway: boolean;
  /** Other boxes of the cluster that put some there, and where that is written. */
  readonly otherBoxes?: readonly string[];
  otherPathOf?(box: string, cameraId: string): string;
};

/** As the file looked that was put there, so that whoever has begun to read that goes on. */
const stampOf = ({ stamp, mark, sizeBytes, recording }: Copy): FileStamp =>
  stamp ?? { ino: mark, sizeBytes, mtimeMs: recording.endMs ?? recording.startMs, ctimeMs: 0 };

/** Of what is written of a camera one recording. */
export type WrittenAs = (cameraId: string, copy: Copy, fileName: string) => Recording;

/** What this box put there it made itself, also by a name that it had before. */
const storedAs =
  (mailbox: SharedArrayBuffer, madeBy: string): WrittenAs =>
  (cameraId, copy, fileName) => {
    const { recording, inspection, sidecarBytes, epoch, box } = copy;
    const object = objectName({ cameraId, recording, epoch, box });
    return {
      ...recordingOf(fileName, recording, stampOf(copy), inspection, madeBy, () => epoch),
      stored: { object, mailbox, sidecarBytes, isAlone: true },
    };
  };

type ByName = ReadonlyMap<string, Recording>;

type Known = KnownCopies & { readonly boxes: readonly string[]; readonly byName: Map<string, Recording> };

const none: ByName = new Map();

/** Of those that the disk has what was made of them: lists are asked for again and again, and each would be copied anew. */
const joined = new WeakMap<Recording, { readonly of: Recording; readonly both: Recording }>();

/** One that the disk has, and where else it is. */
export const withStored = (here: Recording, stored: Recording | undefined): Recording => {
  if (stored?.stored === undefined || !isSameStamp(here, stored)) return here;
  const known = joined.get(here);
  if (known?.of === stored) return known.both;
  const both = { ...here, stored: { ...stored.stored, isAlone: false } };
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

/** Of recordings in their order each that is a piece of what the store has as a whole. */
const eachPiece = (
  sorted: readonly Recording[],
  onPiece: (piece: Recording, whole: Recording) => void,
): void => {
  const wholes = sorted.filter(({ stored }) => stored?.isAlone === true);
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

/** While the store can't be reached nobody can read a whole: then it is hidden where the disk has pieces of it. */
const withoutAbsent = (sorted: readonly Recording[]): readonly Recording[] => {
  const absent = new Set<Recording>();
  eachPiece(sorted, (piece, whole) => {
    if (piece.stored?.isAlone !== true) absent.add(whole);
  });
  return withoutPieces(without(sorted, absent));
};

/** Recordings of each camera that are elsewhere, by what is written of them here: nobody is asked. */
export class WrittenRecordings {
  readonly #pathOf: (cameraId: string) => string;
  readonly #as: WrittenAs;
  readonly #maxFiles: number;
  readonly #runner: JobRunner;
  /** The camera asked for last is the last one. */
  readonly #known = new Map<string, Known>();

  constructor(pathOf: (cameraId: string) => string, as: WrittenAs, maxFiles: number, runner: JobRunner) {
    this.#pathOf = pathOf;
    this.#as = as;
    this.#maxFiles = maxFiles;
    this.#runner = runner;
  }

  async of(cameraId: string): Promise<ByName> {
    const known = this.#known.get(cameraId) ?? null;
    const path = this.#pathOf(cameraId);
    const asked = known && { stamp: known.stamp, upTo: known.upTo };
    const found = await this.#runner.run('storedCopies', { path, known: asked });
    if (found === null) return known?.byName ?? none;
    const { stamp, upTo, isAdded, rows } = found;
    // Somebody else asked, too, and what was added is added to something else by now.
    if (isAdded && this.#known.get(cameraId) !== known) return this.of(cameraId);
    this.#known.delete(cameraId);
    if (stamp === null) return none;
    const isMore = isAdded && known !== null;
    const { boxes, byName } = isMore ? known : { boxes: found.boxes, byName: new Map<string, Recording>() };
    for (const change of changesIn(rows, boxes)) this.#apply(cameraId, change, byName);
    this.#known.set(cameraId, { stamp, upTo, boxes, byName });
    forgetOldest(this.#known, (camera) => camera.byName.size, this.#maxFiles, cameraId);
    return byName;
  }

  #apply(cameraId: string, { key, copy }: CopyChange, byName: Map<string, Recording>): void {
    const { startMs, endMs } = timesOfKey(key);
    const fileName = endMs === startMs ? openName(startMs) : closedName(startMs, endMs);
    if (copy === null || copy.isLeaving) byName.delete(fileName);
    else byName.set(fileName, this.#as(cameraId, copy, fileName));
  }
}

/** What of each camera is in the store. */
export class StoredRecordings extends WrittenRecordings {
  readonly #place: CopiesPlace;
  readonly #maxFiles: number;
  readonly #runner: JobRunner;
  readonly #others = new Map<string, WrittenRecordings>();

  constructor(place: CopiesPlace, box: string, maxFiles: number, runner: JobRunner) {
    super((cameraId) => place.pathOf(cameraId), storedAs(place.mailbox, box), maxFiles, runner);
    this.#place = place;
    this.#maxFiles = maxFiles;
    this.#runner = runner;
  }

  /** What other boxes put there. */
  async ofOthers(cameraId: string): Promise<readonly Recording[]> {
    const boxes = this.#place.otherBoxes ?? [];
    if (boxes.length === 0) return [];
    const found = await Promise.all(boxes.map((box) => this.#otherOf(box).of(cameraId)));
    return found.flatMap((byName) => [...byName.values()]);
  }

  /** Of all that there is of a camera, in its order, what is shown: each time once. */
  shownOf(sorted: readonly Recording[]): readonly Recording[] {
    return this.#place.isAway ? withoutAbsent(sorted) : withoutPieces(sorted);
  }

  #otherOf(box: string): WrittenRecordings {
    const { mailbox } = this.#place;
    const pathOf = (cameraId: string): string => this.#place.otherPathOf!(box, cameraId);
    const known =
      this.#others.get(box) ??
      new WrittenRecordings(pathOf, storedAs(mailbox, box), this.#maxFiles, this.#runner);
    this.#others.set(box, known);
    return known;
  }
}
