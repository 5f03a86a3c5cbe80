import type { RingReader } from '../../ring/reader.js';
import type { GrowingFile } from './growing-file.js';

/**
 * So long what comes is left in the ring, where it lies well: a look at each frame as it comes would cost as much as
 * writing it. Then the fragment ends right before the newest frame.
 */
const LOOK_AFTER_MS = 750;
/** So many frames of sound may lie behind the newest picture. */
const NEWEST_SOUND_FRAMES = 3;
/** What has waited this long is written; brief fragments go together (a stream may be all keyframes). */
const WRITE_AFTER_MS = 400;

/** When a recorder looks at the ring again, and has written what it found. */
export class LookPace {
  /** Until then the ring isn't looked at. */
  #nextLookMs = 0;
  /** The fragment that is open ends as soon as it can. */
  #isCutDue = false;
  /** What is to be written has to wait for the disk. */
  #isHeldUp = false;

  isTooEarly(nowMs: number): boolean {
    return nowMs < this.#nextLookMs;
  }

  beginLook(nowMs: number, file: GrowingFile | null): void {
    const oldestMs = this.#isHeldUp ? file?.openSinceMs : file?.oldestMs;
    this.#isCutDue = nowMs - (oldestMs ?? Number.POSITIVE_INFINITY) >= LOOK_AFTER_MS;
  }

  /** Whether the open fragment is to end before this picture: once a look, at the newest one. */
  takeCut(frame: RingReader, hasAudio: boolean): boolean {
    if (!this.#isCutDue || frame.backlogFrames > (hasAudio ? NEWEST_SOUND_FRAMES : 0)) return false;
    this.#isCutDue = false;
    return true;
  }

  endLook(): void {
    this.#isCutDue = false;
  }

  /** Has written what has waited for long enough. `hasTail`: sound may come for the file before. */
  write(nowMs: number, file: GrowingFile, hasTail: boolean): void {
    const isDue = nowMs - file.pendingSinceMs >= WRITE_AFTER_MS;
    if (isDue) file.flush();
    this.#isHeldUp = isDue && Number.isFinite(file.pendingSinceMs);
    const isIdle = !this.#isHeldUp && !hasTail;
    this.#nextLookMs = isIdle ? Math.min(file.oldestMs, nowMs) + LOOK_AFTER_MS : nowMs;
  }
}
