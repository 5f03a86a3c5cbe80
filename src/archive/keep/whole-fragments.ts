import { BRIEF_HEAD_BYTES } from '../../fmp4/box-cursor.js';
import type { FileScanner, FragmentInfo } from '../../fmp4/file-scanner.js';
import { videoIndexOf, videoSpanOf, wallMsAt } from '../files/file-times.js';
import type { FileWalk } from '../files/file-walk.js';
import { findHead, MAX_HOLE_BYTES } from '../files/find-head.js';
import { BLOCK_BYTES } from '../write/direct-disk.js';

/** A fragment of an unclosed file that is there from its head to its last byte. */
export type WholeFragment = {
  readonly offsetBytes: number;
  readonly endBytes: number;
  /** Null: it is no part's first. */
  readonly keyTicks: number | null;
  /** When its pictures are shown, and decoded. */
  readonly firstTicks: number;
  readonly endTicks: number;
  readonly firstDtsTicks: number;
  readonly endDtsTicks: number;
  /** Wall time of its first picture, and where its last one ends; null: it doesn't tell. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** What lies before it is no boxes. */
  readonly isBehindDamage: boolean;
  /** No picture is missing between this one and the one before. */
  readonly isNext: boolean;
};

/** Twelve days of seconds; more is no recorder's work. */
export const MAX_FRAGMENTS = 1 << 20;
/** What fills a block between two fragments is less than this. */
const MAX_FILL_BYTES = 2 * BLOCK_BYTES;
/** A keyframe whose wall time is further from the stream's own begins another file. */
const MAX_CLOCK_STEP_MS = 2_500;
/** A name has whole seconds, and is moved on by up to a minute where it was taken. */
const MAX_NAME_DIFFERENCE_MS = 65_000;

const perMsOf = (scanner: FileScanner): number =>
  (scanner.movie?.tracks[videoIndexOf(scanner)]?.timescaleHz ?? 1) / 1000;

/** One without pictures, as the last audio of a file may come, ends when the one before it ends. */
const wholeFragmentOf = (
  scanner: FileScanner,
  fragment: FragmentInfo,
  before: WholeFragment | undefined,
  { isBehindDamage, isApart }: { readonly isBehindDamage: boolean; readonly isApart: boolean },
): WholeFragment => {
  const { offsetBytes, endBytes, wall, firstSamples, endSamples } = fragment;
  const place = { offsetBytes, endBytes, isBehindDamage };
  const video = videoIndexOf(scanner);
  const span = videoSpanOf(scanner, fragment);
  const columns = scanner.columns[video];
  if (span === null || columns === undefined) {
    const [ticks, dtsTicks] = [before?.endTicks ?? 0, before?.endDtsTicks ?? 0];
    const times = { firstTicks: ticks, endTicks: ticks, firstDtsTicks: dtsTicks, endDtsTicks: dtsTicks };
    const endMs = before?.endMs ?? null;
    return { ...place, keyTicks: null, ...times, startMs: null, endMs, isNext: !isApart };
  }
  const [first, last] = [firstSamples[video] ?? 0, (endSamples[video] ?? 0) - 1];
  const firstDtsTicks = columns.dtsTicks[first]!;
  const isAdjacent = before !== undefined && Math.abs(firstDtsTicks - before.endDtsTicks) <= 1;
  return {
    ...place,
    keyTicks: columns.isKey[first] === 1 ? firstDtsTicks + columns.compositionTicks[first]! : null,
    ...span,
    firstDtsTicks,
    endDtsTicks: columns.dtsTicks[last]! + columns.durationTicks[last]!,
    startMs: wall === null ? null : wallMsAt(scanner, wall, span.firstTicks),
    endMs: wall === null ? null : wallMsAt(scanner, wall, span.endTicks),
    isNext: !isApart || isAdjacent,
  };
};

/** Finds the whole fragments of a file, those behind damage, too. */
export class WholeFragments {
  readonly found: WholeFragment[] = [];
  readonly #walk: FileWalk;
  readonly #namedMs: number;
  /** The fragment that was found behind damage. */
  #resumedAt = -1;

  /** `namedMs`: when the file begins by its name. */
  constructor(walk: FileWalk, namedMs: number) {
    this.#walk = walk;
    this.#namedMs = namedMs;
  }

  readAll(): void {
    const { scanner } = this.#walk;
    do this.#walk.readAll(this.#take);
    while (scanner.movie !== null && scanner.fault !== null && this.#resume());
  }

  readonly #take = (fragment: FragmentInfo): void => {
    if (this.found.length < MAX_FRAGMENTS) this.found.push(this.#read(fragment));
  };

  #read(fragment: FragmentInfo): WholeFragment {
    const before = this.found.at(-1);
    const { offsetBytes } = fragment;
    const gapBytes = offsetBytes - (before?.endBytes ?? offsetBytes);
    const isBehindDamage = offsetBytes === this.#resumedAt;
    const isApart = isBehindDamage || gapBytes > MAX_FILL_BYTES;
    return wholeFragmentOf(this.#walk.scanner, fragment, before, { isBehindDamage, isApart });
  }

  /** Goes on at the next fragment that is one of this file and can be played; false: there is none nearby. */
  #resume(): boolean {
    const { scanner } = this.#walk;
    if (this.found.length >= MAX_FRAGMENTS) return false;
    const holeBytes = this.found.at(-1)?.endBytes ?? scanner.movieEndBytes;
    // In what is passed over there has to be room for a box.
    for (let at = holeBytes + BRIEF_HEAD_BYTES; ; at = this.#resumedAt + 1) {
      this.#resumedAt = findHead(this.#walk, at, holeBytes + MAX_HOLE_BYTES);
      if (this.#resumedAt < 0) return false;
      scanner.skipTo(this.#resumedAt);
      const fragment = this.#walk.readFirst();
      if (fragment?.offsetBytes === this.#resumedAt && this.#isOurs(this.#read(fragment))) return true;
    }
  }

  /** Whether a fragment behind damage is one of this file, and where it can be played from. */
  #isOurs(fragment: WholeFragment): boolean {
    const before = this.found.at(-1);
    const { isNext, keyTicks, firstDtsTicks, startMs } = fragment;
    const isAdjacent = before !== undefined && isNext;
    const isLater = keyTicks !== null && firstDtsTicks >= (before?.endDtsTicks ?? 0);
    return startMs !== null && (isAdjacent || isLater) && this.isAtItsTime(fragment);
  }

  /**
   * Blocks that were never written can hold what a file before had there, of any camera, and that looks as good. But
   * its wall time isn't the one that its place in this file's time says.
   */
  isAtItsTime({ firstTicks, startMs }: WholeFragment): boolean {
    const [first] = this.found;
    const isTold = first !== undefined && first.startMs !== null;
    if (startMs === null) return !isTold;
    const fileMs = (firstTicks - (first?.firstTicks ?? 0)) / perMsOf(this.#walk.scanner);
    const apartMs = Math.abs(startMs - fileMs - (isTold ? first.startMs : this.#namedMs));
    return apartMs <= (isTold ? MAX_CLOCK_STEP_MS : MAX_NAME_DIFFERENCE_MS);
  }
}
