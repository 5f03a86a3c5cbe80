import { Suspicion, type Verdict } from './suspicion.js';

/** The least delay is looked for in windows of this length, two at a time: congestion that is over sooner isn't seen. */
export const DRIFT_WINDOW_MS = 30_000;
/** What is usual is the least delay of so many of them. */
const USUAL_WINDOWS = 6;
/** Half an hour: what was held up for less, and comes at last, isn't taken for a clock. */
const REMEMBERED_WINDOWS = 60;
/** A trend that is found began in one of these. */
const TREND_WINDOWS = 3;
/** For so long after a start the least delay is still being found. */
const HOMING_MS = 60_000;
/** Cameras begin with stored frames, which come too early for their time: for so long that says nothing. */
const BURST_MS = 10_000;

/** What a rate that is grossly wrong is read from: the least delay of each second. */
const SECOND_MS = 1_000;
const MAX_SECONDS = 33;
/** Over so many seconds delays have to change by so much, about the same in each quarter of the time. */
const SPANS: readonly { readonly seconds: number; readonly changeMs: number }[] = [
  { seconds: 4, changeMs: 700 },
  { seconds: 8, changeMs: 600 },
  { seconds: 16, changeMs: 400 },
  { seconds: 32, changeMs: 300 },
];
const LEAST_QUARTER = 0.5;
const MOST_QUARTER = 1.6;
/** Seconds that lie further apart belong to no trend. */
const MAX_SILENCE_MS = 4_000;
/** What was later than this beside the least delay was held up. */
const MAX_HOME_NOISE_MS = 200;
/** Until a rate was found, frames that come this many times as fast as their time passes are a backlog or a replay. */
const MAX_FIRST_SPEED = 2.2;
/** Of a rate that was found, a window corrects this share of what is left, and no more than this. */
const REFINING_SHARE = 0.5;
const MAX_REFINING = 0.003;

/**
 * Watches how late the frames of one track come for their own time. Delays on the way only ever add to that, so the
 * least of many is what the camera's clock makes of it: where that moves, the clock runs at another rate than ours.
 */
export class ArrivalDrift {
  /** How far, when the last window ended, the least delay was from what it was at the start. */
  driftMs = 0;
  /** Windows that have ended. */
  windows = 0;
  /** How far what was found with the last frame has led away, where that is certain; 0: nothing was found. */
  strayedMs = 0;
  /** What the last frame made of a trend that was found. */
  verdict: Verdict = 'none';
  /** Times that a trend was found that may turn out to be none. */
  suspicions = 0;
  readonly #suspicion = new Suspicion();
  /** `#windowsFound` before the one that is suspected now. */
  #foundBefore = -1;
  #isRunning = false;
  #startMs = 0;
  /** How late the first frame was. */
  #firstMs = 0;
  /** The least delay at the start. */
  #homeMs = 0;
  #windowStartMs = 0;
  /** The least delay of each window, that of this one first. */
  readonly #windowLeastMs = new Float64Array(REMEMBERED_WINDOWS);
  /** Windows since the rate was found; -1: it wasn't. */
  #windowsFound = -1;
  readonly #atMs = new Float64Array(MAX_SECONDS);
  readonly #leastMs = new Float64Array(MAX_SECONDS);
  /** What is no backlog was no later than this then: the least delay that is remembered; until a rate was found, that at the start. */
  readonly #homesMs = new Float64Array(MAX_SECONDS);
  /** What was usual then. */
  readonly #usualsMs = new Float64Array(MAX_SECONDS);
  #seconds = 0;
  #secondStartMs = 0;
  #secondAtMs = 0;
  #secondLeastMs = 0;

  /** Only then `oldLateMs` is asked for. */
  get isSuspecting(): boolean {
    return this.#suspicion.isOn;
  }

  /** For so long, up to the last window's end. */
  get watchedMs(): number {
    return this.#windowStartMs - this.#startMs;
  }

  /** Forgets all: a session begins. */
  restart(): void {
    this.driftMs = 0;
    this.#suspicion.end();
    this.#isRunning = false;
    this.#windowsFound = -1;
  }

  /** A trend that was interrupted is none. */
  interrupt(): void {
    this.#suspicion.end();
    this.#seconds = 0;
  }

