import type { FileScanner, FragmentInfo } from '../fmp4/file-scanner.js';
import { PartTable } from '../fmp4/part-table.js';
import { videoIndexOf, videoSpanOf, wallMsAt } from './file-times.js';
import { FileWalk } from './file-walk.js';

/** What of an unclosed file is whole. */
export type Survey = {
  readonly parts: PartTable;
  readonly wholeBytes: number;
  /** Wall time of its first picture, and where its last one ends; null: the file doesn't tell. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly durationMs: number;
  readonly videoTrackId: number;
};

type WholeFragment = {
  readonly offsetBytes: number;
  readonly endBytes: number;
  /** Null: it is no part's first. */
  readonly keyTicks: number | null;
  readonly firstTicks: number;
  readonly endTicks: number;
  /** Wall time of its first picture, and where its last one ends; null: it doesn't tell. */
  readonly startMs: number | null;
  readonly endMs: number | null;
};

/** More than the sync policy leaves unsynced: after a power cut, samples from here on may be zeros. */
const SUSPECT_MS = 30_000;
/** Damage that would cost more than this is left to a person to look at. */
const MAX_CUT_BYTES = 64 << 20;
/** Twelve days of seconds; more is no recorder's work. */
const MAX_FRAGMENTS = 1 << 20;
const PRFT_BYTES = 32;
const NAL_LENGTH_BYTES = 4;

const timescaleOf = (scanner: FileScanner): number =>
  scanner.movie?.tracks[videoIndexOf(scanner)]?.timescaleHz ?? 1;

/** One without pictures, as the last audio of a file may come, ends when the one before it ends. */
const wholeFragmentOf = (
  scanner: FileScanner,
  fragment: FragmentInfo,
  before: WholeFragment | undefined,
): WholeFragment => {
  const { offsetBytes, endBytes, wall, firstSamples } = fragment;
  const video = videoIndexOf(scanner);
  const span = videoSpanOf(scanner, fragment);
  const columns = scanner.columns[video];
  if (span === null || columns === undefined) {
    const endTicks = before?.endTicks ?? 0;
    const endMs = before?.endMs ?? null;
    return { offsetBytes, endBytes, keyTicks: null, firstTicks: endTicks, endTicks, startMs: null, endMs };
  }
  const first = firstSamples[video] ?? 0;
  const shownTicks = columns.dtsTicks[first]! + columns.compositionTicks[first]!;
  return {
    offsetBytes,
    endBytes,
    keyTicks: columns.isKey[first] === 1 ? shownTicks : null,
    ...span,
    startMs: wall === null ? null : wallMsAt(scanner, wall, span.firstTicks),
    endMs: wall === null ? null : wallMsAt(scanner, wall, span.endTicks),
  };
};

/** Whether each picture of a fragment begins with a NAL unit (its length, then its header) that can be one. */
const hasRealPictures = (walk: FileWalk, { firstSamples, endSamples }: FragmentInfo): boolean => {
  const video = videoIndexOf(walk.scanner);
  const columns = walk.scanner.columns[video]!;
  for (let index = firstSamples[video] ?? 0; index < (endSamples[video] ?? 0); index += 1) {
    const head = walk.read(columns.offsetBytes[index]!, NAL_LENGTH_BYTES + 1);
    if (head.length <= NAL_LENGTH_BYTES) return false;
    const nalBytes = head.readUInt32BE(0);
    // forbidden_zero_bit: H.264 §7.4.1, H.265 §7.4.2.2.
    const isHeader = head[NAL_LENGTH_BYTES]! < 0x80 && head[NAL_LENGTH_BYTES]! > 0;
    if (nalBytes === 0 || nalBytes > columns.sizeBytes[index]! - NAL_LENGTH_BYTES || !isHeader) return false;
  }
  return true;
};

/** How many of the fragments are media: at the end of the file there may be heads without it. */
const countReal = (fd: number, fragments: readonly WholeFragment[], suspectTicks: number): number => {
  const last = fragments.at(-1);
  const lastTicks = last?.endTicks ?? 0;
  const suspect = fragments.findIndex(({ endTicks }) => endTicks > lastTicks - suspectTicks);
  const walk = new FileWalk(fd, last?.endBytes ?? 0);
  if (walk.readFirst() === null) return 0;
  walk.scanner.skipTo(fragments[suspect]?.offsetBytes ?? 0);
  let [count, isReal] = [suspect, true];
  walk.readAll((fragment) => {
    isReal &&= hasRealPictures(walk, fragment);
    if (isReal) count += 1;
  });
  return count;
};

const partsOf = (fragments: readonly WholeFragment[], walk: FileWalk): PartTable => {
  const parts = new PartTable();
  for (const { keyTicks, offsetBytes } of fragments) {
    if (keyTicks === null) continue;
    const hasPrft = walk.partStart(offsetBytes + PRFT_BYTES) === offsetBytes;
    parts.add(keyTicks, hasPrft ? offsetBytes + PRFT_BYTES : offsetBytes);
  }
  return parts;
};

/**
 * Walks an unclosed file up to its last whole fragment; null: nothing of it can be played, or too much would be
 * lost.
 */
export const surveyFile = (fd: number, fileBytes: number): Survey | null => {
  const walk = new FileWalk(fd, fileBytes);
  const { scanner } = walk;
  const fragments: WholeFragment[] = [];
  walk.readAll((fragment) => {
    if (fragments.length >= MAX_FRAGMENTS) return;
    fragments.push(wholeFragmentOf(scanner, fragment, fragments.at(-1)));
  });
  const track = scanner.movie?.tracks[videoIndexOf(scanner)];
  if (track === undefined || fragments.length === 0) return null;
  const perMs = timescaleOf(scanner) / 1000;
  fragments.length = countReal(fd, fragments, SUSPECT_MS * perMs);
  const [first, last] = [fragments[0], fragments.at(-1)];
  if (first === undefined || last === undefined || first.keyTicks === null) return null;
  if (fileBytes - last.endBytes > MAX_CUT_BYTES || fragments.length >= MAX_FRAGMENTS) return null;
  return {
    parts: partsOf(fragments, walk),
    wholeBytes: last.endBytes,
    startMs: first.startMs,
    endMs: last.endMs,
    durationMs: (last.endTicks - first.firstTicks) / perMs,
    videoTrackId: track.trackId,
  };
};
