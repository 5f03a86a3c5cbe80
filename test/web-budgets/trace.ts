import type { WatchedPage } from './stage.js';

type TraceEvent = {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly args?: { readonly name?: string };
};

const inside = (outer: TraceEvent, inner: TraceEvent): boolean =>
  inner.tid === outer.tid &&
  inner.pid === outer.pid &&
  inner.ts >= outer.ts &&
  inner.ts <= outer.ts + (outer.dur ?? 0);

export type FrameTimes = {
  /** Scripts, styles, layout, paint: what the app can do something about. */
  readonly workMs: number[];
  /** The browser's own hand-over to its compositor: without a graphics chip it draws canvases in it, pixel by pixel. */
  readonly commitMs: number[];
};

/** How long the page's main thread was busy with each frame while something was done. */
export const frameTimes = async (
  { page, context }: WatchedPage,
  act: () => Promise<void>,
): Promise<FrameTimes> => {
  const browser = context.browser();
  if (browser === null) throw new Error('this browser has gone');
  const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline'];
  await browser.startTracing(page, { categories });
  await act();
  const trace = (await browser.stopTracing()).toString();
  const { traceEvents } = JSON.parse(trace) as { traceEvents: TraceEvent[] };
  const named = (wanted: string): TraceEvent[] => traceEvents.filter(({ name }) => name === wanted);
  const frames = named('FireAnimationFrame');
  const commits = named('Commit');
  const tasks = named('RunTask').filter((task) => frames.some((frame) => inside(task, frame)));
  const commitMs = tasks.map((task) =>
    commits.filter((commit) => inside(task, commit)).reduce((total, { dur = 0 }) => total + dur / 1_000, 0),
  );
  return { workMs: tasks.map(({ dur = 0 }, nth) => dur / 1_000 - (commitMs[nth] ?? 0)), commitMs };
};