  /** Time was held where it ran away, so late or so early: that counts no more. Returns how far it has strayed. */
  forgive(lateMs: number): number {
    let beforeMs = Number.POSITIVE_INFINITY;
    for (let at = TREND_WINDOWS; at < USUAL_WINDOWS; at += 1)
      beforeMs = Math.min(beforeMs, this.#windowLeastMs[at]!);
    if (lateMs < beforeMs && this.#windowsFound < 0 && this.watchedMs < HOMING_MS) {
      // Stored frames have led there, or what looks like them: nothing that is live was as early since the start.
      beforeMs = Math.max(beforeMs, this.#firstMs);
      this.#homeMs = Math.max(this.#homeMs, beforeMs);
      for (let at = 0; at < REMEMBERED_WINDOWS; at += 1)
        this.#windowLeastMs[at] = Math.max(this.#windowLeastMs[at]!, beforeMs);
    }
    this.#liftTo(beforeMs);
    this.interrupt();
    this.#secondLeastMs = Math.max(this.#secondLeastMs, beforeMs);
    return lateMs - beforeMs;
  }

  /** How fast it runs was found elsewhere: from now on that is refined. */
  foundRate(): void {
    this.#windowsFound = 0;
  }

  /**
   * A frame came so late. Returns how many times as fast the track's time has to pass from now on: 1, as a rule. Where
   * it sets `strayedMs`, whatever comes next is taken for so much less late. `oldLateMs`: how late it came by the count as
   * it was before the last of the `suspicions`.
   */
  onFrame(lateMs: number, arrivalMs: number, oldLateMs: number): number {
    this.strayedMs = 0;
    this.verdict = this.#suspicion.isOn ? this.#judge(lateMs, arrivalMs, oldLateMs) : 'none';
    if (this.verdict !== 'none') return 1;
    if (!this.#isRunning) {
      this.#start(lateMs, arrivalMs);
      return 1;
    }
    if (this.#windowsFound < 0 && arrivalMs - this.#startMs < HOMING_MS) {
      this.#homeMs = Math.min(this.#homeMs, lateMs);
    }
    this.#windowLeastMs[0] = Math.min(this.#windowLeastMs[0]!, lateMs);
    if (lateMs < this.#secondLeastMs) {
      this.#secondLeastMs = lateMs;
      this.#secondAtMs = arrivalMs;
    }
    let speed = 1;
    if (arrivalMs - this.#windowStartMs >= DRIFT_WINDOW_MS) speed = this.#endWindow(lateMs, arrivalMs);
    if (arrivalMs - this.#secondStartMs >= SECOND_MS) speed *= this.#endSecond(lateMs, arrivalMs);
    return speed;
  }

  #start(lateMs: number, arrivalMs: number): void {
    this.#isRunning = true;
    this.#startMs = arrivalMs;
    this.#firstMs = lateMs;
    this.#homeMs = lateMs;
    this.#windowStartMs = arrivalMs;
    this.#windowLeastMs.fill(lateMs);
    this.#seconds = 0;
    this.#beginSecond(lateMs, arrivalMs);
  }

  #beginSecond(lateMs: number, arrivalMs: number): void {
    this.#secondStartMs = arrivalMs;
    this.#secondAtMs = arrivalMs;
    this.#secondLeastMs = lateMs;
  }

  #endWindow(lateMs: number, arrivalMs: number): number {
    const changeMs = this.#windowLeastMs[0]! - this.#windowLeastMs[1]!;
    const passedMs = arrivalMs - this.#windowStartMs;
    if (this.#windowStartMs === this.#startMs) this.#windowLeastMs.fill(this.#windowLeastMs[0]!);
    this.driftMs = this.#levelMs(arrivalMs) - this.#homeMs;
    this.#windowLeastMs.copyWithin(1, 0);
    this.#windowLeastMs[0] = lateMs;
    this.#windowStartMs = arrivalMs;
    this.windows += 1;
    if (this.#windowsFound < 0) return 1;
    this.#windowsFound += 1;
    // The first one was under way when the rate was found.
    if (this.#windowsFound < 3) return 1;
    const share = (REFINING_SHARE * changeMs) / passedMs;
    return 1 + Math.max(-MAX_REFINING, Math.min(share, MAX_REFINING));
  }

  /** What the last windows say together: one of them may have been congested, or begun a trend that isn't found yet. */
  #levelMs(nowMs: number): number {
    const last = this.#windowLeastMs[0]!;
    const before = this.#windowLeastMs[1]!;
    const earlier = this.#windowLeastMs[2]!;
    if (nowMs - this.#startMs < HOMING_MS + DRIFT_WINDOW_MS) return Math.min(last, before);
    return Math.max(Math.min(last, before), Math.min(Math.max(last, before), earlier));
  }

  #leastOf(windows: number): number {
    let leastMs = this.#windowLeastMs[0]!;
    for (let at = 1; at < windows; at += 1) leastMs = Math.min(leastMs, this.#windowLeastMs[at]!);
    return leastMs;
  }

  #endSecond(lateMs: number, arrivalMs: number): number {
    if (arrivalMs - this.#secondStartMs > MAX_SILENCE_MS) this.#seconds = 0;
    if (this.#seconds === MAX_SECONDS) {
      this.#atMs.copyWithin(0, 1);
      this.#leastMs.copyWithin(0, 1);
      this.#homesMs.copyWithin(0, 1);
      this.#usualsMs.copyWithin(0, 1);
      this.#seconds -= 1;
    }
    this.#atMs[this.#seconds] = this.#secondAtMs;
    this.#leastMs[this.#seconds] = this.#secondLeastMs;
    this.#usualsMs[this.#seconds] = this.#leastOf(USUAL_WINDOWS);
    this.#homesMs[this.#seconds] = this.#windowsFound < 0 ? this.#homeMs : this.#leastOf(REMEMBERED_WINDOWS);
    this.#seconds += 1;
    this.#beginSecond(lateMs, arrivalMs);
    for (const { seconds, changeMs } of SPANS) {
      if (seconds >= this.#seconds) return 1;
      const speed = this.#speedOver(seconds, changeMs);
      if (speed === 1) continue;
      this.#leaveTrend(speed, arrivalMs);
      this.#beginSecond(lateMs - this.strayedMs, arrivalMs);
      return speed;
    }
    return 1;
  }

  /** By how much the track's time has passed too slowly over the last seconds; 1: nothing is certain. */
  #speedOver(seconds: number, leastChangeMs: number): number {
    const last = this.#seconds - 1;
    const first = last - seconds;
    const changeMs = this.#leastMs[last]! - this.#leastMs[first]!;
    const passedMs = this.#atMs[last]! - this.#atMs[first]!;
    if (Math.abs(changeMs) < leastChangeMs || !this.#isSteady(first, seconds, changeMs / 4)) return 1;
    // Of the camera's own time, as far as it is known.
    const mediaMs = passedMs - changeMs;
    if (mediaMs <= 0 || (changeMs < 0 && this.#isBacklog(first, mediaMs / passedMs))) return 1;
    return passedMs / mediaMs;
  }

  /** What comes earlier and earlier may be what was stored in the camera, or on the way while it was congested. */
  #isBacklog(first: number, speed: number): boolean {
    if (this.#leastMs[first]! > this.#homesMs[first]! + MAX_HOME_NOISE_MS) return true;
    const isFirst = this.#windowsFound < 0;
    return isFirst && (speed > MAX_FIRST_SPEED || this.#atMs[first]! < this.#startMs + BURST_MS);
  }

  /** A trend was found: what it led to counts no more, as time goes back to where it was before. */
  #leaveTrend(speed: number, arrivalMs: number): void {
    const last = this.#seconds - 1;
    const beforeMs = this.#usualsMs[0]!;
    const sinceMs = arrivalMs - this.#atMs[last]!;
    const strayedMs = this.#leastMs[last]! + sinceMs * (1 - 1 / speed) - beforeMs;
    const isHoming = this.#windowsFound < 0 && arrivalMs < this.#startMs + HOMING_MS;
    if (strayedMs <= 0) {
      // A rate that was found too slow at first is only put right.
      if (this.#suspicion.isBack) this.#suspicion.end();
    } else if (this.#suspicion.isOn) this.#suspicion.prolong(arrivalMs);
    else {
      this.#suspicion.begin(beforeMs, this.#leastMs[last]!, arrivalMs);
      this.#foundBefore = this.#windowsFound;
      this.suspicions += 1;
    }
    this.#windowsFound = 0;
    this.#seconds = 0;
    // What comes earlier than the first frame may be nearer to the truth than that one was.
    if (strayedMs < 0 && isHoming) return;
    this.strayedMs = strayedMs;
    this.#liftTo(beforeMs);
  }

  /** What a trend has led to is no delay. */
  #liftTo(beforeMs: number): void {
    this.driftMs = beforeMs - this.#homeMs;
    for (let at = 0; at < TREND_WINDOWS; at += 1)
      this.#windowLeastMs[at] = Math.max(this.#windowLeastMs[at]!, beforeMs);
  }

  #judge(lateMs: number, arrivalMs: number, oldLateMs: number): Verdict {
    const { usualMs } = this.#suspicion;
    const lastMs = this.#seconds > 0 ? this.#leastMs[this.#seconds - 1]! : usualMs;
    const verdict = this.#suspicion.judge(lateMs, lastMs, oldLateMs, arrivalMs);
    if (verdict === 'none') return verdict;
    this.#seconds = 0;
    this.#liftTo(usualMs);
    if (verdict === 'congestion') this.#windowsFound = this.#foundBefore;
    else this.strayedMs = lateMs - usualMs;
    this.#beginSecond(verdict === 'congestion' ? oldLateMs : usualMs, arrivalMs);
    return verdict;
  }

  #isSteady(first: number, seconds: number, usualMs: number): boolean {
    for (let at = first; at < first + seconds; at += seconds / 4) {
      const share = (this.#leastMs[at + seconds / 4]! - this.#leastMs[at]!) / usualMs;
      if (!(share > LEAST_QUARTER && share < MOST_QUARTER)) return false;
    }
    return true;
  }
}
