import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placesOf, rangeOfParts } from '../src/archive/export/clip-layout.js';
import {
  type ClipState,
  type CollectClipOutput,
  collectClip,
  emptyClip,
} from '../src/archive/export/collect-clip.js';
import { finishClip } from '../src/archive/export/finish-clip.js';
import { readClip } from '../src/archive/export/read-clip.js';
import type { RecordingSource } from '../src/archive/files/recording-source.js';
import { indexParts } from '../src/archive/parts/index-parts.js';
import { RecordedParts } from '../src/archive/parts/recorded-parts.js';
import { buildSegment } from '../src/archive/play/build-segment.js';
import { buildAacConfig } from '../src/codec/aac.js';
import { aacTrack } from '../src/codec/audio-track.js';
import { FragmentBuilder } from '../src/fmp4/fragment.js';
import { AUDIO_TRACK_ID, buildInitSegment, VIDEO_TRACK_ID } from '../src/fmp4/init-segment.js';
import { PartTable } from '../src/fmp4/part-table.js';
import { buildMfra } from '../src/fmp4/random-access.js';
import type { BenchResult } from './bench.js';

type ArchiveOptions = { readonly minutes: number; readonly rounds: number };

const START_MS = 1_790_000_000_000;
const FRAMES_A_SECOND = 25;
const FRAME_TICKS = 3_600;
const FRAME_BYTES = 20_000;
const AUDIO_HZ = 48_000;
const AUDIO_TICKS = 1_024;
const AUDIO_BYTES = 340;
const PRFT_BYTES = 32;
const SECONDS_A_PART = 2;
/** Media is there for the first seconds alone; the rest are holes, which cost no disk. */
const FILLED_SECONDS = 2 * SECONDS_A_PART;

const info = {
  video: {
    codec: 'h264',
    vps: [],
    sps: [Buffer.from('67640028acd940780227e5c044000003000400000300c83c60c658', 'hex')],
    pps: [Buffer.from('68ebe3cb22c0', 'hex')],
    width: 1920,
    height: 1080,
    codecString: 'avc1.640028',
    frameRateHz: FRAMES_A_SECOND,
    reorderDepth: 0,
  },
  audio: aacTrack(buildAacConfig(AUDIO_HZ, 2), AUDIO_HZ, 2),
} as const;

/** Writes a recording of 4 Mbit/s with AAC between the pictures, and its index. */
const record = (fd: number, seconds: number): void => {
  const builder = new FragmentBuilder([
    { trackId: VIDEO_TRACK_ID, kind: 'video', originTicks: 0, usualDurationTicks: FRAME_TICKS },
    { trackId: AUDIO_TRACK_ID, kind: 'audio', originTicks: 0, usualDurationTicks: AUDIO_TICKS },
  ]);
  const parts = new PartTable();
  const frame = Buffer.alloc(FRAME_BYTES, 0x5a);
  frame.writeUInt32BE(FRAME_BYTES - 4, 0);
  const audioFrame = Buffer.alloc(AUDIO_BYTES, 0x5a);
  const init = buildInitSegment(info);
  let at = writeSync(fd, init, 0, init.length, 0);
  let audioTicks = 0;
  for (let second = 0; second < seconds; second += 1) {
    const firstTicks = second * FRAMES_A_SECOND * FRAME_TICKS;
    const pieces: Buffer[] = [];
    builder.setWall(START_MS + second * 1_000, firstTicks);
    for (let index = 0; index < FRAMES_A_SECOND; index += 1) {
      const ticks = firstTicks + index * FRAME_TICKS;
      builder.add(0, ticks, ticks, FRAME_BYTES, index === 0 && second % SECONDS_A_PART === 0);
      pieces.push(frame);
      for (; audioTicks / AUDIO_HZ <= ticks / 90_000; audioTicks += AUDIO_TICKS) {
        builder.add(1, audioTicks, audioTicks, AUDIO_BYTES, true);
        pieces.push(audioFrame);
      }
    }
    if (second % SECONDS_A_PART === 0) parts.add(firstTicks, at + PRFT_BYTES);
    const head = Buffer.alloc(builder.headBytes);
    const { dataBytes } = builder;
    builder.finish(head, 0, [firstTicks + FRAMES_A_SECOND * FRAME_TICKS, audioTicks]);
    const bytes = second < FILLED_SECONDS ? Buffer.concat([head, ...pieces]) : head;
    writeSync(fd, bytes, 0, bytes.length, at);
    at += head.length + dataBytes;
  }
  ftruncateSync(fd, at);
  const index = buildMfra(VIDEO_TRACK_ID, parts);
  writeSync(fd, index, 0, index.length, at);
};

