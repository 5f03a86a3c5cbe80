import type { RecordingName } from '../files/file-name.js';
import type { FolderNames } from '../files/known-names.js';
import { copyKey, timesOfKey } from './copy.js';
import type { CopyTable } from './copy-table.js';
import type { Held } from './messages.js';

/** A closed recording that may be copied. */
export type Due = { readonly cameraId: string; readonly startMs: number; readonly endMs: number };

export const dueKey = ({ cameraId, startMs, endMs }: Due): string => `${cameraId}/${startMs}/${endMs}`;

/** Copies that are looked at anew at the same time. */
const MOST_DOUBTED = 1_000;

type Camera = {
  /** What the folder had, to tell whether it changed. */
  readonly names: FolderNames;
  /** Their names as numbers, the oldest first: see `copyKey`. */
  readonly keys: Float64Array;
};

/** What of a folder is in the store by no name, or by one that is doubted. */
const uncopied = (
  { startsMs, endsMs }: FolderNames,
  copies: CopyTable,
  doubted: ReadonlySet<number>,
): Float64Array =>
  startsMs
    .map((startMs, at) => copyKey(startMs, endsMs[at]!))
    .sort()
    .filter((key) => !copies.has(key) || doubted.has(key));

/** Which closed recordings are yet to be copied: 8 bytes for each. The folders and what is written of copies are the truth. */
export class Backlog {
  readonly #cameras = new Map<string, Camera>();
  /** Places that are left alone for a while, and until when, by the monotonic clock. */
  readonly #skipped = new Map<string, number>();
  /** Places that are copied anew; what is written of them counts until then. */
  readonly #doubted = new Map<string, ReadonlySet<number>>();
  #heldMs = new Map<string, number>();

  set held(held: Held) {
    this.#heldMs = new Map(held);
  }

  /** Goes by the folders as they are now; `copiesOf` is asked of those that changed, or were forgotten. */
  update(folders: ReadonlyMap<string, FolderNames>, copiesOf: (cameraId: string) => CopyTable): void {
    for (const cameraId of this.#cameras.keys()) if (!folders.has(cameraId)) this.#cameras.delete(cameraId);
    for (const cameraId of this.#doubted.keys()) if (!folders.has(cameraId)) this.#doubted.delete(cameraId);
    for (const [cameraId, names] of folders) {
      if (this.#cameras.get(cameraId)?.names === names) continue;
      const doubted = this.#doubtedOf(cameraId);
      const keys = uncopied(names, copiesOf(cameraId), doubted);
      this.#cameras.set(cameraId, { names, keys });
      // Of what the disk has no more nothing is to be doubted.
      if (doubted.size > 0) this.#doubted.set(cameraId, new Set(keys.filter((key) => doubted.has(key))));
    }
  }

  /** What is in the store of a camera is otherwise now: the next update looks at it anew. */
  forget(cameraId: string): void {
    this.#cameras.delete(cameraId);
  }

  /** A copy that may not be what the disk has: it waits as if there were none. False: too many do already. */
  doubt(due: Due): boolean {
    const { cameraId, startMs, endMs } = due;
    let count = 0;
    for (const keys of this.#doubted.values()) count += keys.size;
    if (count >= MOST_DOUBTED) return false;
    this.#doubted.set(cameraId, new Set([...this.#doubtedOf(cameraId), copyKey(startMs, endMs)]));
    this.forget(cameraId);
    return true;
  }

  isDoubted({ cameraId, startMs, endMs }: Due): boolean {
    return this.#doubtedOf(cameraId).has(copyKey(startMs, endMs));
  }

  /** It was copied, or is gone. */
  drop(due: Due): void {
    const doubted = new Set(this.#doubtedOf(due.cameraId));
    if (doubted.delete(copyKey(due.startMs, due.endMs))) this.#doubted.set(due.cameraId, doubted);
    const camera = this.#cameras.get(due.cameraId);
    if (camera === undefined) return;
    const { names, keys } = camera;
    const dropped = copyKey(due.startMs, due.endMs);
    // The oldest goes first, as a rule: what is left need not be copied for that.
    const left = keys[0] === dropped ? keys.subarray(1) : keys.filter((key) => key !== dropped);
    this.#cameras.set(due.cameraId, { names, keys: left });
  }

  skip(due: Due, untilMs: number): void {
    this.#skipped.set(dueKey(due), untilMs);
  }

  /** The oldest that may be copied now, of cameras that may; null: there is none. */
  next(nowMs: number, isReady: (cameraId: string) => boolean): Due | null {
    for (const [key, untilMs] of this.#skipped) if (untilMs <= nowMs) this.#skipped.delete(key);
    let oldest: Due | null = null;
    for (const [cameraId, { keys }] of this.#cameras) {
      const end = isReady(cameraId) ? this.#endOf(cameraId, keys) : 0;
      for (let at = 0; at < end; at += 1) {
        const due = { cameraId, ...timesOfKey(keys[at]!) };
        if (oldest !== null && due.startMs >= oldest.startMs) break;
        if (this.#skipped.has(dueKey(due))) continue;
        oldest = due;
        break;
      }
    }
    return oldest;
  }

  /** How many there are, and when the oldest began. */
  total(): { readonly waiting: number; readonly oldestMs: number | null } {
    let waiting = 0;
    let oldestMs: number | null = null;
    for (const [cameraId, { keys }] of this.#cameras) {
      const end = this.#endOf(cameraId, keys);
      waiting += end;
      if (end === 0) continue;
      const { startMs } = timesOfKey(keys[0]!);
      if (oldestMs === null || startMs < oldestMs) oldestMs = startMs;
    }
    return { waiting, oldestMs };
  }

  #doubtedOf(cameraId: string): ReadonlySet<number> {
    return this.#doubted.get(cameraId) ?? new Set();
  }

  /** Behind it there are those of which it isn't decided yet whether they stay. */
  #endOf(cameraId: string, keys: Float64Array): number {
    const heldMs = this.#heldMs.get(cameraId) ?? Number.POSITIVE_INFINITY;
    let end = keys.length;
    while (end > 0 && timesOfKey(keys[end - 1]!).startMs >= heldMs) end -= 1;
    return end;
  }
}

/** As a recording's name has it. */
export const nameOf = ({ startMs, endMs }: Due): RecordingName => ({ startMs, endMs });
