import type { MonotonicMs } from '../../base/clock.js';
import { MAX_BOXES } from '../boxes/beat.js';
import type { BoxView } from '../boxes/box-table.js';
import { Health } from './health.js';
import type { HeldRow, Report } from './report.js';

/** Whoever says what it has. */
type Teller = {
  readonly box: string;
  readonly boot: string;
  /** Whether this start of it lives; and hands its cameras over. */
  isHere: boolean;
  isLeaving: boolean;
};

/** A camera as another box says that it has it. */
export type HeldElsewhere = {
  readonly by: Readonly<Teller>;
  row: HeldRow;
  /** The report that it was in last. */
  seq: number;
};

type Told = {
  readonly by: Teller;
  readonly rows: Map<string, HeldElsewhere>;
  readonly health: Health;
  /** All of them were told once. */
  isWhole: boolean;
  /** When that was last; and whether so long ago that nothing of it is believed. */
  wholeMs: MonotonicMs;
  isStale: boolean;
  /** The newest thing that was heard. */
  seq: number;
  /** Of a report that isn't there in all its parts yet. */
  coming: {
    readonly seq: number;
    readonly parts: Set<number>;
    readonly count: number;
    rowCount: number;
    /** Of a box of which nothing is believed: should the rest be lost, and nothing come any more, these would be for ever. */
    readonly waiting: HeldRow[];
  } | null;
};

/** Boxes tell of all their cameras once a second. */
const STALE_MS = 5_000;

const isHere = ({ by }: HeldElsewhere): boolean => by.isHere;

const isOther = (before: HeldRow, after: HeldRow): boolean =>
  before.epoch !== after.epoch ||
  before.isClaimed !== after.isClaimed ||
  before.isReady !== after.isReady ||
  before.isFailing !== after.isFailing ||
  before.isTrial !== after.isTrial ||
  before.isSilent !== after.isSilent ||
  before.endsThreads !== after.endsThreads;

/** As a camera counts whose box says no more what becomes of it. */
const doubted = (row: HeldRow): HeldRow => ({ ...row, isReady: false, isFailing: true, isSilent: false });

const areAlike = (a: unknown, b: unknown): boolean =>
  Array.isArray(a) &&
  Array.isArray(b) &&
  a.length === b.length &&
  a.every((value, at) => isAlike(value, b[at]));

