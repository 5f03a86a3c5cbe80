const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** What of the time is seen: linear in UTC, whatever clocks do. */
export type View = { readonly fromMs: number; readonly spanMs: number };

export const MIN_SPAN_MS = 2 * SECOND_MS;
export const MAX_SPAN_MS = 31 * DAY_MS;
/** How much of what is still to come may be seen behind now. */
const AHEAD_OF_NOW = 0.1;

export const timeAt = (view: View, x: number, widthPx: number): number =>
  view.fromMs + (x / widthPx) * view.spanMs;

export const xOf = (view: View, timeMs: number, widthPx: number): number =>
  ((timeMs - view.fromMs) / view.spanMs) * widthPx;

export const endOf = ({ fromMs, spanMs }: View): number => fromMs + spanMs;

/** Not into the future, but for a little. */
export const bounded = (view: View, nowMs: number): View => {
  const spanMs = Math.min(Math.max(view.spanMs, MIN_SPAN_MS), MAX_SPAN_MS);
  const lastMs = nowMs + spanMs * AHEAD_OF_NOW - spanMs;
  return { fromMs: Math.min(Math.max(view.fromMs, 0), lastMs), spanMs };
};

/** Larger factors show more; what is at `anchorMs` stays where it is. */
export const zoomed = (view: View, factor: number, anchorMs: number): View => {
  const spanMs = Math.min(Math.max(view.spanMs * factor, MIN_SPAN_MS), MAX_SPAN_MS);
  const share = (anchorMs - view.fromMs) / view.spanMs;
  return { fromMs: anchorMs - share * spanMs, spanMs };
};

export const panned = (view: View, byMs: number): View => ({ ...view, fromMs: view.fromMs + byMs });

/** Two fingers: both stay on what they touched. */
export const pinched = (
  start: View,
  from: readonly [number, number],
  to: readonly [number, number],
  widthPx: number,
): View => {
  const before = Math.max(Math.abs(from[1] - from[0]), 1);
  const after = Math.max(Math.abs(to[1] - to[0]), 1);
  const anchorMs = timeAt(start, (from[0] + from[1]) / 2, widthPx);
  const grown = zoomed(start, before / after, anchorMs);
  const shiftPx = (to[0] + to[1]) / 2 - (from[0] + from[1]) / 2;
  return panned(grown, (-shiftPx / widthPx) * grown.spanMs);
};

/** The same, moved by as little as brings a moment into it; a page on where play runs out of it. */
export const following = (view: View, timeMs: number): View => {
  if (timeMs >= view.fromMs && timeMs <= endOf(view)) return view;
  const share = timeMs > endOf(view) ? 0.1 : 0.9;
  return { ...view, fromMs: timeMs - share * view.spanMs };
};
