import type { RecordingName } from '../files/file-name.js';
import type { FolderNames } from '../files/known-names.js';
import { type Copy, copyKey, keyOf } from './copies.js';
import type { Held } from './messages.js';

/** A closed recording that may be copied. */
export type Due = { readonly cameraId: string; readonly startMs: number; readonly endMs: number };

export const dueKey = ({ cameraId, startMs, endMs }: Due): string => `${cameraId}/${startMs}/${endMs}`;

type Camera = {
  /** What the folder had, to tell whether it changed. */
  readonly names: FolderNames;
  /** Beginnings and ends in turns, in their order. */
  readonly times: Float64Array;
};

const none = new Float64Array();
const PAIR = 2;

/** What of a folder is in the store by no name. */
const uncopied = ({ startsMs, endsMs }: FolderNames, copies: readonly Copy[]): Float64Array => {
  const there = new Set(copies.map(keyOf));
  const left = Array.from(startsMs, (startMs, at): [number, number] => [startMs, endsMs[at]!])
    .filter(([startMs, endMs]) => !there.has(copyKey(startMs, endMs)))
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return Float64Array.from(left.flat());
};

/** Which closed recordings are yet to be copied: 16 bytes for each. The folders and what is written of copies are the truth. */
export class Backlog {
  readonly #cameras = new Map<string, Camera>();
  /** Places that are left alone for a while, and until when, by the monotonic clock. */
  readonly #skipped = new Map<string, number>();
  #heldMs = new Map<string, number>();

  set held(held: Held) {
    this.#heldMs = new Map(held);
  }

  /** Goes by the folders as they are now; `copiesOf` is asked of those that changed, or were forgotten. */
  update(folders: ReadonlyMap<string, FolderNames>, copiesOf: (cameraId: string) => readonly Copy[]): void {
    for (const cameraId of this.#cameras.keys()) if (!folders.has(cameraId)) this.#cameras.delete(cameraId);
    for (const [cameraId, names] of folders) {
      if (this.#cameras.get(cameraId)?.names === names) continue;
      this.#cameras.set(cameraId, { names, times: uncopied(names, copiesOf(cameraId)) });
    }
  }

  /** What is in the store of a camera is otherwise now: the next update looks at it anew. */
  forget(cameraId: string): void {
    this.#cameras.delete(cameraId);
  }

  /** It was copied, or is gone. */
  drop(due: Due): void {
    const camera = this.#cameras.get(due.cameraId);
    if (camera === undefined) return;
    const { names, times } = camera;
    let at = 0;
    while (at < times.length && (times[at] !== due.startMs || times[at + 1] !== due.endMs)) at += PAIR;
    if (at === times.length) return;
    const left = new Float64Array(times.length - PAIR);
    left.set(times.subarray(0, at));
    left.set(times.subarray(at + PAIR), at);
    this.#cameras.set(due.cameraId, { names, times: left });
  }

  skip(due: Due, untilMs: number): void {
    this.#skipped.set(dueKey(due), untilMs);
  }

  /** The oldest that may be copied now, of cameras that may; null: there is none. */
  next(nowMs: number, isReady: (cameraId: string) => boolean): Due | null {
    for (const [key, untilMs] of this.#skipped) if (untilMs <= nowMs) this.#skipped.delete(key);
    let oldest: Due | null = null;
    for (const [cameraId, { times }] of this.#cameras) {
      const end = isReady(cameraId) ? this.#endOf(cameraId, times) : 0;
      for (let at = 0; at < end; at += PAIR) {
        const due = { cameraId, startMs: times[at]!, endMs: times[at + 1]! };
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
    for (const [cameraId, { times }] of this.#cameras) {
      const end = this.#endOf(cameraId, times);
      waiting += end / PAIR;
      if (end > 0 && (oldestMs === null || times[0]! < oldestMs)) oldestMs = times[0]!;
    }
    return { waiting, oldestMs };
  }

  /** Behind it there are those of which it isn't decided yet whether they stay. */
  #endOf(cameraId: string, times: Float64Array = none): number {
    const heldMs = this.#heldMs.get(cameraId) ?? Number.POSITIVE_INFINITY;
    let end = times.length;
    while (end > 0 && times[end - PAIR]! >= heldMs) end -= PAIR;
    return end;
  }
}

/** As a recording's name has it. */
export const nameOf = ({ startMs, endMs }: Due): RecordingName => ({ startMs, endMs });
