import { endOf, type View } from './axis.js';
import type { Zone } from './zone.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HALF_HOUR_MS = HOUR_MS / 2;
const STEPS_MS: readonly number[] = [
  ...[100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7].map((days) => days * DAY_MS),
];
const MIN_LABEL_PX = 64;

export type Tick = {
  readonly timeMs: number;
  /** What the clocks show; empty: there is no room for it. */
  readonly label: string;
  /** Their offset where they show it twice. */
  readonly offset: string;
  /** A day begins. */
  readonly isDay: boolean;
};

/** The smallest step whose labels have room. */
export const stepOf = (view: View, widthPx: number): number => {
  const leastMs = (MIN_LABEL_PX / widthPx) * view.spanMs;
  return STEPS_MS.find((stepMs) => stepMs >= leastMs) ?? STEPS_MS.at(-1)!;
};

/** Moments at which the clocks show a multiple of the step. Days of 23 and 25 hours have one less, and one more. */
export const tickTimes = (view: View, stepMs: number, zone: Zone): number[] => {
  // Offsets are multiples of a quarter of an hour: below that, what is round in UTC is round everywhere.
  const everyMs = stepMs < HALF_HOUR_MS ? Math.min(stepMs, HALF_HOUR_MS / 2) : HALF_HOUR_MS / 2;
  const times: number[] = [];
  const firstMs = Math.ceil(view.fromMs / everyMs) * everyMs;
  for (let timeMs = firstMs; timeMs <= endOf(view); timeMs += everyMs) {
    const sinceMs = zone.sinceMidnightMs(timeMs);
    if (stepMs >= DAY_MS ? isDayTick(timeMs, sinceMs, stepMs, zone) : sinceMs % stepMs === 0)
      times.push(timeMs);
  }
  return times;
};

const isDayTick = (timeMs: number, sinceMs: number, stepMs: number, zone: Zone): boolean => {
  if (sinceMs !== 0) return false;
  const shownDays = Math.round((timeMs + zone.offsetMs(timeMs)) / DAY_MS);
  // Weeks begin on Mondays; the first day of all was a Thursday.
  return (shownDays + 3) % (stepMs / DAY_MS) === 0;
};

const dayLabels = new Map<string, Intl.DateTimeFormat>();
export const dayLabel = (timeMs: number, zone: Zone): string => {
  let format = dayLabels.get(zone.name);
  if (format === undefined) {
    const shape = { weekday: 'short', day: 'numeric', month: 'short' } as const;
    format = new Intl.DateTimeFormat('en-GB', { timeZone: zone.name, ...shape });
    dayLabels.set(zone.name, format);
  }
  return format.format(timeMs);
};

const labelAt = (timeMs: number, stepMs: number, zone: Zone): string => {
  if (stepMs >= 60_000) return zone.clock(timeMs, { seconds: false, withOffset: false });
  const text = zone.clock(timeMs, { withOffset: false });
  return stepMs < 1_000 ? `${text}.${Math.floor((timeMs % 1_000) / 100)}` : text;
};

export const ticksOf = (view: View, widthPx: number, zone: Zone): Tick[] => {
  const stepMs = stepOf(view, widthPx);
  const leastMs = (MIN_LABEL_PX / 1.6 / widthPx) * view.spanMs;
  let lastMs = Number.NEGATIVE_INFINITY;
  return tickTimes(view, stepMs, zone).map((timeMs) => {
    const isDay = zone.sinceMidnightMs(timeMs) === 0;
    if (timeMs - lastMs < leastMs) return { timeMs, label: '', offset: '', isDay };
    lastMs = timeMs;
    const label = isDay ? dayLabel(timeMs, zone) : labelAt(timeMs, stepMs, zone);
    const offset = zone.isTwice(timeMs) ? zone.clock(timeMs).slice(9) : '';
    return { timeMs, label, offset, isDay };
  });
};
