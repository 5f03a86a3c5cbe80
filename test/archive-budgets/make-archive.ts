import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { closedName } from '../../src/archive/files/file-name.js';
import { FragmentBuilder } from '../../src/fmp4/fragment.js';
import { buildInitSegment, VIDEO_TRACK_ID } from '../../src/fmp4/init-segment.js';
import { PartTable } from '../../src/fmp4/part-table.js';
import { buildMfra } from '../../src/fmp4/random-access.js';
import type { StartReason } from '../../src/fmp4/start-reason.js';
import { streamInfoOf } from '../fmp4/fragmented-file.js';
import { fixtures } from '../support/fixtures.js';

export type ArchiveSize = { readonly cameras: number; readonly days: number };

/** What was made: from when until when, and how long that took; null: it was there already. */
export type MadeArchive = { readonly fromMs: number; readonly toMs: number; readonly tookMs: number | null };

export const HOUR_MS = 3_600_000;
const PART_SECONDS = 4;
const PARTS = HOUR_MS / 1_000 / PART_SECONDS;
const FRAMES_A_PART = 25 * PART_SECONDS;
const FRAME_TICKS = 3_600;
const PART_TICKS = FRAMES_A_PART * FRAME_TICKS;
/** 4 Mbit/s. */
const FRAME_BYTES = 20_000;
const PRFT_BYTES = 32;
/** No two cameras begin a file at the same second. */
const APART_MS = 7_000;
/** Of the first camera all fragments of these last hours are written; of all else a file's first one and its last. */
const WHOLE_HOURS = 24;

export const cameraName = (nth: number): string => `camera-${String(nth).padStart(3, '0')}`;

type Layout = {
  readonly head: Buffer;
  readonly index: Buffer;
  readonly startBytes: readonly number[];
  readonly mediaBytes: number;
};

type Span = { readonly fromMs: number; readonly hours: number };

/** Writes files of an hour as the recorder does, but for their pictures, which are holes, and cost no disk. */
class HourWriter {
  readonly #info = streamInfoOf(fixtures.h264High(), null);
  readonly #partBytes = this.#fragment(0, 0).length + FRAMES_A_PART * FRAME_BYTES;
  readonly #layouts = new Map<StartReason, Layout>();

  write(path: string, startMs: number, startReason: StartReason, isWhole: boolean): void {
    const { head, index, startBytes, mediaBytes } = this.#layoutOf(startReason);
    const fd = openSync(path, 'wx');
    writeSync(fd, Buffer.concat([head, this.#fragment(startMs, 0)]), 0, undefined, 0);
    for (let part = isWhole ? 1 : PARTS - 1; part < PARTS; part += 1)
      writeSync(fd, this.#fragment(startMs, part), 0, undefined, startBytes[part]!);
    ftruncateSync(fd, mediaBytes);
    writeSync(fd, index, 0, undefined, mediaBytes);
    closeSync(fd);
  }

  #layoutOf(startReason: StartReason): Layout {
    const known = this.#layouts.get(startReason);
    if (known !== undefined) return known;
    const head = buildInitSegment(this.#info, { startReason });
    const startBytes = Array.from({ length: PARTS }, (_, part) => head.length + part * this.#partBytes);
    const parts = new PartTable();
    for (const [part, at] of startBytes.entries()) parts.add(part * PART_TICKS, at + PRFT_BYTES);
    const index = buildMfra(VIDEO_TRACK_ID, parts);
    const layout = { head, index, startBytes, mediaBytes: head.length + PARTS * this.#partBytes };
    this.#layouts.set(startReason, layout);
    return layout;
  }

  #fragment(startMs: number, part: number): Buffer {
    const builder = new FragmentBuilder([
      { trackId: VIDEO_TRACK_ID, kind: 'video', originTicks: 0, usualDurationTicks: FRAME_TICKS },
    ]);
    const firstTicks = part * PART_TICKS;
    builder.setWall(startMs + part * PART_SECONDS * 1_000, firstTicks);
    for (let frame = 0; frame < FRAMES_A_PART; frame += 1) {
      const ticks = firstTicks + frame * FRAME_TICKS;
      builder.add(0, ticks, ticks, FRAME_BYTES, frame === 0);
    }
    const head = Buffer.alloc(builder.headBytes);
    builder.finish(head, 0, [firstTicks + PART_TICKS]);
    return head;
  }
}

const writeHour = (
  writer: HourWriter,
  archiveDir: string,
  { fromMs, hours }: Span,
  nth: number,
  hour: number,
): void => {
  const startMs = fromMs + hour * HOUR_MS + nth * APART_MS;
  const path = join(archiveDir, cameraName(nth), closedName(startMs, startMs + HOUR_MS));
  if (existsSync(path)) return;
  const isWhole = nth === 0 && hour >= hours - WHOLE_HOURS;
  writer.write(path, startMs, hour === 0 ? 'start' : 'rollover', isWhole);
};

/** Makes an archive up to this hour, hour by hour as time makes it; one of the same size that is there stays. */
export const makeArchive = (archiveDir: string, { cameras, days }: ArchiveSize): MadeArchive => {
  const hours = days * 24;
  const facts = join(archiveDir, `made-${cameras}-${days}.json`);
  if (existsSync(facts)) return { ...(JSON.parse(readFileSync(facts, 'utf8')) as MadeArchive), tookMs: null };
  const begunMs = performance.now();
  const toMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS;
  const fromMs = toMs - hours * HOUR_MS;
  const writer = new HourWriter();
  for (let nth = 0; nth < cameras; nth += 1)
    mkdirSync(join(archiveDir, cameraName(nth)), { recursive: true });
  for (let hour = 0; hour < hours; hour += 1)
    for (let nth = 0; nth < cameras; nth += 1) writeHour(writer, archiveDir, { fromMs, hours }, nth, hour);
  writeFileSync(facts, JSON.stringify({ fromMs, toMs }));
  return { fromMs, toMs, tookMs: performance.now() - begunMs };
};

/** Makes the first hours anew, as far as files of them are gone. */
export const remake = (
  archiveDir: string,
  { fromMs }: MadeArchive,
  { cameras, days }: ArchiveSize,
  count: number,
): void => {
  const hours = days * 24;
  const writer = new HourWriter();
  for (let hour = 0; hour * cameras <= count + cameras && hour < hours; hour += 1)
    for (let nth = 0; nth < cameras; nth += 1) writeHour(writer, archiveDir, { fromMs, hours }, nth, hour);
};
