import { GUARANTEED_BYTES, upToGrain, upToPowerOfTwo } from './capacity.js';
import { GRAIN_BYTES } from './layout.js';

const KEPT_BESIDES_GOP_MS = 1000;
const MARGIN = 1.1;
/** No camera sends frames faster than this; a burst does, and says nothing of the bitrate. */
const LEAST_FRAME_MS = 5;

/** Measures GOPs and says what ring they need: bitrate x (GOP + 1 s), and a tenth. */
export class GopMeter {
  #isCounting = false;
  #bytes = 0;
  #frames = 0;
  #startArrivalMs = 0;
  #startDtsTicks = 0;
  /** Of the last whole GOP. */
  gopBytes = 0;
  gopFrames = 0;
  gopDurationMs = 0;

  /** A whole GOP has been seen: before that nobody knows how much room one takes. */
  get hasMeasured(): boolean {
    return this.gopDurationMs > 0;
  }

  /** A frame of either track; video keys go to `key`. */
  count(lengthBytes: number): void {
    this.#bytes += lengthBytes;
    this.#frames += 1;
  }

  /** A keyframe: ends a GOP, and begins one. False: the one that ended was not measured. */
  key(lengthBytes: number, dtsTicks: number, arrivalMs: number, isDiscontinuity: boolean): boolean {
    const isMeasured = this.#isCounting && !isDiscontinuity;
    if (isMeasured) {
      this.gopBytes = this.#bytes;
      this.gopFrames = this.#frames;
      // A camera may send its first GOPs from memory, all at once: then media time is the longer one.
      const mediaMs = (dtsTicks - this.#startDtsTicks) / 90;
      this.gopDurationMs = Math.max(this.#frames * LEAST_FRAME_MS, arrivalMs - this.#startArrivalMs, mediaMs);
    }
    this.#isCounting = true;
    this.#bytes = lengthBytes;
    this.#frames = 1;
    this.#startDtsTicks = dtsTicks;
    this.#startArrivalMs = arrivalMs;
    return isMeasured;
  }

  wantedDataBytes(): number {
    return upToGrain(this.gopBytes * this.#stretch() + 2 * GRAIN_BYTES);
  }

  wantedSlotCount(): number {
    return upToPowerOfTwo(this.gopFrames * this.#stretch() + 2);
  }

  #stretch(): number {
    return this.gopDurationMs === 0 ? 0 : (1 + KEPT_BESIDES_GOP_MS / this.gopDurationMs) * MARGIN;
  }
}

/** So many GOPs in a row, and as long, have to do with half of the ring before it shrinks. */
const SHRINK_AFTER_GOPS = 8;
const SHRINK_AFTER_MS = 30_000;

/** Says when a ring has become too large, and how large it should be: cameras vary the length of their GOPs. */
export class ShrinkRule {
  #gops = 0;
  #sinceMs = 0;
  #mostBytes = 0;
  #mostSlots = 0;

  /** A GOP has ended. Answers the data area and slots that all of the last ones would have done with. */
  judge(
    dataBytes: number,
    wanted: { readonly dataBytes: number; readonly slotCount: number },
    arrivalMs: number,
  ): { readonly dataBytes: number; readonly slotCount: number } | null {
    if (dataBytes <= GUARANTEED_BYTES || wanted.dataBytes * 2 > dataBytes) {
      this.#gops = 0;
      return null;
    }
    if (this.#gops === 0) [this.#sinceMs, this.#mostBytes, this.#mostSlots] = [arrivalMs, 0, 0];
    this.#gops += 1;
    this.#mostBytes = Math.max(this.#mostBytes, wanted.dataBytes);
    this.#mostSlots = Math.max(this.#mostSlots, wanted.slotCount);
    if (this.#gops < SHRINK_AFTER_GOPS || arrivalMs - this.#sinceMs < SHRINK_AFTER_MS) return null;
    this.#gops = 0;
    return { dataBytes: this.#mostBytes, slotCount: this.#mostSlots };
  }
}
