import { closedName, openName } from '../files/file-name.js';
import type { FileStamp } from '../files/scan-folder.js';
import { forgetOldest } from '../forget-oldest.js';
import type { JobRunner } from '../jobs/jobs.js';
import { type Copy, timesOfKey } from '../offsite/copy.js';
import { type CopyChange, changesIn } from '../offsite/copy-table.js';
import { type Recording, recordingOf, type StoredRecording } from './recording.js';
import type { KnownCopies, StoredCopies } from './stored-copies.js';

/** What is written here of one box: where that is, and how its recordings are asked for. */
export type WrittenPlace = {
  readonly box: string;
  readonly mailbox: SharedArrayBuffer;
  /** It is read at that box; nothing: in the store. */
  readonly ofBox?: string;
  pathOf(cameraId: string): string;
  /** What it is called there; `putBy`: as the row says. */
  objectOf(cameraId: string, recording: Recording, putBy: string): string;
};

export type ByName = ReadonlyMap<string, Recording>;

type KnownOfBox = KnownCopies & {
  readonly boxes: readonly string[];
  readonly byName: Map<string, Recording>;
};

type KnownCamera = { readonly ofBoxes: Map<string, KnownOfBox>; count: number };

/** What it is called is said when somebody wants it: that is longer than all else that is known of a recording. */
class LatePlace implements StoredRecording {
  readonly sidecarBytes: number;
  readonly #place: WrittenPlace;
  readonly #cameraId: string;
  readonly #putBy: string;
  readonly #recording: Recording;

  constructor(place: WrittenPlace, cameraId: string, { sidecarBytes, box }: Copy, recording: Recording) {
    this.sidecarBytes = sidecarBytes;
    this.#place = place;
    this.#cameraId = cameraId;
    this.#putBy = box;
    this.#recording = recording;
  }

  get object(): string {
    return this.#place.objectOf(this.#cameraId, this.#recording, this.#putBy);
  }

  get mailbox(): SharedArrayBuffer {
    return this.#place.mailbox;
  }

  get isAlone(): boolean {
    return true;
  }

  get ofBox(): string | undefined {
    return this.#place.ofBox;
  }
}

/** As the file looked that was put there, so that whoever has begun to read that goes on. */
const stampOf = ({ stamp, mark, sizeBytes, recording }: Copy): FileStamp =>
  stamp ?? { ino: mark, sizeBytes, mtimeMs: recording.endMs ?? recording.startMs, ctimeMs: 0 };

const none: ByName = new Map();

/** Recordings of each camera that are elsewhere, by what is written of them here: no box is asked. */
export class WrittenRecordings {
  readonly #maxFiles: number;
  readonly #runner: JobRunner;
  /** The camera asked for last is the last one. */
  readonly #known = new Map<string, KnownCamera>();

  /** `maxFiles`: so many are known in mind, of all boxes together, but for the camera asked for last. */
  constructor(maxFiles: number, runner: JobRunner) {
    this.#maxFiles = maxFiles;
    this.#runner = runner;
  }

  /** How many recordings are in mind. */
  get count(): number {
    let count = 0;
    for (const camera of this.#known.values()) count += camera.count;
    return count;
  }

  /** What each of these has of a camera, in their order; one job looks at all that is written. */
  async of(cameraId: string, places: readonly WrittenPlace[]): Promise<readonly ByName[]> {
    if (places.length === 0) return [];
    const before = places.map(({ box }) => this.#knownOf(cameraId, box));
    const asked = places.map((place, at) => {
      const known = before[at];
      return { path: place.pathOf(cameraId), known: known ? { stamp: known.stamp, upTo: known.upTo } : null };
    });
    const found = await this.#runner.run('storedCopies', { asked });
    // Somebody else asked, too, and what was added is added to something else by now.
    const isAnother = (at: number): boolean => this.#knownOf(cameraId, places[at]!.box) !== before[at];
    if (found.some((one, at) => one?.isAdded === true && isAnother(at))) return this.of(cameraId, places);
    const camera = this.#known.get(cameraId) ?? { ofBoxes: new Map(), count: 0 };
    const all = places.map((place, at) => this.#take(cameraId, place, camera, before[at], found[at] ?? null));
    camera.count = 0;
    for (const { byName } of camera.ofBoxes.values()) camera.count += byName.size;
    this.#known.delete(cameraId);
    if (camera.ofBoxes.size > 0) this.#known.set(cameraId, camera);
    forgetOldest(this.#known, ({ count }) => count, this.#maxFiles, cameraId);
    return all;
  }

  #knownOf(cameraId: string, box: string): KnownOfBox | undefined {
    return this.#known.get(cameraId)?.ofBoxes.get(box);
  }

  #take(
    cameraId: string,
    place: WrittenPlace,
    { ofBoxes }: KnownCamera,
    before: KnownOfBox | undefined,
    found: StoredCopies | null,
  ): ByName {
    if (found === null) {
      // It may have been forgotten meanwhile.
      if (before !== undefined) ofBoxes.set(place.box, before);
      return before?.byName ?? none;
    }
    const { stamp, upTo, isAdded, rows } = found;
    ofBoxes.delete(place.box);
    if (stamp === null) return none;
    const isMore = isAdded && before !== undefined;
    const { boxes, byName } = isMore ? before : { boxes: found.boxes, byName: new Map<string, Recording>() };
    for (const change of changesIn(rows, boxes)) this.#apply(cameraId, place, change, byName);
    ofBoxes.set(place.box, { stamp, upTo, boxes, byName });
    return byName;
  }

  #apply(
    cameraId: string,
    place: WrittenPlace,
    { key, copy }: CopyChange,
    byName: Map<string, Recording>,
  ): void {
    const { startMs, endMs } = timesOfKey(key);
    const isOpen = endMs === startMs;
    const fileName = isOpen ? openName(startMs) : closedName(startMs, endMs);
    if (copy === null || copy.isLeaving) {
      byName.delete(fileName);
      return;
    }
    const name = { startMs, endMs: isOpen ? null : endMs };
    const made = recordingOf(fileName, name, stampOf(copy), copy.inspection, place.box, () => copy.epoch);
    byName.set(fileName, Object.assign(made, { stored: new LatePlace(place, cameraId, copy, made) }));
  }
}
