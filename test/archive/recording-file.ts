import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closedName, openName } from '../../src/archive/files/file-name.js';
import type { StreamInfo } from '../../src/codec/track.js';
import { FragmentBuilder } from '../../src/fmp4/fragment.js';
import { buildInitSegment, VIDEO_TRACK_ID } from '../../src/fmp4/init-segment.js';
import { PartTable } from '../../src/fmp4/part-table.js';
import { buildMfra } from '../../src/fmp4/random-access.js';
import type { StartReason } from '../../src/fmp4/start-reason.js';
import { streamInfoOf } from '../fmp4/fragmented-file.js';
import { fixtures } from '../support/fixtures.js';
import { inBlocks } from './in-blocks.js';

const FRAME_TICKS = 18_000;
const FRAMES_A_FRAGMENT = 5;
const PRFT_BYTES = 32;
/** Five frames of 200 ms. */
export const FRAGMENT_MS = 1000;

let cachedInfo: StreamInfo | null = null;
const info = (): StreamInfo => {
  cachedInfo ??= streamInfoOf(fixtures.h264High(), null);
  return cachedInfo;
};

/** A frame that no decoder wants: one NAL unit behind its length. */
const frameOf = (isKey: boolean, lengthBytes: number): Buffer => {
  const frame = Buffer.alloc(lengthBytes, 0x5a);
  frame.writeUInt32BE(lengthBytes - 4, 0);
  frame[4] = isKey ? 0x65 : 0x41;
  return frame;
};

export type TestRecording = {
  readonly startMs: number;
  /** Fragments of a second each. */
  readonly fragments?: number;
  readonly fragmentsAPart?: number;
  /** So many go to the disk at once, and fill their last block. */
  readonly fragmentsAWrite?: number;
  readonly frameBytes?: number;
  readonly startReason?: StartReason;
  readonly hasWall?: boolean;
  readonly hasIndex?: boolean;
};

export type BuiltRecording = {
  /** With the index, or with whole blocks alone, as an open file has them. */
  readonly bytes: Buffer;
  /** Where each fragment begins. */
  readonly starts: readonly number[];
  /** Where each fragment ends, without what fills the block; the first entry is the end of moov. */
  readonly ends: readonly number[];
  readonly parts: PartTable;
  readonly endMs: number;
};

/** The fragments of a file, of tiny frames, and when the keyframe of each is shown that begins a part. */
const fragmentsOf = (options: TestRecording): { pieces: Buffer[]; partTicks: (number | null)[] } => {
  const { startMs, fragments = 4, fragmentsAPart = 2, frameBytes = 40, hasWall = true } = options;
  const builder = new FragmentBuilder([
    { trackId: VIDEO_TRACK_ID, kind: 'video', originTicks: 0, usualDurationTicks: FRAME_TICKS },
  ]);
  const [pieces, partTicks]: [Buffer[], (number | null)[]] = [[], []];
  for (let fragment = 0; fragment < fragments; fragment += 1) {
    const isPart = fragment % fragmentsAPart === 0;
    const frames: Buffer[] = [];
    const firstTicks = fragment * FRAMES_A_FRAGMENT * FRAME_TICKS;
    if (hasWall) builder.setWall(startMs + firstTicks / 90, firstTicks);
    for (let frame = 0; frame < FRAMES_A_FRAGMENT; frame += 1) {
      const isKey = isPart && frame === 0;
      const ticks = firstTicks + frame * FRAME_TICKS;
      builder.add(0, ticks, ticks, frameBytes, isKey);
      frames.push(frameOf(isKey, frameBytes));
    }
    const head = Buffer.alloc(builder.headBytes);
    builder.finish(head, 0, [firstTicks + FRAMES_A_FRAGMENT * FRAME_TICKS]);
    pieces.push(Buffer.concat([head, ...frames]));
    partTicks.push(isPart ? firstTicks : null);
  }
  return { pieces, partTicks };
};

/** A file as the recorder writes it. */
export const buildRecording = (options: TestRecording): BuiltRecording => {
  const { startMs, startReason, fragmentsAWrite = 1, hasWall = true, hasIndex = true } = options;
  const head = buildInitSegment(info(), startReason === undefined ? {} : { startReason });
  const { pieces, partTicks } = fragmentsOf(options);
  const { bytes, starts, ends } = inBlocks(head, pieces, fragmentsAWrite);
  const parts = new PartTable();
  for (const [fragment, ticks] of partTicks.entries()) {
    if (ticks !== null) parts.add(ticks, starts[fragment]! + (hasWall ? PRFT_BYTES : 0));
  }
  // What fills the last block goes when the index is written.
  const closed = [bytes.subarray(0, ends.at(-1) ?? head.length), buildMfra(VIDEO_TRACK_ID, parts)];
  return {
    bytes: hasIndex ? Buffer.concat(closed) : bytes,
    starts,
    ends: [head.length, ...ends],
    parts,
    endMs: startMs + pieces.length * FRAGMENT_MS,
  };
};

/** Writes a closed recording; returns its name. */
export const writeClosed = (folder: string, options: TestRecording): string => {
  const { bytes, ends, endMs } = buildRecording(options);
  const fileName = closedName(options.startMs, endMs);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, fileName), options.hasIndex === false ? bytes.subarray(0, ends.at(-1)) : bytes);
  return fileName;
};

/** Writes a recording that isn't closed, of the first `lengthBytes`; returns its name. */
export const writeOpen = (folder: string, options: TestRecording, lengthBytes?: number): string => {
  const { bytes } = buildRecording({ ...options, hasIndex: false });
  const fileName = openName(options.startMs);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, fileName), bytes.subarray(0, lengthBytes));
  return fileName;
};
