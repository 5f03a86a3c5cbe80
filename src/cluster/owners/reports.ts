import type { MonotonicMs } from '../../base/clock.js';
import { MAX_BOXES } from '../boxes/beat.js';
import type { HeldRow, Report } from './report.js';

type Told = {
  readonly boot: string;
  rows: Map<string, HeldRow>;
  /** All of them were told once. */
  isWhole: boolean;
  wholeMs: MonotonicMs;
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
  before.isReady !== after.isReady;

/** Which cameras the other boxes say that they have. */
export class Reports {
  readonly #byBox = new Map<string, Told>();

  /** True: somebody has another camera than before, or has it otherwise; figures alone are no such news. */
  hear(report: Report, nowMs: MonotonicMs): boolean {
    const { box, boot, seq, part, rows, dropped } = report;
    let told = this.#byBox.get(box);
    if (told?.boot !== boot) {
      if (told === undefined && this.#byBox.size >= MAX_BOXES) return false;
      told = { boot, rows: new Map(), isWhole: false, wholeMs: nowMs, seq: -1, coming: null };
      this.#byBox.set(box, told);
    }
    if (seq < told.seq) return false;
    told.seq = seq;
    if (part !== null) return this.#addPart(told, seq, part, rows, nowMs);
    let hasNews = false;
    for (const row of rows) {
      const before = told.rows.get(row.cameraId);
      hasNews ||= isOther(before, row);
      told.rows.set(row.cameraId, { ...row, figures: row.figures ?? before?.figures ?? null });
    }
    for (const cameraId of dropped) hasNews = told.rows.delete(cameraId) || hasNews;
    return hasNews;
  }

  /** What this start of the box says of the camera; null: that it doesn't have it. */
  find(box: string, boot: string, cameraId: string): HeldRow | null {
    const told = this.#byBox.get(box);
    return told?.boot === boot ? (told.rows.get(cameraId) ?? null) : null;
  }

  /** Whether this start of the box has told of all its cameras. */
  isKnown(box: string, boot: string): boolean {
    const told = this.#byBox.get(box);
    return told?.boot === boot && told.isWhole;
  }

  /** The highest epoch by which anybody was heard to have it, be it one that is lost. */
  highestEpoch(cameraId: string): number {
    let highest = 0;
    for (const { rows } of this.#byBox.values()) highest = Math.max(highest, rows.get(cameraId)?.epoch ?? 0);
    return highest;
  }

  /** Nobody counts on them any more. */
  keepOnly(boxes: ReadonlySet<string>): void {
    for (const box of this.#byBox.keys()) if (!boxes.has(box)) this.#byBox.delete(box);
  }

  #addPart(
    told: Told,
    seq: number,
    [index, count]: readonly [number, number],
    rows: readonly HeldRow[],
    nowMs: MonotonicMs,
  ): boolean {
    if (told.coming?.seq !== seq || told.coming.count !== count)
      told.coming = { seq, parts: new Map(), count };
    told.coming.parts.set(index, rows);
    if (told.coming.parts.size < count) return false;
    const after = new Map<string, HeldRow>();
    let hasNews = !told.isWhole;
    for (const part of told.coming.parts.values())
      for (const row of part) {
        hasNews ||= isOther(told.rows.get(row.cameraId), row);
        after.set(row.cameraId, row);
      }
    hasNews ||= after.size !== told.rows.size;
    Object.assign(told, { rows: after, isWhole: true, wholeMs: nowMs, coming: null });
    return hasNews;
  }
}
