import type { WallMs } from '../../base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { type InitSegment, type Part, Segment, type SegmentStart } from './segment.js';

/** Segments in a playlist. */
const LISTED_SEGMENTS = 6;
/** In that of parts: a delta update leaves out what lies before the last six (RFC 8216bis §4.4.3.8). */
const LISTED_BESIDE_PARTS = 8;
/** A player may ask for a segment after it has left the playlist that it read (RFC 8216 §6.2.2). */
const HELD_SEGMENTS = 10;
/** Whatever a camera sends, its window takes no more than this and a segment. */
const MAX_WINDOW_BYTES = 96 << 20;
/** However little memory there is for it, what players need to go on is left: three segments, and the open one. */
const LEAST_SEGMENTS = 3;
/** What those take of a camera of 4 Mbit/s, as long as it isn't known. */
export const LEAST_WINDOW_BYTES = 4 << 20;
/** What segments are cut to, where the camera's keyframes allow it. */
export const TARGET_DURATION_SEC = 2;
/** What parts are cut to (0.204 s): five a second, and a bit for clocks that aren't exact. */
const PART_TICKS = 18_360;
/** Less than 85 % of what is promised is too short (RFC 8216bis §4.4.3.7), and clocks aren't exact. */
const LEAST_PART_SHARE = 0.87;
const PART_SLACK = 1.06;

/** Numbers count from here; those of seconds since 1970 would soon be too large for players with 32 bits. */
const EPOCH_MS = Date.UTC(2020, 0, 1);

/**
 * Numbers that are never given twice, whatever starts, stops or is deleted. They begin with the seconds that the wall
 * clock shows, and grow by less than one a second: so players that outlive the service find higher ones after it.
 */
export class Numbers {
  segment: number;
  discontinuities: number;
  init: number;

  constructor(wallMs: WallMs) {
    const seconds = Math.max(0, Math.floor((wallMs - EPOCH_MS) / 1_000));
    this.segment = seconds;
    // hls.js keeps a list as long as this number: it plays nothing where that begins at hundreds of millions.
    this.discontinuities = 0;
    this.init = seconds;
  }

  /** Goes on after another's numbers. */
  follow(other: Numbers): void {
    this.segment = Math.max(this.segment, other.segment);
    this.discontinuities = Math.max(this.discontinuities, other.discontinuities);
    this.init = Math.max(this.init, other.init);
  }
}

/** The last segments of a camera, in memory: the newest one grows, older ones fall out. */
export class SegmentWindow {
  readonly numbers: Numbers;
  /** In whole seconds, over all segments since the window was opened: players want one that stays as it is. */
  targetDurationSec = TARGET_DURATION_SEC;
  /** What parts are cut to, and the longest there was: of all since the window was opened, too. */
  partTicks = PART_TICKS;
  longestPartTicks = PART_TICKS;
  lengthBytes = 0;
  /** Its share of the memory that there is for all cameras. */
  shareBytes = Number.POSITIVE_INFINITY;
  /** Raised by everything that somebody may be waiting for, or that a playlist shows. */
  revision = 0;
  #complete: Segment[] = [];
  #open: Segment | null = null;

  constructor(numbers: Numbers) {
    this.numbers = numbers;
  }

  get open(): Segment | null {
    return this.#open;
  }

  get latest(): Segment | null {
    return this.#complete.at(-1) ?? null;
  }

  /** What it takes, or will, if it keeps as much as it is meant to, and if it keeps the least. */
  get wantedBytes(): number {
    return Math.min(this.#segmentBytes * (HELD_SEGMENTS + 1), MAX_WINDOW_BYTES);
  }

  get leastBytes(): number {
    return Math.max(this.#segmentBytes * (LEAST_SEGMENTS + 1), LEAST_WINDOW_BYTES);
  }

  /** The segments of a playlist, oldest first. */
  listed(): readonly Segment[] {
    return this.#complete.slice(-LISTED_SEGMENTS);
  }

  /** The whole segments of the playlist of parts. */
  listedBesideParts(): readonly Segment[] {
    return this.#complete.slice(-LISTED_BESIDE_PARTS);
  }

  /** Pictures are so far apart: where few fit into a part, it takes one more rather than ending far before it has to. */
  fitParts(stepTicks: number): void {
    const pictures = Math.floor(this.partTicks / stepTicks);
    if (pictures === 0 || pictures * stepTicks >= LEAST_PART_SHARE * this.partTicks) return;
    const fittedTicks = Math.ceil(PART_TICKS / stepTicks) * stepTicks * PART_SLACK;
    this.partTicks = Math.max(this.partTicks, Math.ceil(fittedTicks));
    this.longestPartTicks = Math.max(this.longestPartTicks, this.partTicks);
    this.revision += 1;
  }

  begin(start: SegmentStart): void {
    const { segment, discontinuities } = this.numbers;
    this.#open = new Segment(segment, discontinuities + (start.isDiscontinuity ? 1 : 0), start);
    this.revision += 1;
  }

  addPart(part: Part): void {
    const segment = this.#open;
    if (segment === null) return;
    // Its number is taken with the first part: one without any leaves no hole, since playlists count by lines.
    this.numbers.segment = segment.number + 1;
    this.numbers.discontinuities = segment.discontinuities;
    segment.parts.push(part);
    segment.lengthBytes += part.bytes.length;
    this.lengthBytes += part.bytes.length;
    this.longestPartTicks = Math.max(this.longestPartTicks, part.durationTicks);
    this.revision += 1;
  }

  /** The open segment is whole. */
  complete(durationTicks: number): void {
    const segment = this.#open;
    this.#open = null;
    this.revision += 1;
    if (segment === null || segment.parts.length === 0) return;
    segment.durationTicks = durationTicks;
    this.targetDurationSec = Math.max(this.targetDurationSec, Math.round(durationTicks / VIDEO_CLOCK_HZ));
    this.#complete.push(segment);
    while (this.#isOverfull()) this.lengthBytes -= this.#complete.shift()?.lengthBytes ?? 0;
  }

  /** Gives everything up. The numbers go on, so that no player ever sees one twice. */
  clear(): void {
    this.#complete = [];
    this.#open = null;
    this.lengthBytes = 0;
    this.targetDurationSec = TARGET_DURATION_SEC;
    this.partTicks = PART_TICKS;
    this.longestPartTicks = PART_TICKS;
    this.revision += 1;
  }

  find(number: number): Segment | null {
    if (this.#open?.number === number) return this.#open;
    return this.#complete.find((segment) => segment.number === number) ?? null;
  }

  init(version: number): InitSegment | null {
    const segments = this.#open === null ? this.#complete : [...this.#complete, this.#open];
    return segments.find(({ start }) => start.head.init.version === version)?.start.head.init ?? null;
  }

  #isOverfull(): boolean {
    const { length } = this.#complete;
    if (length > HELD_SEGMENTS || (length > LEAST_SEGMENTS && this.lengthBytes > this.shareBytes))
      return true;
    return length > 1 && this.lengthBytes > MAX_WINDOW_BYTES;
  }

  /** Of one of the present segments. */
  get #segmentBytes(): number {
    const segments = this.#complete.length + (this.#open === null ? 0 : 1);
    return this.lengthBytes / Math.max(segments, 1);
  }
}
