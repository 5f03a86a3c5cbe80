/** Some time during which nobody set the wall clock by hours; recordings are named by it. */
export type ClockEra = { readonly fromMs: number; readonly toMs: number };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Within this it is the same era; less is not worth an order of its own. */
const MAX_STEP_MS = 2 * HOUR_MS;
/** What was recorded in an era may end so long before its first look, or after its last one that was stored. */
const BEFORE_MS = MINUTE_MS;
const AFTER_MS = HOUR_MS;
/** A clock that was ahead for longer was believed meanwhile (trusted-time.ts). */
const MAX_AHEAD_MS = 20 * HOUR_MS;
/** No clock is right that tells less. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
/** A machine that is off each night has one a day. What is older than all of them goes by its name. */
const MAX_ERAS = 64;

const isSpan = (span: unknown): span is [number, number] =>
  Array.isArray(span) && span.length === 2 && span.every(Number.isFinite);

const parse = (text: string | null): ClockEra[] => {
  try {
    const spans: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(spans) ? spans.filter(isSpan).map(([fromMs, toMs]) => ({ fromMs, toMs })) : [];
  } catch {
    return [];
  }
};

/** The eras of the wall clock in the order in which they were, over restarts. */
export class ClockEras {
  #list: readonly ClockEra[];

  /** `stored`: the text of the last run. */
  constructor(stored: string | null) {
    this.#list = parse(stored);
  }

  get list(): readonly ClockEra[] {
    return this.#list;
  }

  /** For the next run. */
  get text(): string {
    return JSON.stringify(this.#list.map(({ fromMs, toMs }) => [fromMs, toMs]));
  }

  /** Looks at the clock, every few minutes at least; returns whether an era began. */
  look(wallMs: number): boolean {
    const last = this.#list.at(-1);
    if (last !== undefined && Math.abs(wallMs - last.toMs) <= MAX_STEP_MS) {
      const era = { fromMs: Math.min(last.fromMs, wallMs), toMs: Math.max(last.toMs, wallMs) };
      this.#list = [...this.#list.slice(0, -1), era];
      return false;
    }
    this.#list = [...this.#list, { fromMs: wallMs, toMs: wallMs }].slice(-MAX_ERAS);
    return true;
  }
}

/** By how much an era's clock was wrong, as what came before and behind it tells; `nextMs`: when the next one began. */
const shiftOf = (era: ClockEra, before: ClockEra | undefined, nextMs: number): number => {
  const isBehind = before === undefined ? era.toMs < EARLIEST_MS : era.fromMs < before.toMs;
  const isAhead = before === undefined || era.fromMs > before.toMs;
  if (isBehind && nextMs > era.toMs) return nextMs - era.toMs;
  return isAhead && nextMs < era.toMs && era.toMs - era.fromMs <= MAX_AHEAD_MS ? nextMs - era.toMs : 0;
};

/**
 * When recordings were made, whatever the clock said that named them. One that was behind (1970, until the network tells
 * the time) or ahead for a while makes files that would be the oldest or the newest of all: they are of the time just
 * before the clock was set right.
 */
export class EraOrder {
  readonly #eras: readonly ClockEra[];
  readonly #shiftsMs: number[];

  constructor(eras: readonly ClockEra[]) {
    this.#eras = eras;
    this.#shiftsMs = eras.map(() => 0);
    for (let at = eras.length - 2; at >= 0; at -= 1) {
      const nextMs = eras[at + 1]!.fromMs + this.#shiftsMs[at + 1]!;
      this.#shiftsMs[at] = shiftOf(eras[at]!, eras[at - 1], nextMs);
    }
  }

  /** The number of the last era that a recording can be of by the end in its name; -1: none, it is older than all. */
  eraOf(endMs: number): number {
    return this.#eras.findLastIndex(
      ({ fromMs, toMs }) => endMs >= fromMs - BEFORE_MS && endMs <= toMs + AFTER_MS,
    );
  }

  /** When a recording ended by a clock that was set right. */
  rightEndMs(endMs: number): number {
    return endMs + (this.#shiftsMs[this.eraOf(endMs)] ?? 0);
  }
}
