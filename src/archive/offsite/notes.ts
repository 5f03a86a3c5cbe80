import { type FileStamp, isSameStamp, regularStamp } from '../files/scan-folder.js';
import { forgetOldest } from '../forget-oldest.js';
import {
  addCopies,
  camerasWithCopies,
  copiesPath,
  mayAdd,
  readCopies,
  removeCopies,
  type WrittenCopies,
  writeCopies,
} from './copies-file.js';
import { type Copy, keyOf } from './copy.js';
import { type CopyChange, CopyTable } from './copy-table.js';

/** In mind of all cameras: some 11 MB. */
const MOST_IN_MIND = 100_000;

type Known = { readonly stamp: FileStamp; readonly written: WrittenCopies };

/** What is written of each camera's copies, and how many these are. */
export class Notes {
  /** Recordings in the store, by camera, without those that are to be deleted there; of all of which something is written. */
  readonly kept = new Map<string, number>();
  /** Cameras of which something is to be deleted there, and from when on, by the monotonic clock. */
  readonly leaving = new Map<string, number>();
  /** Cameras of which more may be in the store than is written. */
  readonly unsure = new Set<string>();
  readonly #dir: string;
  readonly #nowMs: () => number;
  readonly #leaveMs: number;
  /** The camera asked for last is the last one. */
  readonly #known = new Map<string, Known>();

  constructor(dir: string, { nowMs, leaveMs }: { nowMs: () => number; leaveMs: number }) {
    this.#dir = dir;
    this.#nowMs = nowMs;
    this.#leaveMs = leaveMs;
    for (const cameraId of camerasWithCopies(dir)) {
      this.#look(cameraId);
      // By a run before.
      if (this.leaving.has(cameraId)) this.leaving.set(cameraId, nowMs());
    }
  }

  /** Null: nothing is written, or it can't be read. */
  read(cameraId: string): CopyTable | null {
    return this.#look(cameraId)?.table ?? null;
  }

  /** Writes what is otherwise now, synced. */
  change(cameraId: string, changes: readonly CopyChange[]): void {
    if (changes.length === 0) return;
    const path = copiesPath(this.#dir, cameraId);
    const before = this.#look(cameraId);
    if (before !== null && mayAdd(before, changes)) {
      this.#learn(cameraId, addCopies(path, before, changes));
      return;
    }
    // Of which nothing was written, or not all, is to be found all the same.
    const isPartial = before?.isPartial ?? true;
    writeCopies(path, (before?.table ?? CopyTable.empty).with(changes), isPartial);
    this.#look(cameraId);
  }

  /** All that the store has of a camera, or what of that can be written down. What is known of an object stays known; else it may be to go. */
  replace(
    cameraId: string,
    found: readonly Copy[],
    { isAll = true, isGoing = (_: Copy): boolean => false } = {},
  ): void {
    const before = this.read(cameraId);
    const known = found.map((copy) => {
      const one = before?.find(keyOf(copy)) ?? null;
      const isSame =
        one?.mark === copy.mark &&
        one.sizeBytes === copy.sizeBytes &&
        one.epoch === copy.epoch &&
        one.box === copy.box;
      return isSame ? one : { ...copy, isLeaving: isGoing(copy) };
    });
    writeCopies(copiesPath(this.#dir, cameraId), CopyTable.of(known), !isAll);
    this.#look(cameraId);
  }

  /** More may be in the store than is written, of any camera. */
  doubtAll(): void {
    for (const cameraId of camerasWithCopies(this.#dir)) {
      const before = this.#look(cameraId);
      if (before === null) continue;
      writeCopies(copiesPath(this.#dir, cameraId), before.table, true);
      this.#look(cameraId);
    }
  }

  remove(cameraId: string): void {
    removeCopies(copiesPath(this.#dir, cameraId));
    this.#known.delete(cameraId);
    this.unsure.delete(cameraId);
    this.kept.delete(cameraId);
    this.leaving.delete(cameraId);
  }

  /** Marks what is to be deleted in the store, by its place in the table, synced; how many. */
  leave(cameraId: string, isGoing: (table: CopyTable, index: number) => boolean): number {
    const table = this.read(cameraId) ?? CopyTable.empty;
    const changes: CopyChange[] = [];
    for (let index = 0; index < table.count; index += 1)
      if (!table.isLeavingAt(index) && isGoing(table, index))
        changes.push({ key: table.keyAt(index), copy: { ...table.at(index), isLeaving: true } });
    if (changes.length === 0) return 0;
    this.change(cameraId, changes);
    this.leaving.set(cameraId, this.#nowMs() + this.#leaveMs);
    return changes.length;
  }

  /** As the file is now: somebody may have thrown it away. */
  #look(cameraId: string): WrittenCopies | null {
    const path = copiesPath(this.#dir, cameraId);
    const known = this.#known.get(cameraId);
    const stamp = regularStamp(path);
    if (known !== undefined && stamp !== null && isSameStamp(stamp, known.stamp)) return known.written;
    this.#known.delete(cameraId);
    const written = readCopies(path);
    if (written !== null) this.#learn(cameraId, written);
    return written;
  }

  #learn(cameraId: string, written: WrittenCopies): void {
    const { table, isPartial } = written;
    if (isPartial) this.unsure.add(cameraId);
    else this.unsure.delete(cameraId);
    this.kept.set(cameraId, table.kept);
    if (table.kept < table.count && !this.leaving.has(cameraId))
      this.leaving.set(cameraId, this.#nowMs() + this.#leaveMs);
    const stamp = regularStamp(copiesPath(this.#dir, cameraId));
    this.#known.delete(cameraId);
    if (stamp !== null) this.#known.set(cameraId, { stamp, written });
    forgetOldest(this.#known, ({ written: { table: one } }) => one.count, MOST_IN_MIND, cameraId);
  }
}
