import { readFileSync } from 'node:fs';
import { replaceFile } from '../../base/durable-file.js';
import { codeOf } from '../files/disk-fault.js';
import type { ClusterNow } from './messages.js';

/** `awayMs`: since it was seen last, over restarts; `runMs`: of that by this run, without a break. */
type Absence = { readonly awayMs: number; readonly runMs: number };

const WRITE_MS = 3_600_000;
/** Boxes that start together with this one are yet to be heard. */
const LEAST_RUN_MS = 3_600_000;

const read = (path: string): Map<string, Absence> => {
  try {
    const told: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const entries = Object.entries(typeof told === 'object' && told !== null ? told : {});
    return new Map(
      entries.flatMap(([box, awayMs]: [string, unknown]) =>
        typeof awayMs === 'number' && awayMs > 0 ? [[box, { awayMs, runMs: 0 }]] : [],
      ),
    );
  } catch (fault) {
    // What can't be read is counted anew: that deletes nothing too soon.
    if (!(fault instanceof SyntaxError) && codeOf(fault) !== 'ENOENT') throw fault;
    return new Map();
  }
};

/**
 * For how long each box has been away, as far as this one has seen that: by the monotonic clock, without the times in which
 * it didn't run, or wasn't sure. Once a box is seen it begins anew.
 */
export class Absences {
  readonly #path: string;
  readonly #nowMs: () => number;
  #absences: Map<string, Absence> | null = null;
  /** When it was seen last who is here; null: it isn't sure since when. */
  #lookedMs: number | null = null;
  #writtenMs = Number.NEGATIVE_INFINITY;

  constructor(path: string, nowMs: () => number) {
    this.#path = path;
    this.#nowMs = nowMs;
  }

  /** Of `boxes` those that aren't here were away since the last look, if they were then. Throws where it can't be read or written. */
  look({ boxes: here, isSure }: ClusterNow, boxes: readonly string[]): void {
    const nowMs = this.#nowMs();
    const before = this.#known;
    const passedMs = this.#lookedMs === null ? 0 : nowMs - this.#lookedMs;
    this.#lookedMs = isSure ? nowMs : null;
    const absences = new Map<string, Absence>();
    for (const box of boxes) {
      if (here.includes(box)) continue;
      const { awayMs, runMs } = before.get(box) ?? { awayMs: 0, runMs: 0 };
      const wasAway = before.has(box);
      const moreMs = isSure && wasAway ? passedMs : 0;
      absences.set(box, { awayMs: awayMs + moreMs, runMs: isSure ? runMs + moreMs : 0 });
    }
    this.#absences = absences;
    const isOneBack = [...before.keys()].some((box) => !absences.has(box));
    if (isOneBack || (absences.size > 0 && nowMs - this.#writtenMs >= WRITE_MS)) this.#write(nowMs);
  }

  isAwayFor(box: string, leastMs: number): boolean {
    const { awayMs = 0, runMs = 0 } = this.#absences?.get(box) ?? {};
    return awayMs >= leastMs && runMs >= LEAST_RUN_MS;
  }

  get #known(): ReadonlyMap<string, Absence> {
    this.#absences ??= read(this.#path);
    return this.#absences;
  }

  #write(nowMs: number): void {
    const told = [...this.#known].map(([box, { awayMs }]) => [box, Math.round(awayMs)]);
    replaceFile(this.#path, JSON.stringify(Object.fromEntries(told)));
    this.#writtenMs = nowMs;
  }
}
