import { type Lane, type Span, stateAt } from './lane.js';

/** A time that is picked out, half of it if one end is not set yet. */
export type Selection = { readonly fromMs: number | null; readonly toMs: number | null };

export const NO_SELECTION: Selection = { fromMs: null, toMs: null };

/** I: what ended before it ends no more. */
export const withStart = ({ toMs }: Selection, fromMs: number): Selection => ({
  fromMs,
  toMs: toMs !== null && toMs > fromMs ? toMs : null,
});

/** O */
export const withEnd = ({ fromMs }: Selection, toMs: number): Selection => ({
  fromMs: fromMs !== null && fromMs < toMs ? fromMs : null,
  toMs,
});

export const between = (aMs: number, bMs: number): Selection =>
  aMs === bMs ? NO_SELECTION : { fromMs: Math.min(aMs, bMs), toMs: Math.max(aMs, bMs) };

/** The selected time; null: it has no two ends. */
export const spanOf = ({ fromMs, toMs }: Selection): Span | null =>
  fromMs === null || toMs === null ? null : [fromMs, toMs];

/** Whether it is known that nothing of a time was recorded. */
export const isEmpty = (lane: Lane, [fromMs, toMs]: Span): boolean => {
  for (let atMs = fromMs; atMs < toMs; ) {
    const state = stateAt(lane, atMs);
    if (state.kind !== 'gap') return false;
    atMs = state.toMs;
  }
  return true;
};

export const durationText = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours, minutes, rest] = parts as [number, number, number];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
};
