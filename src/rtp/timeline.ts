import type { MonotonicMs, Ticks } from '../base/clock.js';

/** A step back of up to this is B-frames, or a clock that was nudged; beyond it the camera's clock has jumped. */
export const MAX_BACKWARD_MS = 2_000;
/** A step forward may exceed the time that passed by this much: the burst that many cameras start with. */
export const MAX_FORWARD_MS = 10_000;
/** Frames may make up for up to this much of a stall, in however few steps. */
export const MAX_BACKLOG_MS = 60_000;
/** After a change of SSRC time goes on if it fits this closely: Uniview changes it with every GOP. */
export const MAX_SOURCE_STEP_MS = 1_000;
/** So many repeats of one timestamp are a camera without a clock: time is taken from arrival. */
export const EQUAL_RUN_FRAMES = 4;

/** What a track's timestamps mean. */
export type TimelineOptions = {
  readonly clockRateHz: number;
  /** Audio: a frame never goes before the last one. Video may step back, in decode order with B-frames. */
  readonly isOrdered: boolean;
};

/**
 * Places the frames of one track: 32-bit RTP time in, ticks on the camera's axis out, through wraps, jumps
 * and reconnects. Never refuses a frame, never gives two in a row the same time. The policies and their numbers are in
 * this folder's README.
 */
export class Timeline {
  readonly clockRateHz: number;
  /** Of the frame placed last: its time doesn't follow from the one before. */
  discontinuity = false;
  /** Of the frame placed last: how far the camera's clock was off when it jumped, else 0. */
  jumpTicks = 0;
  /** Times that the camera's clock jumped while it was streaming. */
  jumps = 0;
  readonly #isOrdered: boolean;
  readonly #axis: TimeAxis;
  #state: 'new' | 'running' | 'restart' | 'source' = 'new';
  #lastRtp = 0;
  /** Where `#lastRtp` is on the axis; what a frame was given may be a tick or two later. */
  #lastPts = 0;
  #lastArrivalMs = 0;
  #givenPts = -1;
  #maxPts = -1;
  #backlogTicks = 0;
  #equalRun = 0;

  constructor(options: TimelineOptions, axis: TimeAxis) {
    this.clockRateHz = options.clockRateHz;
    this.#isOrdered = options.isOrdered;
    this.#axis = axis;
  }

