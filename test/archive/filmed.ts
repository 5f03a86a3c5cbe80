import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { KeptDetections } from '../../src/archive/detections/kept-detections.js';
import { closedName, openName } from '../../src/archive/files/file-name.js';
import type { FilesInProgress } from '../../src/archive/files/file-progress.js';
import { Frames } from '../../src/archive/frames/frames.js';
import { Recordings } from '../../src/archive/list/recordings.js';
import { KeyFrames } from '../../src/archive/play/key-frames.js';
import { RecordingLocator } from '../../src/archive/play/locator.js';
import { Playback } from '../../src/archive/play/playback.js';
import { SubtitleTrack } from '../../src/archive/play/subtitle-track.js';
import { systemClock, type WallMs } from '../../src/base/clock.js';
import { cueText } from '../../src/detect/cue.js';
import { VIDEO_TRACK_ID } from '../../src/fmp4/init-segment.js';
import { PartTable } from '../../src/fmp4/part-table.js';
import { buildMfra } from '../../src/fmp4/random-access.js';
import { recordFile, samplesOf, scanFile, streamInfoOf } from '../fmp4/fragmented-file.js';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';
import { tempFolder } from '../support/temp-folder.js';
import { inBlocks } from './in-blocks.js';
import { InlineRunner } from './inline-runner.js';
import { nobodyWrites } from './nobody-writes.js';

export const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
export const CAMERA_ID = 'door';
const PRFT_BYTES = 32;

export type Film = {
  readonly video: VideoStream;
  readonly audio?: AudioStream | null;
  readonly startMs?: number;
  readonly hasIndex?: boolean;
};

export type FilmedPart = {
  readonly startBytes: number;
  readonly endBytes: number;
  /** Of its keyframe. */
  readonly ptsTicks: number;
};

/** A recording of real pictures, as the recorder writes it, and where its parts are. */
export const film = ({ video, audio = null, startMs = START_MS, hasIndex = true }: Film) => {
  const file = recordFile(streamInfoOf(video, audio?.track ?? null), samplesOf(video, audio), {
    maxSamples: 12,
    startWallMs: startMs,
  });
  const { scanner } = scanFile(file);
  const { columns, fragments } = scanner;
  const head = file.subarray(0, fragments[0]!.offsetBytes);
  const layout = inBlocks(
    head,
    fragments.map(({ offsetBytes, endBytes }) => file.subarray(offsetBytes, endBytes)),
  );
  const table = new PartTable();
  const parts: FilmedPart[] = [];
  for (const [fragment, { offsetBytes, firstSamples, endSamples }] of fragments.entries()) {
    const [startBytes, endBytes] = [layout.starts[fragment]!, layout.ends[fragment]!];
    const first = firstSamples[0]!;
    if (first < endSamples[0]! && columns[0]!.isKey[first] === 1) {
      const ptsTicks = columns[0]!.dtsTicks[first]! + columns[0]!.compositionTicks[first]!;
      const hasWall = file.toString('latin1', offsetBytes + 4, offsetBytes + 8) === 'prft';
      table.add(ptsTicks, startBytes + (hasWall ? PRFT_BYTES : 0));
      parts.push({ startBytes, endBytes, ptsTicks });
    } else {
      parts.push({ ...parts.pop()!, endBytes });
    }
  }
  // What fills the last block goes when the index is written.
  const closed = [layout.bytes.subarray(0, layout.ends.at(-1)), buildMfra(VIDEO_TRACK_ID, table)];
  const bytes = hasIndex ? Buffer.concat(closed) : layout.bytes;
  const endMs = startMs + (video.frames.length * 1000) / video.frameRateHz;
  return { bytes, parts, startMs, endMs };
};

/** A playlist's text. */
export const textOf = (pieces: readonly Buffer[]): string => Buffer.concat(pieces).toString();

/** An archive with one camera's folder, and what plays it in the test's own thread. */
export const makeArchive = (
  t: TestContext,
  { archiveDir = tempFolder(t), live = nobodyWrites }: { archiveDir?: string; live?: FilesInProgress } = {},
) => {
  const folder = join(archiveDir, CAMERA_ID);
  mkdirSync(folder, { recursive: true });
  const runner = new InlineRunner();
  const recordings = new Recordings({ archiveDir }, { runner, live });
  const time = { nowMs: START_MS + 86_400_000 };
  const clock = { wallMs: () => time.nowMs as WallMs };
  const locator = new RecordingLocator({ archiveDir }, { recordings, runner });
  const playback = new Playback({ locator, runner, clock });
  const keyFrames = new KeyFrames({ locator, runner });
  const frames = new Frames({ clock: { ...systemClock, ...clock }, locator, runner, whyNot: () => null });
  const detections = new KeptDetections({ archiveDir }, { recordings, runner });
  const subtitles = new SubtitleTrack({ locator, runner, clock, detections, cueText });
  const put = (fileName: string, bytes: Buffer): string => {
    writeFileSync(join(folder, fileName), bytes);
    return fileName;
  };
  return {
    archiveDir,
    folder,
    runner,
    recordings,
    playback,
    keyFrames,
    frames,
    detections,
    subtitles,
    time,
    put,
    putClosed: ({ bytes, startMs, endMs }: ReturnType<typeof film>): string =>
      put(closedName(startMs, endMs), bytes),
    putOpen: ({ bytes, startMs }: ReturnType<typeof film>, lengthBytes = bytes.length): string =>
      put(openName(startMs), bytes.subarray(0, lengthBytes)),
  };
};
