import type { RecordingSource } from '../files/recording-source.js';
import type { Recording } from '../list/recording.js';
import { TICKS_PER_MS } from '../parts/recorded-parts.js';
import type { Located } from '../play/locator.js';
import type { Gop } from './read-frames.js';

/** What overlaps a time by less only touches it. */
const LEAST_OVERLAP_MS = 1;

/** The GOPs of one recording: its parts and, of one that is being written, what is whole of the newest part. */
export class Gops {
  readonly recording: Recording;
  readonly source: RecordingSource;
  readonly count: number;
  readonly #located: Located;

  constructor(located: Located) {
    const { recording, source, parts } = located;
    this.recording = recording;
    this.source = source;
    this.#located = located;
    const wholeBytes = parts.count === 0 ? 0 : parts.endBytes[parts.count - 1]!;
    // The table may have grown since this was looked at.
    this.count = parts.count + (parts.isOneOpen && source.stamp.sizeBytes > wholeBytes ? 1 : 0);
  }

  /** What the wall clock showed where the file's own time begins. */
  get originMs(): number {
    const { parts, recording } = this.#located;
    return parts.count === 0 ? recording.startMs : parts.wallMs[0]! - parts.ptsTicks[0]! / TICKS_PER_MS;
  }

  wallMs(gop: number): number {
    const { parts, recording } = this.#located;
    if (gop < parts.count) return parts.wallMs[gop]!;
    return gop === 0 ? recording.startMs : parts.wallEndMs(gop - 1);
  }

  wallEndMs(gop: number): number {
    const { parts, recording } = this.#located;
    return gop < parts.count ? parts.wallEndMs(gop) : Math.max(recording.endMs, this.wallMs(gop));
  }

  at(gop: number): Gop {
    const { parts, recording, source } = this.#located;
    const wallMs = this.wallMs(gop);
    const isBrokenOff =
      gop === 0 && !['rollover', 'format', 'no_event'].includes(recording.startReason ?? 'unknown');
    if (gop < parts.count) {
      const [startBytes, endBytes] = [parts.startBytes[gop]!, parts.endBytes[gop]!];
      return { startBytes, endBytes, ptsTicks: parts.ptsTicks[gop]!, wallMs, isBrokenOff };
    }
    const startBytes = gop === 0 ? 0 : parts.endBytes[gop - 1]!;
    const ptsTicks = gop === 0 ? 0 : parts.endTicks[gop - 1]!;
    return { startBytes, endBytes: source.stamp.sizeBytes, ptsTicks, wallMs, isBrokenOff };
  }

  /** Those that overlap a time, by their numbers. */
  between(fromMs: number, toMs: number): number[] {
    const found: number[] = [];
    for (let gop = 0; gop < this.count; gop += 1) {
      const isWanted =
        this.wallEndMs(gop) - fromMs >= LEAST_OVERLAP_MS && toMs - this.wallMs(gop) >= LEAST_OVERLAP_MS;
      if (isWanted) found.push(gop);
    }
    return found;
  }

  /** The last one whose keyframe is no later than a moment; -1: there is none. */
  before(atMs: number): number {
    let gop = this.count - 1;
    while (gop >= 0 && this.wallMs(gop) > atMs) gop -= 1;
    return gop;
  }
}
