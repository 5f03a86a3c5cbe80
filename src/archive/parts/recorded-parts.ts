import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { MAX_START_DIFFERENCE_MS } from '../list/recording.js';

const FIRST_CAPACITY = 64;
/** Of all times of parts. */
export const TICKS_PER_MS = VIDEO_CLOCK_HZ / 1000;
const DAY_MS = 86_400_000;

/**
 * The parts of one recording, each from a keyframe to the next, a typed array a field. Times are on the file's
 * own clock in ticks of 90 kHz. It only ever grows at its end.
 */
export class RecordedParts {
  /** For whoever is to know the table again without holding it. */
  readonly identity = Symbol('table of parts');
  count = 0;
  /** Behind them another one has begun that may go on: a keyframe of it is there. */
  isOneOpen = false;
  /** Bytes [startBytes, endBytes) of the file hold the part's fragments. */
  startBytes = new Float64Array(FIRST_CAPACITY);
  endBytes = new Float64Array(FIRST_CAPACITY);
  /** When its first picture is shown, and when that of the next part is (or the last one's showing ends). */
  ptsTicks = new Float64Array(FIRST_CAPACITY);
  endTicks = new Float64Array(FIRST_CAPACITY);
  /** What the wall clock showed at its first picture; NaN: the file doesn't say. */
  wallMs = new Float64Array(FIRST_CAPACITY);
  #wallShiftMs = 0;

  add(startBytes: number, endBytes: number, ptsTicks: number, endTicks: number, wallMs: number): void {
    const at = this.count;
    if (at === this.ptsTicks.length) this.#grow();
    this.startBytes[at] = startBytes;
    this.endBytes[at] = endBytes;
    this.ptsTicks[at] = ptsTicks;
    this.endTicks[at] = endTicks;
    this.wallMs[at] = wallMs;
    this.count = at + 1;
  }

  /** Adds parts [0, count) of a table that came from another thread. */
  addAll(parts: PartColumns, count: number): void {
    for (let at = 0; at < count; at += 1) {
      this.add(
        parts.startBytes[at]!,
        parts.endBytes[at]!,
        parts.ptsTicks[at]!,
        parts.endTicks[at]!,
        parts.wallMs[at]!,
      );
    }
  }

  durationMs(part: number): number {
    return (this.endTicks[part]! - this.ptsTicks[part]!) / TICKS_PER_MS;
  }

  /** When the part ends by the wall clock, if that runs as the stream does. */
  wallEndMs(part: number): number {
    return this.wallMs[part]! + this.durationMs(part);
  }

  /**
   * Sets the wall times of parts from `first` on right: those that the file doesn't tell follow from the part
   * before, and all are moved where the file's clock can't be believed, so that the first is at `startMs`.
   */
  setWallTimes(first: number, startMs: number): void {
    if (first === 0 && this.count > 0) {
      const firstMs = Number.isNaN(this.wallMs[0]!) ? startMs : this.wallMs[0]!;
      this.wallMs[0] = firstMs;
      this.#wallShiftMs = Math.abs(firstMs - startMs) > MAX_START_DIFFERENCE_MS ? startMs - firstMs : 0;
    }
    for (let at = first; at < this.count; at += 1) {
      const told = this.wallMs[at]! + this.#wallShiftMs;
      const wallMs = Number.isNaN(told) ? this.wallEndMs(at - 1) : told;
      // What a damaged file says can be beyond all dates.
      this.wallMs[at] = Math.min(Math.max(wallMs, startMs - DAY_MS), startMs + 2 * DAY_MS);
    }
  }

  #grow(): void {
    const larger = (column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(column.length * 2);
      grown.set(column);
      return grown;
    };
    this.startBytes = larger(this.startBytes);
    this.endBytes = larger(this.endBytes);
    this.ptsTicks = larger(this.ptsTicks);
    this.endTicks = larger(this.endTicks);
    this.wallMs = larger(this.wallMs);
  }
}

/** The fields of a table, as they cross threads. */
export type PartColumns = Pick<
  RecordedParts,
  'count' | 'startBytes' | 'endBytes' | 'ptsTicks' | 'endTicks' | 'wallMs'
>;
