import type { Recording } from '../list/recording.js';

/** A recording, and its parts in their order. */
export type Candidate = {
  readonly recording: Pick<Recording, 'box' | 'epoch' | 'startMs' | 'fileName'>;
  readonly count: number;
  wallMs(part: number): number;
  wallEndMs(part: number): number;
};

/** Parts [first, end) of one of the candidates. */
export type Run<Of> = { readonly of: Of; readonly first: number; readonly end: number };

/** What the same pictures may last longer in one recording than in another one. */
const INEXACT_MS = 1;
type Choice<Of> = {
  readonly of: Of;
  readonly isShown: Uint8Array;
  readonly startMs: number;
  /** Behind it nothing is the same as anything of it. */
  readonly endMs: number;
};

/** The order in which boxes' recordings of the same time count, the first one first. */
export const byRank = (
  { recording: a }: Pick<Candidate, 'recording'>,
  { recording: b }: Pick<Candidate, 'recording'>,
): number => {
  if (a.epoch !== b.epoch) return b.epoch - a.epoch;
  if (a.box !== b.box) return a.box < b.box ? -1 : 1;
  return a.startMs - b.startMs || (a.fileName < b.fileName ? -1 : 1);
};

/** The last part whose keyframe is no later than a moment; -1: there is none. */
const partAt = (of: Candidate, atMs: number): number => {
  let [low, high] = [0, of.count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (of.wallMs(middle) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

const lastingMs = (of: Candidate, part: number): number => of.wallEndMs(part) - of.wallMs(part);

/** A part begins where the one before ends: by the wall clock, as exactly as frames come. */
const FOLLOWS_WITHIN_MS = 30;

const follows = (of: Candidate, part: number): boolean =>
  part > 0 && Math.abs(of.wallMs(part) - of.wallEndMs(part - 1)) < FOLLOWS_WITHIN_MS;

/**
 * Whether two follow parts that are the same: as long as each other, and begun within half of that. Then they begin with the same
 * keyframe, however short one of them is that broke off.
 */
const followSame = (a: Candidate, partA: number, b: Candidate, partB: number): boolean => {
  if (!follows(a, partA) || !follows(b, partB)) return false;
  const lengthMs = lastingMs(a, partA - 1);
  const apartMs = Math.abs(a.wallMs(partA - 1) - b.wallMs(partB - 1));
  return Math.abs(lengthMs - lastingMs(b, partB - 1)) <= INEXACT_MS && apartMs < lengthMs / 2;
};

/** The part of another recording that begins with the same keyframe, as far as both boxes' clocks tell; -1: it has none. */
const sameIn = (other: Candidate, of: Candidate, part: number): number => {
  const startMs = of.wallMs(part);
  const before = partAt(other, startMs);
  if (before >= 0 && startMs - other.wallMs(before) < lastingMs(other, before) / 2) return before;
  const next = before + 1;
  if (next < other.count && other.wallMs(next) - startMs < lastingMs(of, part) / 2) return next;
  if (before === other.count - 1 && before >= 0 && followSame(other, before, of, part)) return before;
  return next < other.count && part === of.count - 1 && followSame(other, next, of, part) ? next : -1;
};

/** Up to where parts of others may be the same: had its last one lasted as long as the one before. */
const reachMs = (of: Candidate): number => {
  const last = of.count - 1;
  const endMs = of.wallEndMs(last);
  return last === 0 ? endMs : Math.max(endMs, of.wallMs(last) + lastingMs(of, last - 1));
};

/** What recordings that count more show of a time. */
class Above<Of extends Candidate> {
  readonly #choices: readonly Choice<Of>[];
  /** Those before it end before anything that is asked for now. */
  #from = 0;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(choices: readonly Choice<Of>[]) {
    this.#choices = choices.toSorted((a, b) => a.startMs - b.startMs);
  }

  /**
   * Whether they show what a part has. The last one of a recording that broke off doesn't where this is the same part, and goes on: it
   * is not shown then.
   */
  show(of: Of, part: number): boolean {
    const [startMs, endMs] = [of.wallMs(part), of.wallEndMs(part)];
    const middleMs = (startMs + endMs) / 2;
    if (startMs < this.#askedMs) this.#from = 0;
    this.#askedMs = startMs;
    while (this.#from < this.#choices.length && this.#choices[this.#from]!.endMs <= startMs) this.#from += 1;
    const shorter: Choice<Of>[] = [];
    for (let at = this.#from; at < this.#choices.length; at += 1) {
      const choice = this.#choices[at]!;
      if (choice.startMs > middleMs) break;
      const same = sameIn(choice.of, of, part);
      const isLast = same >= 0 && same === choice.of.count - 1;
      if (isLast && lastingMs(choice.of, same) + INEXACT_MS < endMs - startMs) shorter.push(choice);
      else if (same >= 0 ? choice.isShown[same] === 1 : showsAt(choice, middleMs)) return true;
    }
    for (const { isShown } of shorter) isShown[isShown.length - 1] = 0;
    return false;
  }
}

const showsAt = ({ of, isShown }: Choice<Candidate>, atMs: number): boolean => {
  const part = partAt(of, atMs);
  return part >= 0 && isShown[part] === 1 && of.wallEndMs(part) > atMs;
};

const runsOf = <Of extends Candidate>({ of, isShown }: Choice<Of>): Run<Of>[] => {
  const runs: Run<Of>[] = [];
  for (let first = 0; first < of.count; first += 1) {
    if (isShown[first] === 0) continue;
    let end = first + 1;
    while (end < of.count && isShown[end] === 1) end += 1;
    runs.push({ of, first, end });
    first = end;
  }
  return runs;
};

/**
 * Of recordings of one camera by several boxes what is shown of each, so that each moment is there once: of two boxes' that of the higher
 * epoch. Whole parts, as all boxes get the same keyframes, a little sooner or later: one is left out where its middle is shown by
 * another box's. What one box has twice, since its clock was set, stays.
 */
export const chooseParts = <Of extends Candidate>(candidates: readonly Of[]): Run<Of>[] => {
  const isOfOne = candidates.every(({ recording }) => recording.box === candidates[0]!.recording.box);
  if (isOfOne)
    return candidates.filter(({ count }) => count > 0).map((of) => ({ of, first: 0, end: of.count }));
  const choices: Choice<Of>[] = [];
  for (const of of candidates.filter(({ count }) => count > 0).sort(byRank)) {
    const [startMs, endMs] = [of.wallMs(0), reachMs(of)];
    const isShown = new Uint8Array(of.count).fill(1);
    const overlapping = choices.filter(
      (one) => one.of.recording.box !== of.recording.box && one.startMs < endMs && one.endMs > startMs,
    );
    const above = new Above(overlapping);
    for (let part = 0; part < of.count && overlapping.length > 0; part += 1)
      if (above.show(of, part)) isShown[part] = 0;
    choices.push({ of, isShown, startMs, endMs });
  }
  return choices
    .flatMap(runsOf)
    .sort((a, b) => a.of.wallMs(a.first) - b.of.wallMs(b.first) || byRank(a.of, b.of));
};