const isAlike = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b));

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
  #here: ReadonlyMap<string, BoxView> = new Map();

  /** The other boxes that live; nobody counts any more on those that are not `known`. */
  see(here: ReadonlyMap<string, BoxView>, known: ReadonlySet<string>): void {
    this.#here = here;
    for (const [box, { by }] of this.#byBox)
      if (known.has(box)) this.#lookAt(by);
      else this.#forget(box);
  }

  /** True: somebody has another camera than before, or has it otherwise; figures alone are no such news. */
  hear(report: Report, nowMs: MonotonicMs): boolean {
    const { box, boot, seq, part, rows, dropped } = report;
    let told = this.#byBox.get(box);
    if (told?.by.boot !== boot) {
      if (told === undefined && this.#byBox.size >= MAX_BOXES) return false;
      this.#forget(box);
      const by = { box, boot, isHere: false, isLeaving: false };
      this.#lookAt(by);
      told = {
        by,
        rows: new Map(),
        health: new Health(),
        isWhole: false,
        wholeMs: nowMs,
        isStale: false,
        seq: -1,
        coming: null,
      };
      this.#byBox.set(box, told);
    }
    if (seq < told.seq) return false;
    told.seq = seq;
    if (part !== null) {
      const hasNews = this.#addPart(told, seq, part, rows);
      if (told.coming === null) told.wholeMs = nowMs;
      return hasNews;
    }
    let hasNews = false;
    for (const row of rows) hasNews = this.#put(told, row, seq) || hasNews;
    for (const cameraId of dropped) hasNews = this.#remove(told, cameraId) || hasNews;
    return hasNews;
  }

  /**
   * A box that lives, and says no more what becomes of its cameras, records nothing of them as far as anybody knows. Where that is so
   * of most boxes it rather is this one that hears nothing.
   */
  doubt(nowMs: MonotonicMs): void {
    let here = 0;
    const late: Told[] = [];
    for (const told of this.#byBox.values()) {
      if (!told.by.isHere) continue;
      here += 1;
      if (nowMs - told.wholeMs >= STALE_MS) late.push(told);
    }
    if (2 * late.length > here) return;
    for (const told of late) {
      if (told.isStale) continue;
      told.isStale = true;
      // Of a report that was under way some has been put, and the rest would be believed without it.
      told.coming = null;
      for (const held of told.rows.values()) this.#put(told, held.row, held.seq);
    }
  }

  /** All that are here and say that they have it. */
  of(cameraId: string): readonly HeldElsewhere[] {
    const all = this.#byCamera.get(cameraId) ?? none;
    for (const { by } of all) if (!by.isHere) return all.filter(isHere);
    return all;
  }

  /** How its cameras are, all together; null: it has told nothing. */
  healthOf(box: string): Health | null {
    return this.#byBox.get(box)?.health ?? null;
  }

  /** Whether this start of the box has told of all its cameras. */
  isKnown(box: string, boot: string): boolean {
    const told = this.#byBox.get(box);
    return told?.by.boot === boot && told.isWhole;
  }

  /** The highest epoch by which anybody was heard to have it, be it one that is lost. */
  highestEpoch(cameraId: string): number {
    let highest = 0;
    for (const { row } of this.#byCamera.get(cameraId) ?? none) highest = Math.max(highest, row.epoch);
    return highest;
  }

  #lookAt(by: Teller): void {
    const view = this.#here.get(by.box);
    by.isHere = view?.boot === by.boot;
    by.isLeaving = view?.isLeaving === true;
  }

  #addPart(
    told: Told,
    seq: number,
    [index, count]: readonly [number, number],
    rows: readonly HeldRow[],
  ): boolean {
    if (told.coming?.seq !== seq || told.coming.count !== count)
      told.coming = { seq, parts: new Set(), count, rowCount: 0, waiting: [] };
    const { coming } = told;
    if (!coming.parts.has(index)) {
      coming.parts.add(index);
      coming.rowCount += rows.length;
      if (told.isStale) coming.waiting.push(...rows);
    }
    if (coming.parts.size === count) told.isStale = false;
    let hasNews = false;
    if (!told.isStale) {
      for (const row of coming.waiting) hasNews = this.#put(told, row, seq) || hasNews;
      // Put there at once: what waited for the last part would outlive the collector's next turn each second.
      for (const row of rows) hasNews = this.#put(told, row, seq) || hasNews;
    }
    if (coming.parts.size < count) return hasNews;
    if (told.rows.size !== coming.rowCount)
      for (const [cameraId, held] of told.rows)
        if (held.seq !== seq) hasNews = this.#remove(told, cameraId) || hasNews;
    hasNews = !told.isWhole || hasNews;
    told.isWhole = true;
    told.coming = null;
    return hasNews;
  }

  /** True: it is other than before. */
  #put(told: Told, heard: HeldRow, seq: number): boolean {
    const row = told.isStale ? doubted(heard) : heard;
    const before = told.rows.get(row.cameraId);
    if (before !== undefined) {
      const hasNews = isOther(before.row, row);
      if (hasNews) {
        told.health.count(before.row, -1);
        told.health.count(row, 1);
      }
      before.seq = seq;
      // Of 10,000 rows a second those that live on would all be moved by the collector, and then be garbage.
      if (hasNews) before.row = { ...row, figures: row.figures ?? before.row.figures };
      else if (row.figures !== null && !areAlike(before.row.figures, row.figures))
        before.row.figures = row.figures;
      return hasNews;
    }
    // A copy: where rows that are read live on, V8 makes all that are read from then on where it looks for garbage least.
    const held: HeldElsewhere = { by: told.by, row: { ...row }, seq };
    told.rows.set(row.cameraId, held);
    told.health.count(row, 1);
    const all = this.#byCamera.get(row.cameraId);
    if (all === undefined) this.#byCamera.set(row.cameraId, [held]);
    else all.push(held);
    return true;
  }

  #remove(told: Told, cameraId: string): boolean {
    const held = told.rows.get(cameraId);
    if (held === undefined) return false;
    told.rows.delete(cameraId);
    told.health.count(held.row, -1);
    const rest = (this.#byCamera.get(cameraId) ?? none).filter((other) => other !== held);
    if (rest.length === 0) this.#byCamera.delete(cameraId);
    else this.#byCamera.set(cameraId, rest);
    return true;
  }

  #forget(box: string): void {
    const told = this.#byBox.get(box);
    if (told === undefined) return;
    for (const cameraId of told.rows.keys()) this.#remove(told, cameraId);
    this.#byBox.delete(box);
  }
}
