import { MAX_BOXES } from '../boxes/beat.js';
import type { HeldRow, Report } from './report.js';

/** A camera as another box, by this start of it, says that it has it. */
export type HeldElsewhere = { readonly box: string; readonly boot: string; row: HeldRow };

type Told = {
  readonly boot: string;
  rows: Map<string, HeldElsewhere>;
  /** All of them were told once. */
  isWhole: boolean;
  /** The newest thing that was heard. */
  seq: number;
  /** Of a report that isn't there in all its parts yet. */
  coming: {
    readonly seq: number;
    readonly parts: Map<number, readonly HeldRow[]>;
    readonly count: number;
  } | null;
};

const isOther = (before: HeldRow | undefined, after: HeldRow): boolean =>
  before === undefined ||
  before.epoch !== after.epoch ||
  before.isClaimed !== after.isClaimed ||
  before.isReady !== after.isReady ||
  before.isFailing !== after.isFailing ||
  before.isTrial !== after.isTrial;

/** Of two that have a camera, whether pictures and figures are rather those of `a`: where it works, or by the later claim. */
export const isRather = (
  a: Pick<HeldRow, 'isReady' | 'epoch'>,
  b: Pick<HeldRow, 'isReady' | 'epoch'>,
): boolean => (a.isReady === b.isReady ? a.epoch > b.epoch : a.isReady);

const none: readonly HeldElsewhere[] = [];

/** Which cameras the other boxes say that they have. */
export class Reports {
  readonly #byBox = new Map<string, Told>();
  /** The same, so that whoever looks at 10,000 cameras asks no box for each. */
  readonly #byCamera = new Map<string, HeldElsewhere[]>();

  /** True: somebody has another camera than before, or has it otherwise; figures alone are no such news. */
  hear(report: Report): boolean {
    const { box, boot, seq, part, rows, dropped } = report;
    let told = this.#byBox.get(box);
    if (told?.boot !== boot) {
      if (told === undefined && this.#byBox.size >= MAX_BOXES) return false;
      this.#forget(box);
      told = { boot, rows: new Map(), isWhole: false, seq: -1, coming: null };
      this.#byBox.set(box, told);
    }
    if (seq < told.seq) return false;
    told.seq = seq;
    if (part !== null) return this.#addPart(box, told, seq, part, rows);
    let hasNews = false;
    for (const row of rows) {
      const before = told.rows.get(row.cameraId);
      hasNews ||= isOther(before?.row, row);
      const withFigures = { ...row, figures: row.figures ?? before?.row.figures ?? null };
      if (before === undefined) told.rows.set(row.cameraId, this.#add(box, boot, withFigures));
      else before.row = withFigures;
    }
    for (const cameraId of dropped) {
      const held = told.rows.get(cameraId);
      if (held === undefined) continue;
      told.rows.delete(cameraId);
      this.#remove(held);
      hasNews = true;
    }
    return hasNews;
  }

  /** All that say that they have it, those that are lost included. */
  of(cameraId: string): readonly HeldElsewhere[] {
    return this.#byCamera.get(cameraId) ?? none;
  }

  /** Whether this start of the box has told of all its cameras. */
  isKnown(box: string, boot: string): boolean {
    const told = this.#byBox.get(box);
    return told?.boot === boot && told.isWhole;
  }

  /** The highest epoch by which anybody was heard to have it, be it one that is lost. */
  highestEpoch(cameraId: string): number {
    let highest = 0;
    for (const { row } of this.of(cameraId)) highest = Math.max(highest, row.epoch);
    return highest;
  }

  /** Nobody counts on the others any more. */
  keepOnly(boxes: ReadonlySet<string>): void {
    for (const box of this.#byBox.keys()) if (!boxes.has(box)) this.#forget(box);
  }

  #addPart(
    box: string,
    told: Told,
    seq: number,
    [index, count]: readonly [number, number],
    rows: readonly HeldRow[],
  ): boolean {
    if (told.coming?.seq !== seq || told.coming.count !== count)
      told.coming = { seq, parts: new Map(), count };
    told.coming.parts.set(index, rows);
    if (told.coming.parts.size < count) return false;
    const after = new Map<string, HeldElsewhere>();
    let hasNews = !told.isWhole;
    for (const part of told.coming.parts.values())
      for (const row of part) {
        const held = after.get(row.cameraId) ?? told.rows.get(row.cameraId);
        hasNews ||= isOther(held?.row, row);
        if (held !== undefined) held.row = row;
        after.set(row.cameraId, held ?? this.#add(box, told.boot, row));
      }
    for (const [cameraId, held] of told.rows)
      if (!after.has(cameraId)) {
        this.#remove(held);
        hasNews = true;
      }
    Object.assign(told, { rows: after, isWhole: true, coming: null });
    return hasNews;
  }

  #add(box: string, boot: string, row: HeldRow): HeldElsewhere {
    const held: HeldElsewhere = { box, boot, row };
    const all = this.#byCamera.get(row.cameraId);
    if (all === undefined) this.#byCamera.set(row.cameraId, [held]);
    else all.push(held);
    return held;
  }

  #remove(held: HeldElsewhere): void {
    const { cameraId } = held.row;
    const rest = this.of(cameraId).filter((other) => other !== held);
    if (rest.length === 0) this.#byCamera.delete(cameraId);
    else this.#byCamera.set(cameraId, rest);
  }

  #forget(box: string): void {
    for (const held of this.#byBox.get(box)?.rows.values() ?? []) this.#remove(held);
    this.#byBox.delete(box);
  }
}
