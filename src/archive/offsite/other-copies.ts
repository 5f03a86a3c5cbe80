import { MAX_COPIES, otherBoxes, otherDir } from './copies-file.js';
import { type Copy, copyKey, keyOf, timesOfKey } from './copy.js';
import { type CopyChange, type CopyTable, isNow } from './copy-table.js';
import { Notes } from './notes.js';

const isSame = (a: Copy, b: Copy): boolean =>
  a.mark === b.mark &&
  a.sizeBytes === b.sizeBytes &&
  a.sidecarBytes === b.sidecarBytes &&
  a.epoch === b.epoch &&
  a.box === b.box;

/** What other boxes of the cluster put into the store, as far as it was found there; a folder of notes for each box. */
export class OtherCopies {
  readonly #copiesDir: string;
  readonly #times: ConstructorParameters<typeof Notes>[1];
  readonly #byBox = new Map<string, Notes>();

  constructor(copiesDir: string, times: ConstructorParameters<typeof Notes>[1]) {
    this.#copiesDir = copiesDir;
    this.#times = times;
    for (const box of otherBoxes(copiesDir)) this.#of(box);
  }

  get boxes(): readonly string[] {
    return [...this.#byBox.keys()];
  }

  has(box: string): boolean {
    return this.#byBox.has(box);
  }

  *[Symbol.iterator](): Generator<readonly [box: string, notes: Notes]> {
    yield* this.#byBox;
  }

  /** Those of a camera that aren't to be deleted. */
  kept(cameraId: string): number {
    let count = 0;
    for (const notes of this.#byBox.values()) count += notes.kept.get(cameraId) ?? 0;
    return count;
  }

  /** How far the box is that is least far, of those that put something there that began since then. */
  lastMs(cameraId: string, sinceMs: number): number {
    let lastMs = Number.POSITIVE_INFINITY;
    for (const notes of this.#byBox.values()) {
      const table = notes.read(cameraId);
      const { startMs } =
        table === null || table.count === 0 ? { startMs: 0 } : timesOfKey(table.keyAt(table.count - 1));
      if (startMs >= sinceMs) lastMs = Math.min(lastMs, startMs);
    }
    return lastMs;
  }

  /** Takes over what the store has of a camera from some time on; what somebody wants gone is to go. */
  take(
    cameraId: string,
    found: ReadonlyMap<string, readonly Copy[]>,
    fromMs: number,
    isGoing: (copy: Copy) => boolean,
  ): void {
    for (const box of new Set([...this.#byBox.keys(), ...found.keys()])) {
      const copies = (found.get(box) ?? []).slice(-MAX_COPIES);
      if (copies.length === 0 && !this.#byBox.has(box)) continue;
      const notes = this.#of(box);
      const before = notes.read(cameraId);
      if (before === null || notes.unsure.has(cameraId)) {
        if (copies.length > 0 || before !== null) notes.replace(cameraId, copies, { isGoing });
        continue;
      }
      notes.change(cameraId, changesTo(before, copies, fromMs, isGoing));
    }
  }

  /** Nothing is left of these cameras. */
  removeBare(): void {
    for (const notes of this.#byBox.values())
      for (const [cameraId, count] of [...notes.kept])
        if (count === 0 && !notes.leaving.has(cameraId)) notes.remove(cameraId);
  }

  #of(box: string): Notes {
    const notes = this.#byBox.get(box) ?? new Notes(otherDir(this.#copiesDir, box), this.#times);
    this.#byBox.set(box, notes);
    return notes;
  }
}

const changesTo = (
  before: CopyTable,
  copies: readonly Copy[],
  fromMs: number,
  isGoing: (copy: Copy) => boolean,
): CopyChange[] => {
  const keys = new Set(copies.map(keyOf));
  const changes: CopyChange[] = [];
  const first = fromMs === Number.NEGATIVE_INFINITY ? 0 : before.indexFrom(copyKey(fromMs, fromMs));
  for (let at = first; at < before.count; at += 1)
    if (!keys.has(before.keyAt(at))) changes.push({ key: before.keyAt(at), copy: null });
  for (const copy of copies) {
    const known = before.find(keyOf(copy));
    if (known === null || !isSame(known, copy)) changes.push(isNow({ ...copy, isLeaving: isGoing(copy) }));
  }
  return changes;
};
