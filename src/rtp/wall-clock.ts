import type { MonotonicMs, Ticks, WallMs } from '../base/clock.js';

/** A camera whose clock is further from ours than this isn't believed. */
export const MAX_SENDER_SKEW_MS = 10_000;
/** One that wasn't has to be nearer than that by so much, so that it isn't by turns. */
const SENDER_HYSTERESIS_MS = 1_000;
/** A sender report is good for this long; cameras send one every 5 s or so, some just one at the start. */
export const SENDER_REPORT_LIFE_MS = 300_000;
/** The least delay is looked for in windows of this length, so that it can follow a drifting clock. */
export const DELAY_WINDOW_MS = 30_000;
/** For so long after a start the least delay is still being found: cameras begin with a burst of old frames. */
export const SETTLING_MS = 10_000;
/** Share of the passing time by which wall time may run fast or slow while settling. */
export const SETTLING_SLEW = 0.5;
/** The same, once settled. */
export const SLEW = 0.005;
/** Where it is off by this much, as media time is that was ahead and goes back, it follows as fast as that. */
const LARGE_ERROR_MS = 1_000;
export const LARGE_SLEW = 0.05;
/** Where the host's clock was set, and more than this is missing, wall time follows at once. */
export const STEP_MS = 15_000;
/** What the host's clock is ahead by less, beside the window before, is how late frames are handled, or followed as it goes. */
const LEAST_SET_MS = 500;

/**
 * Media time to wall time for one track: by sender reports while they are sane, else by arrival, taking the
 * frames that were delayed least. It runs fast or slow instead of stepping, so wall times grow with pts.
 */
export class WallClock {
  /** Times that wall time had to step, the host's clock having been set. */
  steps = 0;
  readonly #clockRateHz: number;
  #isRunning = false;
  #offsetMs = 0;
  #startMs = 0;
  #lastMs = 0;
  /** The host's wall clock beside its monotonic one, when a frame of the window before was handled soonest. */
  #hostOffsetMs = 0;
  #windowLeastHostMs = 0;
  /** By how much it was set in all while wall time was not where it belongs, less what was made up for. */
  #setMs = 0;
  /** How far the host's clock was ahead of wall time where that is, or goes to where it is, by a believed sender. */
  #apartMs = 0;
  /** The same of its last report, and what `#setMs` was then: they count once wall time is there. */
  #toldApartMs = 0;
  #setAtToldMs = 0;
  #windowStartMs = 0;
  #windowLeastMs = 0;
  #previousLeastMs = Number.POSITIVE_INFINITY;
  #senderOffsetMs = 0;
  #senderUntilMs = Number.NEGATIVE_INFINITY;
  #isSenderFar = false;

  constructor(options: { readonly clockRateHz: number }) {
    this.#clockRateHz = options.clockRateHz;
  }

  /** Whether wall time comes from the camera's own clock. */
  get isFromSender(): boolean {
    return this.#lastMs < this.#senderUntilMs;
  }

