import type { FragmentInfo } from '../../fmp4/file-scanner.js';
import { PartTable } from '../../fmp4/part-table.js';
import { videoIndexOf } from '../files/file-times.js';
import { FileWalk, PRFT_BYTES } from '../files/file-walk.js';
import { MAX_HOLE_BYTES } from '../files/find-head.js';
import { MAX_FRAGMENTS, type WholeFragment, WholeFragments } from './whole-fragments.js';

/** Bytes [startBytes, endBytes) of a file. */
export type ByteSpan = { readonly startBytes: number; readonly endBytes: number };

/** Fragments of an unclosed file, from a keyframe on, between which no picture is missing: what can be a recording. */
export type Stretch = ByteSpan & {
  /** With their places in the unclosed file. */
  readonly parts: PartTable;
  /** Wall time of its first picture, and where its last one ends; null: the file doesn't tell. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly durationMs: number;
  /** What lies in it, or before the first one, and is of no use. */
  readonly waste: readonly ByteSpan[];
};

/** What of an unclosed file is whole. */
export type Survey = {
  /** One, unless the file is damaged. */
  readonly stretches: readonly [Stretch, ...Stretch[]];
  /** ftyp and moov. */
  readonly headBytes: number;
  readonly videoTrackId: number;
  /** What is lost before the last stretch: bytes, and how long that was. */
  readonly lostBytes: number;
  readonly lostMs: number;
};

/** More than the sync policy leaves unsynced: after a power cut, samples from here on may be zeros. */
const SUSPECT_MS = 30_000;
/** With more holes than this a file is left to a person, too. */
const MAX_STRETCHES = 100;
const NAL_LENGTH_BYTES = 4;

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

/** Those of the last fragments, in the file and before each hole, whose heads are there without their media. */
const findHollow = (walk: FileWalk, fragments: readonly WholeFragment[], suspectTicks: number) => {
  let borderTicks = 0;
  const hollow = new Set<WholeFragment>();
  for (let at = fragments.length - 1; at >= 0; at -= 1) {
    const fragment = fragments[at]!;
    if (fragments[at + 1]?.isNext !== true) borderTicks = fragment.endTicks;
    if (fragment.endTicks <= borderTicks - suspectTicks) continue;
    walk.scanner.skipTo(fragment.offsetBytes);
    const info = walk.readFirst();
    if (info === null || !hasRealPictures(walk, info)) hollow.add(fragment);
  }
  return hollow;
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

/** Fragments that belong together, each time from a keyframe on. */
const runsOf = (whole: WholeFragments, hollow: ReadonlySet<WholeFragment>) => {
  const runs: WholeFragment[][] = [];
  let run: WholeFragment[] | null = null;
  for (const fragment of whole.found) {
    // With a clock that was set amid a part, only what begins one is at its time for certain.
    const isForeign = fragment.keyTicks !== null && !whole.isAtItsTime(fragment);
    if (hollow.has(fragment) || isForeign) run = null;
    else if (run !== null && fragment.isNext) run.push(fragment);
    else if (fragment.keyTicks === null) run = null;
    else {
      run = [fragment];
      runs.push(run);
    }
  }
  return runs;
};

/** What is lost: bytes of no use, and for how long nothing is shown. */
type Hole = ByteSpan & { readonly lostTicks: number };

/** The holes before each of the runs. A file that is as it should be has none. */
const holesOf = (
  runs: readonly (readonly WholeFragment[])[],
  headBytes: number,
  isWholeAtStart: boolean,
): Hole[] => {
  let end = { endBytes: headBytes, endTicks: 0 };
  const holes = runs.map((run) => {
    const { offsetBytes, firstTicks } = run[0]!;
    const lostTicks = Math.max(firstTicks - end.endTicks, 0);
    const hole = { startBytes: end.endBytes, endBytes: offsetBytes, lostTicks };
    end = run.at(-1)!;
    return hole;
  });
  return isWholeAtStart ? holes.slice(1) : holes;
};

const stretchOf = (
  run: readonly WholeFragment[],
  leading: readonly ByteSpan[],
  walk: FileWalk,
  perMs: number,
): Stretch => {
  const [first, last] = [run[0]!, run.at(-1)!];
  const holes = run.flatMap(({ offsetBytes, isBehindDamage }, at) =>
    at > 0 && isBehindDamage ? [{ startBytes: run[at - 1]!.endBytes, endBytes: offsetBytes }] : [],
  );
  return {
    startBytes: first.offsetBytes,
    endBytes: last.endBytes,
    parts: partsOf(run, walk),
    startMs: first.startMs,
    endMs: last.endMs,
    durationMs: (last.endTicks - first.firstTicks) / perMs,
    waste: [...leading, ...holes],
  };
};

/**
 * Finds what is whole in an unclosed file that begins at `namedMs` by its name; null: nothing of it can be played, or
 * too much would be lost. `suspectMs`: of what may have heads without media.
 */
export const surveyFile = (
  fd: number,
  fileBytes: number,
  namedMs: number,
  suspectMs = SUSPECT_MS,
): Survey | null => {
  const walk = new FileWalk(fd, fileBytes);
  const { scanner } = walk;
  const whole = new WholeFragments(walk, namedMs);
  whole.readAll();
  const fragments = whole.found;
  const track = scanner.movie?.tracks[videoIndexOf(scanner)];
  if (track === undefined || fragments.length >= MAX_FRAGMENTS) return null;
  const perMs = track.timescaleHz / 1000;
  const runs = runsOf(whole, findHollow(walk, fragments, suspectMs * perMs));
  const first = runs[0]?.[0];
  const last = runs.at(-1)?.at(-1);
  if (first === undefined || last === undefined || runs.length > MAX_STRETCHES) return null;
  const headBytes = scanner.movieEndBytes;
  const isWholeAtStart = first === fragments[0] && !first.isBehindDamage;
  const holes = holesOf(runs, headBytes, isWholeAtStart);
  const cuts = [...holes, { startBytes: last.endBytes, endBytes: fileBytes }];
  if (cuts.some(({ startBytes, endBytes }) => endBytes - startBytes > MAX_HOLE_BYTES)) return null;
  const leading = isWholeAtStart ? [] : holes.slice(0, 1);
  const [begin, ...more] = runs.map((run, at) => stretchOf(run, at === 0 ? leading : [], walk, perMs));
  return {
    stretches: [begin!, ...more],
    headBytes,
    videoTrackId: track.trackId,
    lostBytes: holes.reduce((sum, { startBytes, endBytes }) => sum + endBytes - startBytes, 0),
    lostMs: holes.reduce((sum, { lostTicks }) => sum + lostTicks, 0) / perMs,
  };
};
