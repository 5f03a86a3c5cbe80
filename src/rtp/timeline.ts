import type { MonotonicMs, Ticks } from '../base/clock.js';
import { ArrivalDrift, DRIFT_WINDOW_MS } from './arrival-drift.js';
import { HeldRate } from './held-rate.js';
import { Slew } from './slew.js';

/** A step back of up to this is B-frames, or a clock that was nudged; beyond it the camera's clock has jumped. */
export const MAX_BACKWARD_MS = 2_000;
/** The same on the axis: two B-frames of a picture a second, at a rate that is known by and large. */
const MAX_GIVEN_BACK_MS = 2_500;
/** A step forward may exceed the time that passed by this much: the burst that many cameras start with. */
export const MAX_FORWARD_MS = 10_000;
/** Frames may make up for up to this much of a stall, in however few steps. */
export const MAX_BACKLOG_MS = 60_000;
/** Media time is never further from that of arrival: steps that are each within their bounds add up. */
export const MAX_APART_MS = MAX_FORWARD_MS + MAX_BACKLOG_MS;
/** After a change of SSRC time goes on if it fits this closely: Uniview changes it with every GOP. */
export const MAX_SOURCE_STEP_MS = 1_000;
/** So many repeats of one timestamp are a camera without a clock: time is taken from arrival. */
export const EQUAL_RUN_FRAMES = 4;
/** How many times as fast as the camera counts its time may pass: each picture, of which there is one a second, counts a tick. */
const MAX_SPEED = 100_000;
/** How many ticks of the count a tick on the axis may take, with what the slews of some percent make of it. */
const SLOWEST_COUNT = MAX_SPEED * 1.25;
/** A rate that is less wrong needs no rate. */
const MIN_RATE = 0.002;
/** A drift of less may be the path's, and no clock is better than this. */
const LEAST_TOLD_MS = 500;
const LEAST_TOLD_PPM = 200;
/** A drift below this is left alone: paths change by that. Once one was followed, all of it is, but for noise. */
const FIRST_DRIFT_MS = 100;
const NEXT_DRIFT_MS = 20;
/** A drift is made up for over one window, at no more than this, so that nobody hears or sees it. */
const MAX_SLEW = 0.005;
/** Unless it is this large. */
const LARGE_DRIFT_MS = 1_000;
const MAX_LARGE_SLEW = 0.05;
/** Sound that is no further ahead of its arrival when a session begins stays so: what all are moved by adds up. */
const MAX_LEFT_AHEAD_MS = 100;

/** At which something that is missing is made up for: over one window, or longer. */
const evenRate = (missingMs: number): number => {
  const limit = Math.abs(missingMs) < LARGE_DRIFT_MS ? MAX_SLEW : MAX_LARGE_SLEW;
  return Math.max(-limit, Math.min(missingMs / DRIFT_WINDOW_MS, limit));
};

/** What a track's timestamps mean. */
export type TimelineOptions = {
  readonly clockRateHz: number;
  /** Audio: a frame never goes before the last one. Video may step back, in decode order with B-frames. */
  readonly isOrdered: boolean;
};

/**
 * Places the frames of one track: 32-bit RTP time in, ticks on the camera's axis out, through wraps, jumps
 * and reconnects, and at the rate at which time passes. Never refuses a frame, never gives two in a row the same time.
 * The policies and their numbers are in this folder's README.
 */
