/** From one moment to another, both included. */
export type TimeSpan = { readonly fromMs: number; readonly toMs: number };

/** When events were, as far as anybody knows. */
export type EventTimes = {
  /** Null: it goes on. */
  readonly events: readonly { readonly fromMs: number; readonly toMs: number | null }[];
  /** Whatever began before this may be missing. */
  readonly sinceMs: number;
};

/** Events of a camera that have some of a time; null: nobody knows now. */
export type EventTimesOf = (cameraId: string, fromMs: number, toMs: number) => EventTimes | null;

/** What belongs to an event: somebody comes into the picture, and leaves it. */
export const PRE_ROLL_MS = 5_000;
export const POST_ROLL_MS = 10_000;
/** What is shown as no gap (intervals.ts) is none. */
const LEAST_HOLE_MS = 2_000;

/** Spans in order, with those as one that overlap or nearly do. */
export const joined = (spans: readonly TimeSpan[]): TimeSpan[] => {
  const result: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of [...spans].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = result.at(-1);
    if (last !== undefined && fromMs - last.toMs <= LEAST_HOLE_MS) last.toMs = Math.max(last.toMs, toMs);
    else result.push({ fromMs, toMs });
  }
  return result;
};

/** The times of events with what belongs to them; what goes on has no end. */
export const spansOf = (events: EventTimes['events']): TimeSpan[] =>
  joined(
    events.map(({ fromMs, toMs }) => ({
      fromMs: fromMs - PRE_ROLL_MS,
      toMs: (toMs ?? Number.MAX_SAFE_INTEGER) + POST_ROLL_MS,
    })),
  );

/** Stretches of a time that none of the spans has; they are in order. */
export const holesIn = ({ fromMs, toMs }: TimeSpan, spans: readonly TimeSpan[]): TimeSpan[] => {
  const holes: TimeSpan[] = [];
  let atMs = fromMs;
  for (const span of spans) {
    if (span.toMs < atMs) continue;
    if (Math.min(span.fromMs, toMs) > atMs) holes.push({ fromMs: atMs, toMs: Math.min(span.fromMs, toMs) });
    atMs = span.toMs;
  }
  if (toMs > atMs) holes.push({ fromMs: atMs, toMs });
  return holes;
};

/** The longest of these. */
export const longestHoleMs = (time: TimeSpan, spans: readonly TimeSpan[]): number =>
  holesIn(time, spans).reduce((longestMs, { fromMs, toMs }) => Math.max(longestMs, toMs - fromMs), 0);
