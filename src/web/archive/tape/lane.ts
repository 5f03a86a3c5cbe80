/** [from, to] in ms since 1970. */
export type Span = readonly [fromMs: number, toMs: number];
export type GapSpan = readonly [fromMs: number, toMs: number, reason: string];

/** Reasons of gaps that are none, or need not be, with the name of the box: that has it and is away, or that may have it. */
const [AWAY, UNHEARD] = ['box_away ', 'box_unheard '];

/** That box, and whether it has it for sure; null: the gap has another reason. */
export const boxAway = (reason: string): { readonly box: string; readonly isSure: boolean } | null => {
  for (const [prefix, isSure] of [
    [AWAY, true],
    [UNHEARD, false],
  ] as const)
    if (reason.startsWith(prefix)) return { box: reason.slice(prefix.length), isSure };
  return null;
};

/** How much there was of something, by bucket. */
export type Buckets = {
  readonly fromMs: number;
  readonly bucketMs: number;
  readonly values: readonly number[];
};

/** What there is of one camera, in order of time. */
export type Lane = {
  readonly recorded: readonly Span[];
  readonly gaps: readonly GapSpan[];
  readonly motion: readonly Buckets[];
  readonly labels: ReadonlyMap<string, readonly Buckets[]>;
};

export const EMPTY_LANE: Lane = { recorded: [], gaps: [], motion: [], labels: new Map() };

/** What was cut where one answer ends and the next begins belongs together. */
const joined = <Piece extends Span | GapSpan>(pieces: readonly Piece[]): Piece[] => {
  const whole: Piece[] = [];
  for (const piece of pieces) {
    const last = whole.at(-1);
    if (last !== undefined && last[2] === piece[2] && piece[0] <= last[1] + 1) {
      if (piece[1] > last[1])
        whole[whole.length - 1] = [last[0], piece[1], ...last.slice(2)] as unknown as Piece;
    } else whole.push(piece);
  }
  return whole;
};

/** What is left of spans without those; all are in order. */
const without = <Piece extends Span | GapSpan>(
  spans: readonly Piece[],
  gone: readonly (Span | GapSpan)[],
): Piece[] => {
  const left: Piece[] = [];
  for (const [startMs, toMs, ...rest] of spans) {
    let fromMs = startMs;
    const keep = (untilMs: number): void => {
      if (fromMs < untilMs) left.push([fromMs, untilMs, ...rest] as unknown as Piece);
    };
    for (const [goneFromMs, goneToMs] of gone) {
      if (goneToMs <= fromMs || goneFromMs >= toMs) continue;
      keep(goneFromMs);
      fromMs = goneToMs;
    }
    keep(toMs);
  }
  return left;
};

/**
 * Where nothing can be shown for now: play passes that by as it does any gap. `away`: what only boxes have that are away, which is in
 * `recorded`, too, or may have, which isn't.
 */
export const withAway = (
  { recorded, gaps }: Pick<Lane, 'recorded' | 'gaps'>,
  away: readonly GapSpan[],
): Pick<Lane, 'recorded' | 'gaps'> => {
  if (away.length === 0) return { recorded, gaps };
  const unsure = without(away, recorded);
  const named = [
    ...without(away, unsure).map(([fromMs, toMs, box]): GapSpan => [fromMs, toMs, AWAY + box]),
    ...unsure.map(([fromMs, toMs, box]): GapSpan => [fromMs, toMs, UNHEARD + box]),
  ];
  return {
    recorded: without(recorded, away),
    gaps: [...without(gaps, away), ...named].sort(([a], [b]) => a - b),
  };
};

/** One lane of several that follow one another. */
export const joinLanes = (lanes: readonly Lane[]): Lane => {
  const labels = new Map<string, Buckets[]>();
  for (const lane of lanes)
    for (const [label, buckets] of lane.labels) labels.set(label, [...(labels.get(label) ?? []), ...buckets]);
  return {
    recorded: joined(lanes.flatMap(({ recorded }) => recorded)),
    gaps: joined(lanes.flatMap(({ gaps }) => gaps)),
    motion: lanes.flatMap(({ motion }) => motion),
    labels,
  };
};

/** The index of the last span that begins at or before a moment; -1: there is none. */
const lastBefore = (spans: readonly (Span | GapSpan)[], timeMs: number): number => {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]![0] <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

export type LaneState =
  | { readonly kind: 'recorded'; readonly fromMs: number; readonly toMs: number }
  | { readonly kind: 'gap'; readonly fromMs: number; readonly toMs: number; readonly reason: string }
  | { readonly kind: 'unknown' };

/** Why nothing was recorded at a moment; null: it was, or that isn't known. */
export const gapAt = (lane: Lane, timeMs: number): GapSpan | null => {
  const recorded = lane.recorded[lastBefore(lane.recorded, timeMs)];
  if (recorded !== undefined && timeMs < recorded[1]) return null;
  const gap = lane.gaps[lastBefore(lane.gaps, timeMs)];
  return gap !== undefined && timeMs < gap[1] ? gap : null;
};

/** Recorded, not recorded and why, or not known: not asked for yet, or still to come. */
export const stateAt = (lane: Lane, timeMs: number): LaneState => {
  const recorded = lane.recorded[lastBefore(lane.recorded, timeMs)];
  if (recorded !== undefined && timeMs < recorded[1])
    return { kind: 'recorded', fromMs: recorded[0], toMs: recorded[1] };
  const gap = gapAt(lane, timeMs);
  return gap === null ? { kind: 'unknown' } : { kind: 'gap', fromMs: gap[0], toMs: gap[1], reason: gap[2] };
};

/** Where the known recordings of a lane end; null: none is known. */
export const endOfLane = ({ recorded }: Lane): number | null => recorded.at(-1)?.[1] ?? null;

/** The last recorded moment up to `timeMs`; null: none is known. */
export const recordedUntil = (lane: Lane, timeMs: number): number | null => {
  const here = lane.recorded[lastBefore(lane.recorded, timeMs)];
  return here === undefined ? null : Math.min(here[1], timeMs);
};

/** The first recorded moment from `timeMs` on; null: none is known. */
export const recordedFrom = (lane: Lane, timeMs: number): number | null => {
  const at = lastBefore(lane.recorded, timeMs);
  const here = lane.recorded[at];
  if (here !== undefined && timeMs < here[1]) return timeMs;
  return lane.recorded[at + 1]?.[0] ?? null;
};

/**
 * Where play goes on if it is known that no camera has anything at `timeMs`; null: one has, or it isn't known. What
 * comes there may not be known either.
 */
export const skipTo = (lanes: readonly Lane[], timeMs: number, isBack = false): number | null => {
  let atMs = timeMs;
  for (;;) {
    const states = lanes.map((lane) => stateAt(lane, atMs));
    const gaps = states.filter((state) => state.kind === 'gap');
    if (gaps.length < lanes.length || lanes.length === 0) return atMs === timeMs ? null : atMs;
    atMs = isBack
      ? Math.max(...gaps.map(({ fromMs }) => fromMs)) - 1
      : Math.min(...gaps.map(({ toMs }) => toMs));
  }
};

/** The labels that were seen at a moment. */
export const labelsAt = (lane: Lane, timeMs: number): string[] =>
  [...lane.labels].flatMap(([label, all]) =>
    all.some(({ fromMs, bucketMs, values }) => (values[Math.floor((timeMs - fromMs) / bucketMs)] ?? 0) > 0)
      ? [label]
      : [],
  );
