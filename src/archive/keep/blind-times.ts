import { POST_ROLL_MS, PRE_ROLL_MS, type TimeSpan } from './kept-spans.js';

/** Pictures that were on their way to a detector when it failed are lost to it with it. */
const ON_THEIR_WAY_MS = 10_000;

/**
 * When nobody saw what happened at a camera, as far as its recordings aren't decided on: from the last look that saw until
 * the last one that didn't. Times apart are one time with what is between them: they are rare, and what they keep is little.
 */
export class BlindTimes {
  readonly #startMs: number;
  readonly #sawMs = new Map<string, number>();
  readonly #times = new Map<string, TimeSpan>();

  /** `startMs`: of what was recorded before, an earlier service told when it saw nothing. */
  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  restore(cameraId: string, time: TimeSpan): void {
    this.#times.set(cameraId, time);
  }

  saw(cameraId: string, nowMs: number): void {
    this.#sawMs.set(cameraId, nowMs - ON_THEIR_WAY_MS);
  }

  sawNothing(cameraId: string, nowMs: number): void {
    const before = this.#times.get(cameraId);
    // The clock may have been set back meanwhile.
    const fromMs = Math.min(this.#sawMs.get(cameraId) ?? this.#startMs, nowMs);
    this.#times.set(cameraId, {
      fromMs: Math.min(before?.fromMs ?? fromMs, fromMs),
      toMs: Math.max(before?.toMs ?? nowMs, nowMs),
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
    this.#times.delete(cameraId);
  }
}
