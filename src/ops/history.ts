import type { Clock } from '../base/clock.js';
import { SampleRing } from './sample-ring.js';

/** One figure that is followed over time. */
export type Series = {
  readonly name: string;
  /** A count is kept as what it rises by in a second. */
  readonly kind: 'gauge' | 'count';
  /** What of a minute's seconds stands for it. */
  readonly ofMinute: 'mean' | 'max';
  /** Digits behind the point that are worth telling. */
  readonly digits: number;
  /** As of now; NaN: it isn't known. */
  readonly read: () => number;
};

export const spans = ['hour', 'day'] as const;
export type Span = (typeof spans)[number];

/** Samples at regular distances; the last one is of the latest moment that is over. */
export type HistoryAnswer = {
  readonly span: Span;
  readonly step_sec: number;
  /** Of the first sample; the others follow at `step_sec`. */
  readonly from: string;
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
};

const SECOND_MS = 1_000;
const MINUTE_SEC = 60;
const slotsOf = { hour: 3_600, day: 1_440 } as const satisfies Record<Span, number>;
const stepsSec = { hour: 1, day: MINUTE_SEC } as const satisfies Record<Span, number>;
/** A beat that comes this late was late; beyond that nobody looked. */
const LATE_MS = 3_000;
/** Uptime comes in whole seconds. */
const SLEPT_MS = 2_000;

export type HistoryDeps = {
  readonly clock: Clock;
  /** Since the machine's start, with the time that it slept, which the monotonic clock leaves out. */
  readonly uptimeMs: () => number;
};

/**
 * An hour of figures by second, and a day of them by minute. They are put in order by how long the machine has run,
 * whatever its clock was set to meanwhile; shown are the times that today's clock gives them.
 */
export class History {
  readonly #series: readonly Series[];
  readonly #deps: HistoryDeps;
  readonly #rings: Readonly<Record<Span, SampleRing>>;
  readonly #raw: Float64Array;
  readonly #lastRaw: Float64Array;
  readonly #second: Float64Array;
  readonly #minute: Float64Array;
  /** Seconds of the minute that have a value, by series. */
  readonly #known: Float64Array;
  #aheadMs: number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(series: readonly Series[], deps: HistoryDeps) {
    this.#series = series;
    this.#deps = deps;
    const { length } = series;
    this.#rings = { hour: new SampleRing(length, slotsOf.hour), day: new SampleRing(length, slotsOf.day) };
    this.#raw = new Float64Array(length);
    this.#lastRaw = new Float64Array(length);
    this.#second = new Float64Array(length);
    this.#minute = new Float64Array(length);
    this.#known = new Float64Array(length);
    this.#aheadMs = deps.uptimeMs() - deps.clock.monotonicMs();
  }

  /** Takes a sample: once a second. */
  sample(): void {
    const nowMs = this.#elapsedMs();
    const sinceMs = nowMs - this.#lastMs;
    const slot = Math.floor(nowMs / SECOND_MS);
    if (slot < this.#rings.hour.end) return;
    this.#measure(sinceMs);
    this.#lastMs = nowMs;
    // A beat that came a little late stands for the second that it missed, too.
    const late = sinceMs < LATE_MS ? slot - this.#rings.hour.end : 0;
    for (let passed = slot - late; passed <= slot; passed++) this.#put(passed);
  }

  /** What is known from a moment of the wall clock on; `names`: of which series, all where null. */
  read(span: Span, fromMs: number | null, names: readonly string[] | null): HistoryAnswer {
    const ring = this.#rings[span];
    const stepMs = stepsSec[span] * SECOND_MS;
    const wallAtZeroMs = this.#deps.clock.wallMs() - this.#elapsedMs();
    const wanted = fromMs === null ? ring.first : Math.ceil((fromMs - wallAtZeroMs) / stepMs);
    const first = Math.min(Math.max(ring.first, wanted), ring.end);
    const shown = this.#series.flatMap(({ name, digits }, index) => {
      if (names !== null && !names.includes(name)) return [];
      const scale = 10 ** digits;
      const values = ring.read(index, first);
      return [[name, values.map((value) => value && Math.round(value * scale) / scale)] as const];
    });
    return {
      span,
      step_sec: stepsSec[span],
      from: new Date(wallAtZeroMs + first * stepMs).toISOString(),
      series: Object.fromEntries(shown),
    };
  }

  #elapsedMs(): number {
    const runMs = this.#deps.clock.monotonicMs();
    const aheadMs = this.#deps.uptimeMs() - runMs;
    if (aheadMs - this.#aheadMs > SLEPT_MS) this.#aheadMs = aheadMs;
    return runMs + this.#aheadMs;
  }

  #measure(sinceMs: number): void {
    this.#lastRaw.set(this.#raw);
    for (let index = 0; index < this.#series.length; index++) {
      const { kind, read } = this.#series[index]!;
      const raw = read();
      this.#raw[index] = raw;
      if (kind === 'gauge') this.#second[index] = raw;
      // What rose while nobody looked belongs to no second; a count that fell has lost what it counted.
      else if (sinceMs >= LATE_MS) this.#second[index] = Number.NaN;
      else this.#second[index] = Math.max(0, ((raw - this.#lastRaw[index]!) * SECOND_MS) / sinceMs);
    }
  }

  #put(second: number): void {
    const { hour } = this.#rings;
    const minuteBefore = Math.floor((hour.end - 1) / MINUTE_SEC);
    if (hour.end > 0 && Math.floor(second / MINUTE_SEC) !== minuteBefore) this.#endMinute(minuteBefore);
    hour.put(second, this.#second);
    for (let index = 0; index < this.#series.length; index++) {
      const value = this.#second[index]!;
      if (Number.isNaN(value)) continue;
      const sum = this.#minute[index]!;
      this.#minute[index] = this.#series[index]!.ofMinute === 'max' ? Math.max(sum, value) : sum + value;
      this.#known[index]! += 1;
    }
  }

  #endMinute(minute: number): void {
    for (let index = 0; index < this.#series.length; index++) {
      const known = this.#known[index]!;
      if (known === 0) this.#minute[index] = Number.NaN;
      else if (this.#series[index]!.ofMinute === 'mean') this.#minute[index]! /= known;
    }
    this.#rings.day.put(minute, this.#minute);
    this.#minute.fill(0);
    this.#known.fill(0);
  }
}
