import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { FileScanner, FragmentInfo } from '../../fmp4/file-scanner.js';
import { videoIndexOf, wallMsAt } from '../files/file-times.js';
import { RecordedParts } from './recorded-parts.js';

/** Makes parts of a file's fragments, one after another: a part begins with each that opens with a keyframe. */
export class PartCollector {
  readonly parts = new RecordedParts();
  readonly #scanner: FileScanner;
  /** The part that is still open: where it began, and how far it reaches. Negative: there is none. */
  #startBytes = -1;
  #endBytes = 0;
  #ptsTicks = 0;
  #endTicks = 0;
  #wallMs = Number.NaN;

  constructor(scanner: FileScanner) {
    this.#scanner = scanner;
  }

  /** Where the part begins that isn't known to be whole; -1: there is none. */
  get openStartBytes(): number {
    return this.#startBytes;
  }

  /** Takes the next fragment, whose samples are in the scanner's columns. */
  take(fragment: FragmentInfo): void {
    const index = videoIndexOf(this.#scanner);
    const samples = this.#scanner.columns[index];
    const timescaleHz = this.#scanner.movie?.tracks[index]?.timescaleHz ?? VIDEO_CLOCK_HZ;
    if (samples === undefined) return;
    const first = fragment.firstSamples[index]!;
    const end = fragment.endSamples[index]!;
    const toTicks = (ticks: number): number => Math.round((ticks * VIDEO_CLOCK_HZ) / timescaleHz);
    if (first < end && samples.isKey[first] === 1) {
      this.#begin(fragment, samples.dtsTicks[first]! + samples.compositionTicks[first]!, toTicks);
    }
    if (this.#startBytes < 0) return;
    this.#endBytes = fragment.endBytes;
    for (let at = first; at < end; at += 1) {
      const endTicks = samples.dtsTicks[at]! + samples.compositionTicks[at]! + samples.durationTicks[at]!;
      this.#endTicks = Math.max(this.#endTicks, toTicks(endTicks));
    }
  }

  /** No more fragments come: what is open is the last part. */
  finish(): void {
    this.#close(this.#endTicks);
  }

  #begin(fragment: FragmentInfo, ptsTicks: number, toTicks: (ticks: number) => number): void {
    const { wall } = fragment;
    this.#close(toTicks(ptsTicks));
    this.#startBytes = fragment.offsetBytes;
    this.#ptsTicks = toTicks(ptsTicks);
    this.#endTicks = this.#ptsTicks;
    this.#wallMs = (wall === null ? null : wallMsAt(this.#scanner, wall, ptsTicks)) ?? Number.NaN;
  }

  #close(endTicks: number): void {
    if (this.#startBytes < 0) return;
    // A damaged file's times can run backwards: such a part lasts no time, rather than less.
    const end = Math.max(endTicks, this.#ptsTicks);
    this.parts.add(this.#startBytes, this.#endBytes, this.#ptsTicks, end, this.#wallMs);
    this.#startBytes = -1;
  }
}
