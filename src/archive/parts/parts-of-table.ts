import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { PartTable } from '../../fmp4/part-table.js';
import { videoIndexOf, wallMsAt } from '../files/file-times.js';
import type { FileWalk } from '../files/file-walk.js';
import type { OpenedRecording } from '../files/recording-source.js';
import { PartCollector } from './part-collector.js';
import { RecordedParts, TICKS_PER_MS } from './recorded-parts.js';

/** A camera's clock and the stream may drift apart by this between two parts whose wall time is read. */
const MAX_DRIFT_MS = 50;
/** Enough for a few dozen times that a camera's clock was set; a hostile file has one for each part. */
const MAX_WALL_READS = 512;

/**
 * The parts of a closed recording by the index at its end, with a few reads however many there are; null: it has
 * none, or none that can be believed. A part's bytes are those from its moof to the next part's.
 */
export const partsOfTable = (recording: OpenedRecording): RecordedParts | null => {
  const walk = recording.walk(0, recording.fileBytes);
  const table = walk.readParts(recording.fileBytes);
  const track = walk.scanner.movie?.tracks[videoIndexOf(walk.scanner)];
  if (table === null || track === undefined) return null;
  const last = lastPart(recording, table.moofOffset[table.count - 1]!);
  const toTicks = (part: number): number =>
    Math.round((table.timeTicks[part]! * VIDEO_CLOCK_HZ) / track.timescaleHz);
  if (last === null || last.ptsTicks[0] !== toTicks(table.count - 1)) return null;
  const parts = new RecordedParts();
  for (let part = 0; part + 1 < table.count; part += 1) {
    const endTicks = Math.max(toTicks(part + 1), toTicks(part));
    parts.add(table.moofOffset[part]!, table.moofOffset[part + 1]!, toTicks(part), endTicks, Number.NaN);
  }
  parts.addAll(last, 1);
  new WallTimes(walk, table, parts).fill();
  return parts;
};

/** Only its fragments tell how long the last part lasts. */
const lastPart = (recording: OpenedRecording, moofOffset: number): RecordedParts | null => {
  const walk = recording.walk(moofOffset, recording.fileBytes);
  const collector = new PartCollector(walk.scanner);
  walk.readAll((fragment) => collector.take(fragment));
  collector.finish();
  return collector.parts.count === 1 ? collector.parts : null;
};

/** Fills in wall times: reads those of some parts, until what lies between follows from the stream's own time. */
class WallTimes {
  readonly #walk: FileWalk;
  readonly #table: PartTable;
  readonly #parts: RecordedParts;
  #reads = 0;

  constructor(walk: FileWalk, table: PartTable, parts: RecordedParts) {
    this.#walk = walk;
    this.#table = table;
    this.#parts = parts;
  }

  fill(): void {
    const last = this.#parts.count - 1;
    this.#readAt(last);
    if (last === 0) return;
    this.#readAt(0);
    this.#fillBetween(0, last);
  }

  /** Both ends are known. Where the clock was set between them, halves it down to where that was. */
  #fillBetween(first: number, last: number): void {
    if (last - first < 2) return;
    const { wallMs, ptsTicks } = this.#parts;
    const mediaMs = (ptsTicks[last]! - ptsTicks[first]!) / TICKS_PER_MS;
    const clockMs = wallMs[last]! - wallMs[first]!;
    if (Math.abs(clockMs - mediaMs) > MAX_DRIFT_MS && this.#reads < MAX_WALL_READS) {
      const middle = (first + last) >> 1;
      this.#readAt(middle);
      this.#fillBetween(first, middle);
      this.#fillBetween(middle, last);
      return;
    }
    for (let part = first + 1; part < last; part += 1) {
      const share = mediaMs > 0 ? (ptsTicks[part]! - ptsTicks[first]!) / TICKS_PER_MS / mediaMs : 0;
      wallMs[part] = wallMs[first]! + share * clockMs;
    }
  }

  #readAt(part: number): void {
    this.#reads += 1;
    const { scanner } = this.#walk;
    scanner.skipTo(this.#walk.partStart(this.#table.moofOffset[part]!));
    const wall = this.#walk.readFirst()?.wall ?? null;
    if (wall === null) return;
    const ticks = this.#table.timeTicks[part]!;
    this.#parts.wallMs[part] = wallMsAt(scanner, wall, ticks) ?? Number.NaN;
  }
}