  /** A frame that came at `arrivalMs` was placed at `ptsTicks`, and the host's clock says `hostWallMs`. */
  onFrame(ptsTicks: Ticks, arrivalMs: MonotonicMs, hostWallMs: WallMs): void {
    const mediaMs = this.#toMs(ptsTicks);
    const arrivalOffsetMs = hostWallMs - mediaMs;
    const hostOffsetMs = hostWallMs - arrivalMs;
    if (!this.#isRunning) {
      this.#start(mediaMs, arrivalOffsetMs, hostOffsetMs);
      return;
    }
    this.#followHost(hostOffsetMs);
    this.#windowLeastMs = Math.min(this.#windowLeastMs, arrivalOffsetMs);
    const passedMs = mediaMs - this.#lastMs;
    if (passedMs <= 0) return;
    this.#lastMs = mediaMs;
    this.#turnWindow(mediaMs, arrivalOffsetMs, hostOffsetMs);
    const errorMs = this.#targetMs() - this.#offsetMs;
    const offMs = Math.max(Math.abs(errorMs), Math.abs(this.#arrivalTargetMs - this.#offsetMs));
    // By the sender it may be where it belongs.
    const isStep = this.#mayStep && offMs > STEP_MS && Math.abs(errorMs) >= LARGE_ERROR_MS;
    if (isStep) this.steps += 1;
    const limitMs = isStep ? Number.POSITIVE_INFINITY : passedMs * this.#slewFor(mediaMs, errorMs);
    this.#move(Math.max(-limitMs, Math.min(limitMs, errorMs)));
    if (this.#isThere) this.#forgetSet();
  }

  /** The camera says that `ptsTicks` was at `senderWallMs`; that came at `arrivalMs`, and the host's clock says `hostWallMs`. */
  onSenderReport(ptsTicks: Ticks, senderWallMs: WallMs, arrivalMs: MonotonicMs, hostWallMs: WallMs): void {
    // What it says now holds beside the clock as it is now.
    if (this.#isRunning) this.#followHost(hostWallMs - arrivalMs);
    const maxSkewMs = MAX_SENDER_SKEW_MS - (this.#isSenderFar ? SENDER_HYSTERESIS_MS : 0);
    this.#isSenderFar = Math.abs(senderWallMs - hostWallMs) > maxSkewMs;
    if (this.#isSenderFar) {
      this.#senderUntilMs = Number.NEGATIVE_INFINITY;
      return;
    }
    const mediaMs = this.#toMs(ptsTicks);
    this.#senderOffsetMs = senderWallMs - mediaMs;
    this.#senderUntilMs = mediaMs + SENDER_REPORT_LIFE_MS;
    this.#toldApartMs = hostWallMs - senderWallMs;
    this.#setAtToldMs = this.#setMs;
    if (this.#isThere) this.#forgetSet();
  }

  /** The wall time of `ptsTicks`: near the frames seen last it is exact, elsewhere an extrapolation. */
  wallMsAt(ptsTicks: Ticks): WallMs {
    return (this.#toMs(ptsTicks) + this.#offsetMs) as WallMs;
  }

  /** Media time was interrupted: wall time is found anew from the next frame. */
  restart(): void {
    this.#isRunning = false;
    this.#isSenderFar = false;
    this.#senderUntilMs = Number.NEGATIVE_INFINITY;
  }

  #start(mediaMs: number, arrivalOffsetMs: number, hostOffsetMs: number): void {
    this.#isRunning = true;
    this.#offsetMs = arrivalOffsetMs;
    this.#setMs = 0;
    this.#setAtToldMs = 0;
    this.#apartMs = 0;
    this.#startMs = mediaMs;
    this.#lastMs = mediaMs;
    this.#windowStartMs = mediaMs;
    this.#windowLeastMs = arrivalOffsetMs;
    this.#previousLeastMs = Number.POSITIVE_INFINITY;
    this.#hostOffsetMs = hostOffsetMs;
    this.#windowLeastHostMs = hostOffsetMs;
  }

  /** What was measured by a clock that was set since is moved along: it would hold up wall time for two windows. */
  #followHost(hostOffsetMs: number): void {
    this.#windowLeastHostMs = Math.min(this.#windowLeastHostMs, hostOffsetMs);
    const setByMs = hostOffsetMs - this.#hostOffsetMs;
    // That it is less ahead than ever is a frame that was handled sooner, or a clock that was set back: true either way.
    if (setByMs >= 0 && setByMs < LEAST_SET_MS) return;
    this.#hostOffsetMs = hostOffsetMs;
    this.#windowLeastHostMs = hostOffsetMs;
    this.#windowLeastMs += setByMs;
    this.#previousLeastMs += setByMs;
    // In however many pieces.
    this.#setMs += setByMs;
    // It need not say so itself, as some report just once.
    const senderApartMs = this.#toldApartMs + this.#setMs - this.#setAtToldMs;
    if (Math.abs(senderApartMs) <= MAX_SENDER_SKEW_MS || !this.isFromSender) return;
    // On its way to that, too, it is at most as far from the host's as a sender may be.
    const apartMs = this.#arrivalTargetMs - this.#offsetMs - this.#setMs;
    this.#apartMs = Math.max(-MAX_SENDER_SKEW_MS, Math.min(apartMs, MAX_SENDER_SKEW_MS));
    this.#isSenderFar = true;
    this.#senderUntilMs = Number.NEGATIVE_INFINITY;
  }

  #move(movedMs: number): void {
    this.#offsetMs += movedMs;
    const madeUpMs = Math.sign(movedMs) * Math.min(Math.abs(movedMs), Math.abs(this.#setMs));
    if (madeUpMs * this.#setMs <= 0) return;
    this.#setMs -= madeUpMs;
    this.#setAtToldMs -= madeUpMs;
  }

  /** The host's clock was set, by which wall time is off by as much: beside that clock, or the sender's, which was set alike. */
  get #mayStep(): boolean {
    return Math.abs(this.#setMs) > STEP_MS || Math.abs(this.#setMs + this.#apartMs) > STEP_MS;
  }

  /** Wall time is where it belongs: whatever it is off by later has another cause. */
  #forgetSet(): void {
    // By what was set since the report it will be off when the camera no longer is believed.
    this.#setMs = this.isFromSender ? this.#setMs - this.#setAtToldMs : 0;
    this.#apartMs = this.isFromSender ? this.#toldApartMs : 0;
    this.#setAtToldMs = 0;
  }

  /** Wall time is where it belongs. */
  get #isThere(): boolean {
    return Math.abs(this.#targetMs() - this.#offsetMs) < LARGE_ERROR_MS;
  }

  #turnWindow(mediaMs: number, arrivalOffsetMs: number, hostOffsetMs: number): void {
    if (mediaMs - this.#windowStartMs < DELAY_WINDOW_MS) return;
    this.#previousLeastMs = this.#windowLeastMs;
    this.#windowLeastMs = arrivalOffsetMs;
    this.#windowStartMs = mediaMs;
    this.#setMs += this.#windowLeastHostMs - this.#hostOffsetMs;
    this.#hostOffsetMs = this.#windowLeastHostMs;
    this.#windowLeastHostMs = hostOffsetMs;
  }

  #slewFor(mediaMs: number, errorMs: number): number {
    if (mediaMs - this.#startMs < SETTLING_MS) return SETTLING_SLEW;
    return Math.abs(errorMs) > LARGE_ERROR_MS ? LARGE_SLEW : SLEW;
  }

  #targetMs(): number {
    return this.isFromSender ? this.#senderOffsetMs : this.#arrivalTargetMs;
  }

  get #arrivalTargetMs(): number {
    return Math.min(this.#windowLeastMs, this.#previousLeastMs);
  }

  #toMs(ticks: Ticks): number {
    return (ticks / this.#clockRateHz) * 1000;
  }
}
