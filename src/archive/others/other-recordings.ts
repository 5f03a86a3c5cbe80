import type { JobRunner } from '../jobs/jobs.js';
import { type Recording, recordingOf } from '../list/recording.js';
import { WrittenRecordings } from '../list/stored-recordings.js';
import { copiesPath } from '../offsite/copies-file.js';
import type { Copy } from '../offsite/copy.js';
import { boxObject } from './box-object.js';

/** Of each box; as much as is known of those that are here is in `Recordings`. */
const MAX_FILES_KNOWN = 50_000;

const awayOf = new WeakMap<Recording, Recording>();

/** The same, of a box that is away; lists are asked for again and again, and each would be copied anew. */
const away = (recording: Recording): Recording => {
  const known = awayOf.get(recording);
  if (known !== undefined) return known;
  const marked: Recording = { ...recording, isAway: true };
  awayOf.set(recording, marked);
  return marked;
};

/** What of each camera lies at one other box, by what that told last. */
export class OtherRecordings {
  readonly #folder: string;
  readonly #written: WrittenRecordings;

  constructor(
    { box, folder }: { readonly box: string; readonly folder: string },
    { runner, mailbox }: { readonly runner: JobRunner; readonly mailbox: SharedArrayBuffer },
  ) {
    this.#folder = folder;
    const as = (cameraId: string, copy: Copy, fileName: string): Recording => {
      const { recording, inspection, sizeBytes, sidecarBytes, epoch } = copy;
      const { startMs, endMs } = recording;
      const stamp = copy.stamp ?? { ino: 0, sizeBytes, mtimeMs: 0, ctimeMs: 0 };
      const name = { startMs, endMs: endMs === startMs ? null : endMs };
      const object = `${box}/${boxObject(cameraId, fileName, stamp)}`;
      return {
        ...recordingOf(fileName, name, stamp, inspection, box, () => epoch),
        stored: { object, mailbox, sidecarBytes, isAlone: true, ofBox: box },
      };
    };
    this.#written = new WrittenRecordings((cameraId) => this.pathOf(cameraId), as, MAX_FILES_KNOWN, runner);
  }

  pathOf(cameraId: string): string {
    return copiesPath(this.#folder, cameraId);
  }

  async of(cameraId: string, isHere: boolean): Promise<readonly Recording[]> {
    const all = [...(await this.#written.of(cameraId)).values()];
    return isHere ? all : all.map(away);
  }
}
