import { addDays, offsetMsAt, offsetText } from '../../data/zones.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** All offsets in use are multiples of this, and change at multiples of it. */
const QUARTER_MS = 15 * MINUTE_MS;
/** No zone is farther from UTC. */
const MOST_OFFSET_MS = 16 * HOUR_MS;
/** Longer than any clock was ever set by, and shorter than between two such times. */
const AROUND_MS = 3 * HOUR_MS;
const MAX_KEPT = 4_096;

/** A day of the calendar: 2026-11-21. */
export type Day = string;

/**
 * What the clocks of a place show: everything inside is UTC, and this is how it is told. Offsets are remembered: a tape is
 * drawn up to 60 times a second.
 */
export class Zone {
  readonly name: string;
  readonly #offsets = new Map<number, number>();

  /** Throws where the browser doesn't know the name. */
  constructor(name: string) {
    this.name = name;
    offsetMsAt(0, name);
  }

  /** What its clocks are ahead of UTC. */
  offsetMs(timeMs: number): number {
    const quarter = Math.floor(timeMs / QUARTER_MS);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const offsetMs = offsetMsAt(quarter * QUARTER_MS, this.name);
    if (this.#offsets.size >= MAX_KEPT) this.#offsets.clear();
    this.#offsets.set(quarter, offsetMs);
    return offsetMs;
  }

  /** A moment whose UTC fields are what the clocks show. */
  #shown(timeMs: number): Date {
    return new Date(timeMs + this.offsetMs(timeMs));
  }

  /** How far the clocks are into their day. */
  sinceMidnightMs(timeMs: number): number {
    const shownMs = timeMs + this.offsetMs(timeMs);
    return shownMs - Math.floor(shownMs / DAY_MS) * DAY_MS;
  }

  dayOf(timeMs: number): Day {
    return this.#shown(timeMs).toISOString().slice(0, 10);
  }

  /** The first moment of a day, be it that clocks skip midnight. */
  startOfDay(day: Day): number {
    const aboutMs = Date.parse(`${day}T00:00:00Z`);
    let before = Math.floor((aboutMs - MOST_OFFSET_MS) / QUARTER_MS);
    let after = Math.ceil((aboutMs + MOST_OFFSET_MS) / QUARTER_MS);
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.dayOf(middle * QUARTER_MS) >= day) after = middle;
      else before = middle;
    }
    return after * QUARTER_MS;
  }

  /** From its first moment to the next day's: 23, 24 or 25 hours. */
  boundsOf(day: Day): { readonly fromMs: number; readonly toMs: number } {
    return { fromMs: this.startOfDay(day), toMs: this.startOfDay(addDays(day, 1)) };
  }

  /** Whether the clocks show the same time at another moment, too. */
  isTwice(timeMs: number): boolean {
    const offsetMs = this.offsetMs(timeMs);
    return [timeMs - AROUND_MS, timeMs + AROUND_MS].some((aroundMs) => {
      const otherMs = this.offsetMs(aroundMs);
      return otherMs !== offsetMs && this.offsetMs(timeMs + offsetMs - otherMs) === otherMs;
    });
  }

  /** "02:14:07"; with `withOffset` "02:14:07 +01:00" where that time comes twice. */
  clock(timeMs: number, { seconds = true, withOffset = true } = {}): string {
    const text = this.#shown(timeMs)
      .toISOString()
      .slice(11, seconds ? 19 : 16);
    return withOffset && this.isTwice(timeMs) ? `${text} ${offsetText(timeMs, this.name)}` : text;
  }

  /** "2026-11-21 02:14:07", as it is typed; the offset is told apart. */
  dateAndClock(timeMs: number): string {
    return `${this.dayOf(timeMs)} ${this.clock(timeMs)}`;
  }

  /** The moment at which the clocks show this, the first of two; what they skip is counted on from before. */
  momentOf(day: Day, sinceMidnightMs: number): number {
    const shownMs = Date.parse(`${day}T00:00:00Z`) + sinceMidnightMs;
    const earlier = shownMs - this.offsetMs(shownMs - MOST_OFFSET_MS);
    const later = shownMs - this.offsetMs(shownMs + MOST_OFFSET_MS);
    const isShown = (timeMs: number): boolean => timeMs + this.offsetMs(timeMs) === shownMs;
    const found = [earlier, later].filter(isShown).sort((a, b) => a - b);
    return found[0] ?? earlier;
  }
}

const zones = new Map<string, Zone>();

/** The same one for the same name; a name that this browser doesn't know is shown as UTC. */
export const zoneOf = (name: string): Zone => {
  const known = zones.get(name);
  if (known !== undefined) return known;
  let zone: Zone;
  try {
    zone = new Zone(name);
  } catch {
    zone = new Zone('UTC');
  }
  zones.set(name, zone);
  return zone;
};
