import { closedName } from '../files/file-name.js';
import { type FileStamp, isSameStamp } from '../files/scan-folder.js';
import { forgetOldest } from '../forget-oldest.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Copy } from '../offsite/copies.js';
import { objectName } from '../offsite/object-name.js';
import { type Recording, recordingOf } from './recording.js';

/** Where it is written what is in the store, and by which the thread is asked that reads there. */
export type CopiesPlace = { pathOf(cameraId: string): string; readonly mailbox: SharedArrayBuffer };

/** As the file looked that was put there, so that whoever has begun to read that goes on. */
const stampOf = ({ stamp, mark, sizeBytes, recording }: Copy): FileStamp =>
  stamp ?? { ino: mark, sizeBytes, mtimeMs: recording.endMs ?? recording.startMs, ctimeMs: 0 };

const recordingIn = (cameraId: string, copy: Copy, mailbox: SharedArrayBuffer): Recording => {
  const { recording, inspection, sidecarBytes, epoch, box } = copy;
  const fileName = closedName(recording.startMs, recording.endMs ?? recording.startMs);
  const object = objectName({ cameraId, recording, epoch, box });
  return {
    ...recordingOf(fileName, recording, stampOf(copy), inspection),
    stored: { object, mailbox, sidecarBytes, isAlone: true },
  };
};

type ByName = ReadonlyMap<string, Recording>;

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

/** What of each camera is in the store, by what is written of it here: the store itself isn't asked. */
export class StoredRecordings {
  readonly #place: CopiesPlace;
  readonly #maxFiles: number;
  readonly #runner: JobRunner;
  /** The camera asked for last is the last one. */
  readonly #known = new Map<string, { readonly stamp: FileStamp; readonly byName: ByName }>();

  constructor(place: CopiesPlace, maxFiles: number, runner: JobRunner) {
    this.#place = place;
    this.#maxFiles = maxFiles;
    this.#runner = runner;
  }

  async of(cameraId: string): Promise<ByName> {
    const known = this.#known.get(cameraId);
    const path = this.#place.pathOf(cameraId);
    const found = await this.#runner.run('storedCopies', { path, known: known?.stamp ?? null });
    if (found === null) return known?.byName ?? none;
    this.#known.delete(cameraId);
    if (found.stamp === null) return none;
    const recordings = found.copies.map((copy) => recordingIn(cameraId, copy, this.#place.mailbox));
    const byName = new Map(recordings.map((recording) => [recording.fileName, recording]));
    this.#known.set(cameraId, { stamp: found.stamp, byName });
    forgetOldest(this.#known, (camera) => camera.byName.size, this.#maxFiles, cameraId);
    return byName;
  }
}
