import { POST_ROLL_MS, PRE_ROLL_MS, type TimeSpan } from './kept-spans.js';
import { MOST_SET_BACK_MS } from './set-clock.js';

/** Pictures that were on their way to a detector when it failed are lost to it with it. */
const ON_THEIR_WAY_MS = 10_000;

/**
 * Since when, and until when, all that there was to see at a camera was seen without a break. `nothing`: it isn't now;
 * `unknown`: nobody knows yet who sees it.
 */
export type Watched = TimeSpan | 'nothing' | 'unknown';

/**
 * When nobody saw what happened at a camera, as far as its recordings aren't decided on: from what was seen last until
 * the last look that saw nothing, or until it was seen again. Times apart are one time with what is between them: they are rare, and what they keep is little.
 */
export class BlindTimes {
  readonly #startMs: number;
  readonly #sawMs = new Map<string, number>();
  readonly #times = new Map<string, TimeSpan>();
  /** Cameras of which all was seen only since then. */
  readonly #isBounded = new Set<string>();

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  /**
   * What an earlier service remembered. Nobody saw what was recorded since it saw last, at its end or after it was killed; by
   * which clock that was, be it this one or one that was ahead, is not known.
   */
  restore(cameraId: string, time: TimeSpan | null, seenMs: number): void {
    if (time !== null) this.#times.set(cameraId, time);
    const startMs = this.#startMs;
    this.#add(cameraId, { fromMs: Math.min(seenMs, startMs), toMs: Math.max(seenMs, startMs) });
  }

  /** Until when all was seen, as far as it is certain by now. */
  seenMs(cameraId: string): number {
    return this.#sawMs.get(cameraId) ?? this.#startMs;
  }

  /** The clock is right now: where a time ends long after, it was ahead before. */
  clockIsRight(cameraId: string, nowMs: number): void {
    const time = this.#times.get(cameraId);
    if (time !== undefined && time.toMs > nowMs + MOST_SET_BACK_MS)
      this.#times.set(cameraId, { fromMs: Math.min(time.fromMs, nowMs), toMs: nowMs });
  }

  /** What a look found. */
  look(cameraId: string, watched: Watched, nowMs: number): void {
    if (watched === 'unknown') return;
    // The clock may have been set back meanwhile.
    const sawMs = Math.min(this.seenMs(cameraId), nowMs);
    if (watched === 'nothing') {
      this.#add(cameraId, { fromMs: sawMs, toMs: nowMs });
      return;
    }
    const { fromMs, toMs } = watched;
    // It is seen otherwise from now on: whoever saw it before tells no more of what it had yet to tell.
    const isBounded = fromMs > Number.NEGATIVE_INFINITY;
    if (this.#isBounded.has(cameraId) && !isBounded) this.#add(cameraId, { fromMs: sawMs, toMs: nowMs });
    this.#isBounded[isBounded ? 'add' : 'delete'](cameraId);
    if (fromMs > sawMs) this.#add(cameraId, { fromMs: sawMs, toMs: fromMs });
    this.#sawMs.set(cameraId, Math.max(fromMs, Math.min(toMs, nowMs) - ON_THEIR_WAY_MS));
  }

  #add(cameraId: string, { fromMs, toMs }: TimeSpan): void {
    const before = this.#times.get(cameraId);
    this.#times.set(cameraId, {
      fromMs: Math.min(before?.fromMs ?? fromMs, fromMs),
      toMs: Math.max(before?.toMs ?? toMs, toMs),
    });
  }

  /** Whether an event that nobody saw could have some of this time, or of what belongs to it. */
  has(cameraId: string, { fromMs, toMs }: TimeSpan): boolean {
    const time = this.#times.get(cameraId);
    return time !== undefined && fromMs <= time.toMs + POST_ROLL_MS && toMs >= time.fromMs - PRE_ROLL_MS;
  }

  /** Recordings that begin before are decided on. */
  pass(cameraId: string, decidedMs: number): void {
    const time = this.#times.get(cameraId);
    if (time !== undefined && decidedMs > time.toMs + POST_ROLL_MS) this.#times.delete(cameraId);
  }

  of(cameraId: string): TimeSpan | null {
    return this.#times.get(cameraId) ?? null;
  }

  delete(cameraId: string): void {
    this.#sawMs.delete(cameraId);
    this.#isBounded.delete(cameraId);
    this.#times.delete(cameraId);
  }
}