export class Timeline {
  readonly clockRateHz: number;
  /** Of the frame placed last: its time doesn't follow from the one before. */
  discontinuity = false;
  /** Times that the camera's clock jumped while it was streaming. */
  jumps = 0;
  /** Times that the track's time began anew, or may have: at a session, a jump, another source. */
  breaks = 0;
  /** When its last frame came. */
  lastArrivalMs = 0;
  /** Called when there is a new `driftMs`. */
  onDrift: (() => void) | null = null;
  readonly #isOrdered: boolean;
  readonly #axis: TimeAxis;
  #state: 'new' | 'running' | 'restart' | 'source' = 'new';
  #lastRtp = 0;
  /** Where `#lastRtp` is by the camera's own count. What a frame is given is corrected by the two below and the axis. */
  #lastPts = 0;
  readonly #drift = new ArrivalDrift();
  readonly #heldRate = new HeldRate();
  /** All that the camera has counted. */
  #countedTicks = 0;
  /** For a rate that is grossly wrong, in ticks. */
  readonly #rate = new Slew();
  /** Back to where time was before it ran at that rate, in ticks. */
  readonly #return = new Slew();
  #returnMs = 0;
  /** How time passed before it was found to pass too slowly, should that have been a congestion. */
  readonly #before = { ticks: 0, shift: 0, rate: 0, returnMs: 0 };
  /** To meet the other track, in ticks. */
  readonly #phase = new Slew();
  #givenPts = -1;
  #maxPts = -1;
  /** Before which none is given since its time began anew. */
  #leastPts = 0;
  #wasJump = false;
  /** The last jump as the camera stamped it, and what passed meanwhile. */
  #jumpStep = 0;
  #jumpTicks = 0;
  /** How far the count is behind its furthest, and by how much that went beyond the one before: B-frames lie in between. */
  #behindTicks = 0;
  #leadTicks = 0;
  #backlogTicks = 0;
  #equalRun = 0;

  constructor(options: TimelineOptions, axis: TimeAxis) {
    this.clockRateHz = options.clockRateHz;
    this.#isOrdered = options.isOrdered;
    this.#axis = axis;
  }