  /** The time of the frame that arrived now; sets `discontinuity` and `jumpTicks`. */
  place(rtpTimestamp: number, arrivalMs: MonotonicMs): Ticks {
    const state = this.#state;
    this.#state = 'running';
    this.discontinuity = state === 'restart';
    this.jumpTicks = 0;
    if (state === 'new' || state === 'restart') this.#anchor(arrivalMs);
    else this.#continue(rtpTimestamp, arrivalMs, state === 'source');
    this.#lastRtp = rtpTimestamp;
    let pts = this.#lastPts;
    if (this.#isOrdered) pts = Math.max(pts, this.#maxPts + 1);
    else if (this.#equalRun > 0) pts = Math.max(pts, this.#givenPts + 1);
    else if (pts === this.#givenPts) pts += 1;
    this.#givenPts = pts;
    if (pts > this.#maxPts) this.#maxPts = pts;
    return pts as Ticks;
  }

  /** The time of another RTP timestamp near the last frame's, as of a sender report; null if nothing is near. */
  ticksAt(rtpTimestamp: number): Ticks | null {
    const step = (rtpTimestamp - this.#lastRtp) | 0;
    const isNear = Math.abs(step) <= this.#toTicks(MAX_FORWARD_MS);
    if (this.#state !== 'running' || this.#equalRun >= EQUAL_RUN_FRAMES || !isNear) return null;
    return (this.#lastPts + step) as Ticks;
  }

  /** The camera changed its SSRC: time goes on if it fits, else as after a jump. */
  sourceChanged(): void {
    if (this.#state === 'running') this.#state = 'source';
  }

  /** A new session begins: its first frame is anchored by its arrival and flagged as a discontinuity. */
  restart(): void {
    if (this.#state !== 'new') this.#state = 'restart';
  }

  /** Moves all frames from now on ahead, to meet the other track. */
  moveAhead(ms: number): void {
    this.#lastPts += this.#toTicks(ms);
  }

  /** Moves the axis so that what arrives next goes on from this track's last frame. False: it has none. */
  carryAxis(): boolean {
    if (this.#state === 'new') return false;
    const lastMs = (this.#lastPts / this.clockRateHz) * 1000;
    this.#axis.anchor(this.#lastArrivalMs as MonotonicMs, lastMs);
    return true;
  }

  #anchor(arrivalMs: MonotonicMs): void {
    this.#equalRun = 0;
    this.#backlogTicks = 0;
    this.#lastPts = Math.max(this.#maxPts + 1, this.#toTicks(this.#axis.msAt(arrivalMs)));
    this.#lastArrivalMs = arrivalMs;
  }

  #continue(rtpTimestamp: number, arrivalMs: MonotonicMs, isNewSource: boolean): void {
    const step = (rtpTimestamp - this.#lastRtp) | 0;
    const elapsedTicks = Math.max(0, this.#toTicks(arrivalMs - this.#lastArrivalMs));
    this.#lastArrivalMs = arrivalMs;
    const isJump = this.#isJump(step, elapsedTicks, isNewSource);
    if (!isJump && step === 0) {
      this.#equalRun += 1;
      // Without a clock, time runs as it passes; the first few frames of the run were given a tick each.
      this.#backlogTicks += elapsedTicks;
      if (this.#equalRun >= EQUAL_RUN_FRAMES) {
        this.#lastPts += this.#backlogTicks;
        this.#backlogTicks = 0;
      }
      return;
    }
    const wasClockless = this.#equalRun >= EQUAL_RUN_FRAMES;
    this.#equalRun = 0;
    if (isJump || wasClockless) {
      const pts = Math.max(this.#maxPts + 1, this.#lastPts + elapsedTicks);
      if (isJump) {
        this.discontinuity = true;
        this.jumps += 1;
        this.jumpTicks = this.#lastPts + step - pts;
      }
      this.#lastPts = pts;
      this.#backlogTicks = 0;
      return;
    }
    this.#lastPts += step;
    const backlogTicks = this.#backlogTicks + elapsedTicks - step;
    this.#backlogTicks = Math.max(0, Math.min(backlogTicks, this.#toTicks(MAX_BACKLOG_MS)));
  }

  #isJump(step: number, elapsedTicks: number, isNewSource: boolean): boolean {
    const beyondTicks = step - elapsedTicks;
    if (isNewSource) return Math.abs(beyondTicks) > this.#toTicks(MAX_SOURCE_STEP_MS);
    if (step < -this.#toTicks(MAX_BACKWARD_MS)) return true;
    return beyondTicks > this.#backlogTicks + this.#toTicks(MAX_FORWARD_MS);
  }

  #toTicks(ms: number): number {
    return Math.round((ms * this.clockRateHz) / 1000);
  }
}

/** The axis that the tracks of one camera share: it begins at `zeroMs` and goes on over reconnects. */
export class TimeAxis {
  readonly #zeroMs: MonotonicMs;
  readonly #tracks: Timeline[] = [];
  #shiftMs = 0;

  constructor(zeroMs: MonotonicMs) {
    this.#zeroMs = zeroMs;
  }

  /** Adds a track; the first one, video, is the one that the axis goes on from after a reconnect. */
  addTrack(options: TimelineOptions): Timeline {
    const track = new Timeline(options, this);
    this.#tracks.push(track);
    return track;
  }

  /** A new session begins: media time goes on by the time that passes, the same for all tracks. */
  restart(): void {
    this.#tracks.some((track) => track.carryAxis());
    for (const track of this.#tracks) track.restart();
  }

  /** Where on the axis something belongs that arrives at `arrivalMs`, while nothing better is known. */
  msAt(arrivalMs: MonotonicMs): number {
    return arrivalMs - this.#zeroMs + this.#shiftMs;
  }

  /** From now on what arrives at `arrivalMs` belongs at `axisMs`. */
  anchor(arrivalMs: MonotonicMs, axisMs: number): void {
    this.#shiftMs += axisMs - this.msAt(arrivalMs);
  }
}
