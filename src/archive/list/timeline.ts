import type { Clock } from '../../base/clock.js';
import { holesIn, joined, type TimeSpan } from '../keep/kept-spans.js';
import type { BrokenFile } from './broken-files.js';
import { type Coverage, coverageOf, type GapReason, JOIN_MS, type Span } from './intervals.js';
import type { Recording } from './recording.js';

export type TimelineDeps = {
  readonly clock: Clock;
  readonly recordings: {
    list(cameraId: string): Promise<readonly Recording[]>;
    broken(cameraId: string): Promise<readonly BrokenFile[]>;
    /** Boxes that may have more than is listed. */
    unheard(cameraId: string): readonly string[];
  };
  /** Why a camera is not being recorded now; null: it is. */
  readonly whyNot: (cameraId: string) => GapReason | null;
};

/** What was recorded, why not, and what was but can't be played. */
export type TimelineSpan = Coverage & {
  readonly broken: readonly BrokenFile[];
  /** What only boxes have that are away, or may have as nobody else has it; nothing: there is none. */
  readonly away?: readonly AwaySpan[];
};

type AwaySpan = Span & { readonly box: string };

/** Of each box that is away: times of its recordings in their order, as one where they go on. */
const awayIn = (list: readonly Recording[], fromMs: number, toMs: number): AwaySpan[][] => {
  const spans = new Map<string, { box: string; startMs: number; endMs: number }[]>();
  for (const { isAway, box, startMs, endMs } of list) {
    if (isAway !== true || startMs >= toMs || endMs <= fromMs) continue;
    const ofBox = spans.get(box) ?? [];
    spans.set(box, ofBox);
    const last = ofBox.at(-1);
    if (last !== undefined && startMs - last.endMs <= JOIN_MS)
      last.endMs = Math.min(Math.max(last.endMs, endMs), toMs);
    else ofBox.push({ box, startMs: Math.max(startMs, fromMs), endMs: Math.min(endMs, toMs) });
  }
  return [...spans.values()];
};

/** With those just before and after: what nearly follows on them is no gap. */
const shownIn = (list: readonly Recording[], fromMs: number, toMs: number): readonly Recording[] =>
  list.filter(
    ({ isAway, startMs, endMs }) => isAway !== true && startMs < toMs + JOIN_MS && endMs > fromMs - JOIN_MS,
  );

const timeOf = ({ startMs, endMs }: Span): TimeSpan => ({ fromMs: startMs, toMs: endMs });

/** What of these, box by box, nothing shows that can be played, nor a box before it: each stretch once. */
const onlyThere = (shown: readonly Recording[], boxes: readonly (readonly AwaySpan[])[]): AwaySpan[] => {
  let known = joined(shown.map(timeOf));
  const only: AwaySpan[] = [];
  for (const spans of boxes) {
    // Both are in order: a month of thousands is gone through once a box.
    let [first, next] = [0, 0];
    for (const { box, startMs, endMs } of spans) {
      while (first < known.length && known[first]!.toMs <= startMs) first += 1;
      next = Math.max(next, first);
      while (next < known.length && known[next]!.fromMs < endMs) next += 1;
      for (const { fromMs, toMs } of holesIn({ fromMs: startMs, toMs: endMs }, known.slice(first, next)))
        only.push({ box, startMs: fromMs, endMs: toMs });
    }
    known = joined([...known, ...spans.map(timeOf)]);
  }
  return only.sort((a, b) => a.startMs - b.startMs);
};

/** When a camera was recorded. */
export class Timeline {
  readonly #deps: TimelineDeps;

  constructor(deps: TimelineDeps) {
    this.#deps = deps;
  }

  /** What is recorded of [fromMs, toMs), and what isn't, as far as that is past. */
  async intervals(cameraId: string, fromMs: number, toMs: number): Promise<TimelineSpan> {
    const { clock, recordings, whyNot } = this.#deps;
    const list = await recordings.list(cameraId);
    const broken = await recordings.broken(cameraId);
    const nowMs = clock.wallMs();
    const coverage = coverageOf(list, { fromMs, toMs, nowMs }, whyNot(cameraId));
    const unheard = fromMs < nowMs ? recordings.unheard(cameraId) : [];
    const boxes = [
      ...awayIn(list, fromMs, toMs),
      ...unheard.map((box) => [{ box, startMs: fromMs, endMs: Math.min(toMs, nowMs) }]),
    ];
    const away = boxes.length === 0 ? [] : onlyThere(shownIn(list, fromMs, toMs), boxes);
    return {
      ...coverage,
      ...(away.length > 0 && { away }),
      broken: broken.filter(({ startMs, endMs }) => startMs < toMs && endMs >= fromMs),
    };
  }
}