  /** The time of the frame that arrived now; sets `discontinuity`. */
  place(rtpTimestamp: number, arrivalMs: MonotonicMs): Ticks {
    const state = this.#state;
    this.#state = 'running';
    this.discontinuity = state === 'restart';
    if (state === 'new' || state === 'restart') this.#anchor(arrivalMs);
    else this.#continue(rtpTimestamp, arrivalMs, state === 'source');
    const isBack = ((rtpTimestamp - this.#lastRtp) | 0) < 0;
    this.#lastRtp = rtpTimestamp;
    const heldMs = this.#keepNear(arrivalMs);
    this.#followArrival(arrivalMs, heldMs);
    let pts = this.#correct(this.#lastPts);
    if (this.#isOrdered || this.discontinuity) pts = Math.max(pts, this.#maxPts + 1);
    // Corrections that turn far from here never take back time.
    else if (!isBack || heldMs !== 0) pts = Math.max(pts, this.#givenPts + 1);
    else pts = Math.max(pts, this.#leastPts, this.#givenPts - this.#toTicks(MAX_GIVEN_BACK_MS));
    if (pts === this.#givenPts) pts += 1;
    // Of several that are held there each gets its own.
    if (pts === this.#leastPts) this.#leastPts += 1;
    this.#givenPts = pts;
    if (pts > this.#maxPts) this.#maxPts = pts;
    return pts as Ticks;
  }

  /** The time of another RTP timestamp near the last frame's, as of a sender report; null if nothing is near. */
  ticksAt(rtpTimestamp: number): Ticks | null {
    const step = (rtpTimestamp - this.#lastRtp) | 0;
    const isNear = Math.abs(step) <= this.#toTicks(MAX_FORWARD_MS);
    if (this.#state !== 'running' || this.#equalRun >= EQUAL_RUN_FRAMES || !isNear) return null;
    return this.#correct(this.#lastPts + step) as Ticks;
  }

  /** Where the last frame of this session is on the axis, but for what all tracks are moved by; 0: there was none yet. */
  get reachedMs(): number {
    if (this.#state === 'new' || this.#state === 'restart') return 0;
    return this.#toMs(this.#lastPts + this.#ownShiftAt(this.#lastPts));
  }

  /** The furthest that any of its frames was given. */
  get furthestMs(): number {
    return this.#toMs(this.#maxPts);
  }

  /** How far the least delay of this track's frames has moved since the session began. */
  get driftMs(): number {
    return this.#drift.driftMs;
  }

  /** How far this track was drawn on to meet the other one. */
  get phaseMs(): number {
    return this.#toMs(this.#phase.shiftAt(this.#ratedPts));
  }

  /** By how much the camera's clock was found to run fast, or slow; 0 while nothing is certain. */
  get clockErrorPpm(): number {
    if (this.#rate.rate !== 0) return 1e6 / (1 + this.#rate.rate) - 1e6;
    const correctedMs = this.#axis.shiftMsAt(this.reachedMs);
    const ppm = (-1e6 * correctedMs) / this.#drift.watchedMs;
    return Math.abs(correctedMs) < LEAST_TOLD_MS || Math.abs(ppm) < LEAST_TOLD_PPM ? 0 : ppm;
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
    this.#lastPts += Math.round(this.#toTicks(ms) / (1 + this.#rate.rateAt(this.#lastPts)));
    // What the reports gave is not made up for once more.
    const returnedMs = Math.min(ms, Math.max(0, this.#returnMs - this.#returnedMs));
    if (returnedMs === 0) return;
    this.#before.returnMs -= returnedMs;
    this.#goBack(-returnedMs);
  }

  /** Moves them bit by bit, ahead or back, at this rate and for so long. */
  drawOn(rate: number, durationMs: number): void {
    this.#phase.turn(this.#ratedPts, rate, this.#toTicks(durationMs));
  }

  #anchor(arrivalMs: MonotonicMs): void {
    this.#equalRun = 0;
    this.#backlogTicks = 0;
    this.#wasJump = false;
    this.#behindTicks = 0;
    this.#leadTicks = 0;
    this.breaks += 1;
    this.#drift.restart();
    this.#heldRate.restart();
    this.#rate.clear();
    this.#return.clear();
    this.#returnMs = 0;
    this.#phase.clear();
    const axisMs = this.#axis.msAt(arrivalMs);
    // Pictures from before the first one are not put into time that was given, nor before all time.
    // What was whole ticks may be a little less, told in milliseconds.
    const leftTicks = Math.floor((this.#axis.leftMs * this.clockRateHz) / 1000 + 0.01);
    this.#leastPts = Math.max(this.#maxPts, leftTicks) + 1;
    const pts = Math.max(this.#leastPts, this.#toTicks(axisMs));
    this.#lastPts = this.#countAt(pts, pts, pts - this.#correct(pts));
    this.lastArrivalMs = arrivalMs;
  }

  #continue(rtpTimestamp: number, arrivalMs: MonotonicMs, isNewSource: boolean): void {
    const step = (rtpTimestamp - this.#lastRtp) | 0;
    const elapsedTicks = Math.max(0, this.#toTicks(arrivalMs - this.lastArrivalMs));
    this.lastArrivalMs = arrivalMs;
    const isJump = this.#isJumpAtSomeRate(step, elapsedTicks, isNewSource);
    if (isJump) {
      this.#jumpStep = step;
      this.#jumpTicks = elapsedTicks;
    }
    this.#follow(step, isJump);
    // What was just found is none, where that is how it ends.
    if (isJump && this.#drift.isSuspecting) this.#setSpeed(1 + this.#before.rate);
    if (isJump || isNewSource) {
      this.breaks += 1;
      this.#drift.interrupt();
      this.#heldRate.restart();
    }
    if (!isJump && step === 0) {
      this.#equalRun += 1;
      // Without a clock, time runs as it passes; the first few frames of the run were given a tick each.
      this.#backlogTicks += elapsedTicks;
      if (this.#equalRun >= EQUAL_RUN_FRAMES) {
        const speed = 1 + this.#rate.rateAt(this.#lastPts);
        const ticks = Math.round(this.#backlogTicks / speed);
        this.#lastPts += ticks;
        // What is left over adds up: at five times the speed a tick more or less with each frame is a percent.
        this.#backlogTicks -= ticks * speed;
      }
      return;
    }
    const wasClockless = this.#equalRun >= EQUAL_RUN_FRAMES;
    this.#equalRun = 0;
    if (isJump || wasClockless) {
      // On the axis: behind all that was given, and by what passed.
      const aheadTicks = Math.max(this.#maxPts + 1 - this.#correct(this.#lastPts), elapsedTicks);
      const pts = this.#lastPts + Math.ceil(aheadTicks / (1 + this.#rate.rateAt(this.#lastPts)));
      if (isJump) {
        this.discontinuity = true;
        this.jumps += 1;
        this.#leastPts = this.#maxPts + 1;
      }
      this.#lastPts = pts;
      this.#backlogTicks = 0;
      return;
    }
    this.#lastPts += step;
    this.#countedTicks += step;
    const backlogTicks = this.#backlogTicks + elapsedTicks - step * (1 + this.#rate.rate);
    this.#backlogTicks = Math.max(0, Math.min(backlogTicks, this.#toTicks(MAX_BACKLOG_MS)));
  }

  #isJumpAtSomeRate(step: number, elapsedTicks: number, isNewSource: boolean): boolean {
    const isJump = this.#isJump(step, this.#onAxis(step), elapsedTicks, isNewSource);
    if (!isJump || !this.#wasJump || this.#rate.rate === 0) return isJump;
    // One wild timestamp, and the way back from it: together they are as long as what passed, or less where that was held up.
    const bothTicks = ((this.#jumpStep + step) | 0) * (1 + this.#rate.rate);
    const nearTicks = this.#toTicks(MAX_SOURCE_STEP_MS);
    if (bothTicks >= -nearTicks && bothTicks <= this.#jumpTicks + elapsedTicks + nearTicks) return true;
    // A rate by which one frame after the other has jumped is none; what is a jump without it, too, says nothing of it.
    if (this.#isJump(step, step, elapsedTicks, isNewSource)) return true;
    this.#setSpeed(1);
    // What lies back is placed where the rate still holds.
    return this.#isJump(step, this.#onAxis(step), elapsedTicks, isNewSource);
  }

  /** At a rate that was found a step is many times what the camera counts, or a small part of that. */
  #onAxis(step: number): number {
    return this.#correct(this.#lastPts + step) - this.#correct(this.#lastPts);
  }

  #follow(step: number, isJump: boolean): void {
    // The same timestamp again says nothing of a rate.
    if (isJump || step !== 0) this.#wasJump = isJump;
    this.#behindTicks = isJump ? 0 : this.#behindTicks - step;
    if (this.#behindTicks >= 0) return;
    this.#leadTicks = -this.#behindTicks;
    this.#behindTicks = 0;
  }

  #isJump(step: number, givenTicks: number, elapsedTicks: number, isNewSource: boolean): boolean {
    const beyondTicks = givenTicks - elapsedTicks;
    if (isNewSource) return Math.abs(beyondTicks) > this.#toTicks(MAX_SOURCE_STEP_MS);
    if (step < -this.#toTicks(MAX_BACKWARD_MS)) return true;
    // B-frames lie behind the picture before theirs: that is where they belong, or as near to it as they may be.
    const isBehindLead = this.#behindTicks - step >= this.#leadTicks;
    if (isBehindLead && givenTicks < -this.#toTicks(MAX_GIVEN_BACK_MS)) return true;
    return beyondTicks > this.#backlogTicks + this.#toTicks(MAX_FORWARD_MS);
  }

  /** Holds the track's time where it would run away from arrival: returns how far ahead, or behind; 0 as a rule. */
  #keepNear(arrivalMs: MonotonicMs): number {
    const axisMs = this.#axis.msAt(arrivalMs);
    const apartMs = this.#toMs(this.#correct(this.#lastPts)) - axisMs;
    if (Math.abs(apartMs) <= MAX_APART_MS) return 0;
    const edgeMs = axisMs + Math.sign(apartMs) * MAX_APART_MS;
    this.#lastPts = this.#countAt(
      this.#toTicks(edgeMs),
      this.#lastPts,
      this.#toTicks(edgeMs - axisMs - apartMs),
    );
    return apartMs;
  }

  /** By the camera's count, what is `ticks` on the axis: beside `near`, which is so much ahead of it or behind. */
  #countAt(ticks: number, near: number, missing: number): number {
    // Corrections turn on the way, from slow to fast or back: that is halved until it is found.
    let [least, most] = [near, near];
    if (missing < 0) least += Math.floor(missing * SLOWEST_COUNT);
    else most += Math.ceil(missing * SLOWEST_COUNT);
    while (most - least > 1) {
      const middle = Math.floor((least + most) / 2);
      if (this.#correct(middle) > ticks) most = middle;
      else least = middle;
    }
    return least;
  }

  /** Where something is on the axis that is at `ticks` by the camera's count. */
  #correct(ticks: number): number {
    const own = this.#ownShiftAt(ticks);
    return (
      ticks + Math.round(own + (this.#axis.shiftMsAt(this.#toMs(ticks + own)) * this.clockRateHz) / 1000)
    );
  }

  #ownShiftAt(ticks: number): number {
    const rateShift = this.#rate.shiftAt(ticks);
    const rated = ticks + rateShift;
    return rateShift + this.#return.shiftAt(rated) + this.#phase.shiftAt(rated);
  }

  /** By its count at its rate: slews that go by this stay a few percent of it where that turns. */
  get #ratedPts(): number {
    return this.#lastPts + this.#rate.shiftAt(this.#lastPts);
  }

  #followArrival(arrivalMs: MonotonicMs, heldMs: number): void {
    const { windows } = this.#drift;
    const countedMs = this.#toMs(this.#ratedPts) + this.#returnMs;
    let lateMs = arrivalMs - countedMs;
    const heldSpeed = this.#heldRate.onFrame(heldMs > 0, this.#toMs(this.#countedTicks), arrivalMs);
    if (heldMs !== 0) {
      // A rate that leads away is none.
      if (heldMs * this.#rate.rate > 0) this.#setSpeed(1);
      if (heldSpeed !== 0) {
        this.#setSpeed(heldSpeed);
        this.#drift.foundRate();
      }
      const strayedMs = this.#drift.forgive(lateMs);
      this.#goBack(strayedMs);
      lateMs -= strayedMs;
    }
    const { suspicions, isSuspecting } = this.#drift;
    const oldLateMs = isSuspecting ? arrivalMs - this.#countedBeforeMs() : lateMs;
    const speed = this.#drift.onFrame(lateMs, arrivalMs, oldLateMs);
    if (this.#drift.suspicions !== suspicions) this.#noteBefore();
    if (speed !== 1) this.#setSpeed((1 + this.#rate.rate) * speed);
    if (this.#drift.verdict !== 'none') this.#setSpeed(1 + this.#before.rate);
    // Time goes back to where it would be without what was found.
    if (this.#drift.verdict === 'congestion') this.#goBack(this.#countedBeforeMs() - countedMs);
    if (this.#drift.strayedMs !== 0) this.#goBack(this.#drift.strayedMs);
    else if (this.#drift.windows === windows) return;
    this.#axis.onDrift(this);
    this.onDrift?.();
  }

  #setSpeed(speed: number): void {
    const rate = Math.max(1 / MAX_SPEED, Math.min(speed, MAX_SPEED)) - 1;
    this.#rate.turn(this.#lastPts, Math.abs(rate) < MIN_RATE ? 0 : rate);
  }

  #noteBefore(): void {
    this.#before.ticks = this.#lastPts;
    this.#before.shift = this.#rate.shiftAt(this.#lastPts);
    this.#before.rate = this.#rate.rate;
    this.#before.returnMs = this.#returnMs;
  }

  /** Where the last frame would be without what was found. */
  #countedBeforeMs(): number {
    const { ticks, shift, rate, returnMs } = this.#before;
    return this.#toMs(this.#lastPts + shift + rate * (this.#lastPts - ticks)) + returnMs;
  }

  /** Of this track alone: that its rate was wrong says nothing of the others. */
  #goBack(strayedMs: number): void {
    this.#returnMs += strayedMs;
    // What is made up for so needs no frames for it.
    this.#backlogTicks = Math.max(0, this.#backlogTicks - this.#toTicks(Math.max(0, strayedMs)));
    const missingMs = this.#returnMs - this.#returnedMs;
    const rate = evenRate(missingMs);
    this.#return.turn(this.#ratedPts, rate, rate === 0 ? 0 : this.#toTicks(missingMs) / rate);
  }

  /** So much of `#returnMs` is made up for. */
  get #returnedMs(): number {
    return this.#toMs(this.#return.shiftAt(this.#ratedPts));
  }

  #toTicks(ms: number): number {
    return Math.round((ms * this.clockRateHz) / 1000);
  }

  #toMs(ticks: number): number {
    return (ticks * 1000) / this.clockRateHz;
  }
}

/** The axis that the tracks of one camera share: it begins at `zeroMs` and goes on over reconnects. */
export class TimeAxis {
  readonly #zeroMs: MonotonicMs;
  readonly #tracks: Timeline[] = [];
  /** All tracks go along where the first one follows its arrival. */
  readonly #slew = new Slew();
  #isFollowing = false;
  #shiftMs = 0;
  /** The furthest that any frame of a track was given that is no more. */
  #leftMs: number;

  /** `leftMs`: the furthest that any frame was given before, if there was one. */
  constructor(zeroMs: MonotonicMs, leftMs = Number.NEGATIVE_INFINITY) {
    this.#zeroMs = zeroMs;
    this.#leftMs = leftMs;
  }

  get leftMs(): number {
    return this.#leftMs;
  }

  /** Adds a track; the first one, video, is the one that the axis goes along with. */
  addTrack(options: TimelineOptions): Timeline {
    const track = new Timeline(options, this);
    this.#tracks.push(track);
    return track;
  }

  /** The camera has no such track any more. */
  removeTrack(track: Timeline): void {
    this.#leftMs = Math.max(this.#leftMs, track.furthestMs);
    this.#tracks.splice(this.#tracks.indexOf(track), 1);
  }

  /** A new session begins: media time goes on by the time that passes, the same for all tracks. */
  restart(nowMs: MonotonicMs): void {
    // No time is given twice: where a track has got further than that, all go on from there.
    this.#pass(nowMs, this.#leftMs, 0);
    for (const [index, { furthestMs }] of this.#tracks.entries())
      this.#pass(nowMs, furthestMs, index === 0 ? 0 : MAX_LEFT_AHEAD_MS);
    this.#slew.clear();
    this.#isFollowing = false;
    for (const track of this.#tracks) track.restart();
  }

  #pass(nowMs: MonotonicMs, furthestMs: number, slackMs: number): void {
    if (furthestMs > this.msAt(nowMs) + slackMs) this.anchor(nowMs, furthestMs);
  }

  /** How far what is at `ms` by the count of its track is moved on the axis. */
  shiftMsAt(ms: number): number {
    return this.#slew.shiftAt(ms);
  }

  /** A track's drift is known anew: the first one draws all others along, from where none of them has been yet. */
  onDrift(track: Timeline): void {
    if (track !== this.#tracks[0]) return;
    const fromMs = this.#tracks.reduce((most, { reachedMs }) => Math.max(most, reachedMs), 0);
    const missingMs = track.driftMs - this.#slew.shiftAt(fromMs);
    if (Math.abs(missingMs) < (this.#isFollowing ? NEXT_DRIFT_MS : FIRST_DRIFT_MS)) return;
    this.#isFollowing = true;
    this.#slew.turn(fromMs, evenRate(missingMs), DRIFT_WINDOW_MS);
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