const measure = (name: string, rounds: number, work: () => unknown): readonly (string | number)[] => {
  const warmUps = Math.ceil(rounds / 4);
  for (let round = 0; round < warmUps; round += 1) work();
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) work();
  const { user, system } = process.cpuUsage(before);
  return [name, (user + system) / 1_000 / rounds];
};

const run = ({ minutes, rounds }: ArchiveOptions): BenchResult => {
  const folder = mkdtempSync(join(tmpdir(), 'framering-'));
  const path = join(folder, 'recording.mp4');
  try {
    const fd = openSync(path, 'w');
    record(fd, minutes * 60);
    closeSync(fd);
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    const source: RecordingSource = {
      path,
      stamp: { ino, sizeBytes: size, mtimeMs, ctimeMs },
      isOpen: false,
    };
    const { parts } = indexParts({ source, fromBytes: 0 }).value;
    const startBytes = parts.startBytes[0]!;
    const recorded = new RecordedParts();
    recorded.addAll(parts, parts.count);
    const [place] = placesOf([rangeOfParts({ source, parts: recorded, first: 0, end: parts.count })]);
    const whole = { source, fromBytes: startBytes, endBytes: parts.endBytes[parts.count - 1]! };
    const collect = (): ClipState => {
      let state = emptyClip();
      const always = { ...whole, place: place!, wallMs: START_MS, pauseSeconds: { video: 0, audio: 0 } };
      for (let fromBytes: number | null = startBytes; fromBytes !== null; ) {
        const isNewFile = fromBytes === startBytes;
        const step: CollectClipOutput = collectClip({ ...always, fromBytes, isNewFile, state }).value;
        [state, fromBytes] = [step.state, step.nextBytes];
      }
      return state;
    };
    const segment = { source, startBytes, endBytes: parts.endBytes[0]!, seq: 0 };
    const plan = finishClip({ state: collect(), startMs: START_MS }).value;
    const piece = {
      ...{ source, offsets: plan.fragmentOffset.slice(0, 3), kinds: plan.kinds, sound: plan.sounds[0]! },
      ...{ skipBytes: 0, lengthBytes: 1 << 20 },
    };
    return {
      columns: ['job', 'CPU ms'],
      rows: [
        measure('parts by the index', rounds * 10, () => indexParts({ source, fromBytes: 0 })),
        measure('parts by the fragments', rounds, () =>
          indexParts({ source: { ...source, isOpen: true }, fromBytes: 0 }),
        ),
        measure('segment of 2 s', rounds * 10, () => buildSegment(segment)),
        measure('export: samples', rounds, collect),
        measure('export: samples and head', rounds, () =>
          finishClip({ state: collect(), startMs: START_MS }),
        ),
        measure('export: 1 MB', rounds * 10, () => readClip(piece)),
      ],
      notes: [
        `a file of ${minutes} min: 4 Mbit/s, 25 pictures and 47 sounds a second, parts of 2 s`,
        `the head of its export has ${(plan.head.length / 1e6).toFixed(1)} MB`,
      ],
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** The benchmark as the registry wants it. */
export const archive = {
  name: 'archive',
  describe: 'jobs behind archive playback and export',
  options: { minutes: 60, rounds: 8 },
  run,
};
