import { startReasons } from '../../fmp4/start-reason.js';
import { nothingKnown } from '../list/inspect-files.js';
import { type Copy, copyKey, keyOf } from './copy.js';

/** Numbers of a row, in their order: see `rowOf`. */
export const FIELDS = 14;
export const ROW_BYTES = FIELDS * Float64Array.BYTES_PER_ELEMENT;
const STATE = FIELDS - 1;

/** What is true of a copy from now on; null: there is none any more. */
export type CopyChange = { readonly key: number; readonly copy: Copy | null };

export const isNow = (copy: Copy): CopyChange => ({ key: keyOf(copy), copy });

const KEPT = 0;
const LEAVING = 1;
/** Of a change alone. */
const GONE = 2;

/** A copy as numbers; `box`: which of the names of boxes it has. */
export const rowOf = ({ recording, stamp, inspection, ...copy }: Copy, box: number): readonly number[] => [
  ...[recording.startMs, recording.endMs ?? Number.NaN],
  ...[stamp?.ino ?? Number.NaN, copy.sizeBytes, stamp?.mtimeMs ?? 0, stamp?.ctimeMs ?? 0],
  ...[inspection.startMs ?? Number.NaN, inspection.endMs ?? Number.NaN],
  inspection.startReason === null ? -1 : startReasons.indexOf(inspection.startReason),
  ...[copy.mark, copy.sidecarBytes, copy.epoch, box, copy.isLeaving ? LEAVING : KEPT],
];

export const rowOfGone = (startMs: number, endMs: number): readonly number[] => [
  ...[startMs, endMs],
  ...Array<number>(FIELDS - 3).fill(0),
  GONE,
];

const keyAt = (rows: Float64Array, at: number): number => copyKey(rows[at * FIELDS]!, rows[at * FIELDS + 1]!);

const copyIn = (rows: Float64Array, at: number, boxes: readonly string[]): Copy => {
  const row = rows.subarray(at * FIELDS, (at + 1) * FIELDS);
  const [startMs, endMs, ino, sizeBytes, mtimeMs, ctimeMs, fromMs, toMs] = row as unknown as number[];
  return {
    recording: { startMs: startMs!, endMs: endMs! },
    stamp: Number.isNaN(ino)
      ? null
      : { ino: ino!, sizeBytes: sizeBytes!, mtimeMs: mtimeMs!, ctimeMs: ctimeMs! },
    inspection: {
      ...nothingKnown,
      startMs: Number.isNaN(fromMs) ? null : fromMs!,
      endMs: Number.isNaN(toMs) ? null : toMs!,
      startReason: startReasons[row[8]!] ?? null,
    },
    sizeBytes: sizeBytes!,
    mark: row[9]!,
    sidecarBytes: row[10]!,
    epoch: row[11]!,
    box: boxes[row[12]!] ?? '',
    isLeaving: row[STATE] === LEAVING,
  };
};

/** What rows say that were written one after another. */
export const changesIn = (rows: Float64Array, boxes: readonly string[]): CopyChange[] =>
  Array.from({ length: rows.length / FIELDS }, (_, at) => ({
    key: keyAt(rows, at),
    copy: rows[at * FIELDS + STATE] === GONE ? null : copyIn(rows, at, boxes),
  }));

/** What of a camera is in the store, in the order of `copyKey`: 112 bytes each. It never changes; `with` makes another one. */
export class CopyTable {
  static readonly empty = new CopyTable(new Float64Array(), []);
  readonly rows: Float64Array;
  readonly boxes: readonly string[];
  /** How many, and how many that aren't to be deleted there. */
  readonly count: number;
  readonly kept: number;

  constructor(rows: Float64Array, boxes: readonly string[]) {
    this.rows = rows;
    this.boxes = boxes;
    this.count = rows.length / FIELDS;
    let kept = 0;
    for (let at = 0; at < this.count; at += 1) if (!this.isLeavingAt(at)) kept += 1;
    this.kept = kept;
  }

  /** Of two of the same recording the last one counts. */
  static of(copies: readonly Copy[]): CopyTable {
    return CopyTable.empty.with(copies.map(isNow));
  }

  *[Symbol.iterator](): Generator<Copy> {
    for (let at = 0; at < this.count; at += 1) yield this.at(at);
  }

  at(index: number): Copy {
    return copyIn(this.rows, index, this.boxes);
  }

  keyAt(index: number): number {
    return keyAt(this.rows, index);
  }

  isLeavingAt(index: number): boolean {
    return this.rows[index * FIELDS + STATE] === LEAVING;
  }

  /** Where the first one is that is this key's, or behind it. */
  indexFrom(key: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keyAt(middle) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(key: number): boolean {
    const index = this.indexFrom(key);
    return index < this.count && this.keyAt(index) === key;
  }

  /** Null: there is none. */
  find(key: number): Copy | null {
    return this.has(key) ? this.at(this.indexFrom(key)) : null;
  }

  with(changes: readonly CopyChange[]): CopyTable {
    const last = new Map(changes.map(({ key, copy }) => [key, copy]));
    const boxes = [...this.boxes];
    const places = new Map(boxes.map((box, place) => [box, place]));
    const placeOf = (box: string): number => {
      const place = places.get(box) ?? boxes.push(box) - 1;
      places.set(box, place);
      return place;
    };
    const rows = new Float64Array(this.rows.length + last.size * FIELDS);
    let [length, taken] = [0, 0];
    const takeUpTo = (index: number): void => {
      rows.set(this.rows.subarray(taken * FIELDS, index * FIELDS), length);
      length += (index - taken) * FIELDS;
      taken = index;
    };
    for (const [key, copy] of [...last].sort(([a], [b]) => a - b)) {
      const index = this.indexFrom(key);
      takeUpTo(index);
      if (index < this.count && this.keyAt(index) === key) taken += 1;
      if (copy === null) continue;
      rows.set(rowOf(copy, placeOf(copy.box)), length);
      length += FIELDS;
    }
    takeUpTo(this.count);
    return new CopyTable(length === rows.length ? rows : rows.slice(0, length), boxes);
  }
}
