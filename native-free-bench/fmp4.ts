import { FragmentBuilder } from '../src/fmp4/fragment.js';
import { AUDIO_TRACK_ID, VIDEO_TRACK_ID } from '../src/fmp4/init-segment.js';
import type { Bench, BenchResult } from './bench.js';
import { type Cell, median } from './table.js';

type Fmp4Options = {
  /** Fragments of one second to measure, in batches of 500, after a warm-up of a tenth of that. */
  readonly fragments: number;
};

const VIDEO_FRAMES = 25;
const FRAME_TICKS = 3600;
const AAC_TICKS = 1024;
const AAC_HZ = 48_000;
const BATCH_FRAGMENTS = 500;

/** One camera: adds a second of frames as the ring gives them, and writes the fragment's head. */
class Camera {
  readonly #hasAudio: boolean;
  readonly #builder: FragmentBuilder;
  readonly #head = Buffer.alloc(16_384);
  readonly #endTicks = new Float64Array(2);
  samples = 0;
  headBytes = 0;
  #second = 0;
  #audioFrames = 0;

  constructor(hasAudio: boolean) {
    this.#hasAudio = hasAudio;
    const video = {
      trackId: VIDEO_TRACK_ID,
      kind: 'video',
      originTicks: 0,
      usualDurationTicks: FRAME_TICKS,
    } as const;
    const audio = {
      trackId: AUDIO_TRACK_ID,
      kind: 'audio',
      originTicks: 0,
      usualDurationTicks: AAC_TICKS,
    } as const;
    this.#builder = new FragmentBuilder(hasAudio ? [video, audio] : [video]);
  }

  recordSecond(): void {
    const builder = this.#builder;
    const firstTicks = this.#second * VIDEO_FRAMES * FRAME_TICKS;
    builder.setWall(1_790_000_000_000 + this.#second * 1000, firstTicks);
    for (let frame = 0; frame < VIDEO_FRAMES; frame += 1) {
      const ticks = firstTicks + frame * FRAME_TICKS;
      if (!builder.add(0, ticks, ticks, 20_000, frame === 0)) throw new Error('a frame was refused');
      if (this.#hasAudio) this.#addAudio(ticks);
    }
    this.samples += builder.sampleCount;
    this.#endTicks[0] = firstTicks + VIDEO_FRAMES * FRAME_TICKS;
    this.#endTicks[1] = this.#audioFrames * AAC_TICKS;
    this.headBytes += builder.finish(this.#head, 0, this.#endTicks);
    this.#second += 1;
  }

  #addAudio(videoTicks: number): void {
    for (; (this.#audioFrames * AAC_TICKS) / AAC_HZ <= videoTicks / 90_000; this.#audioFrames += 1) {
      const ticks = this.#audioFrames * AAC_TICKS;
      if (!this.#builder.add(1, ticks, ticks, 340, true)) throw new Error('a frame was refused');
    }
  }
}

const measure = (name: string, hasAudio: boolean, wantedFragments: number): readonly Cell[] => {
  const fragments = Math.ceil(wantedFragments / BATCH_FRAGMENTS) * BATCH_FRAGMENTS;
  const camera = new Camera(hasAudio);
  for (let index = 0; index < fragments / 10; index += 1) camera.recordSecond();
  const { samples, headBytes } = camera;
  const grown: number[] = [];
  const before = process.cpuUsage();
  for (let done = 0; done < fragments; done += BATCH_FRAGMENTS) {
    const heapBefore = process.memoryUsage().heapUsed;
    for (let index = 0; index < BATCH_FRAGMENTS; index += 1) camera.recordSecond();
    grown.push(process.memoryUsage().heapUsed - heapBefore);
  }
  const { user, system } = process.cpuUsage(before);
  const measured = camera.samples - samples;
  return [
    name,
    measured / fragments,
    ((user + system) * 1000) / measured,
    (user + system) / fragments,
    (camera.headBytes - headBytes) / measured,
    median(grown) / BATCH_FRAGMENTS,
  ];
};

const runFmp4Bench = ({ fragments }: Fmp4Options): BenchResult => ({
  columns: [
    'fragment of 1 s',
    'samples',
    'ns/sample',
    'us/fragment',
    'head bytes/sample',
    'heap bytes/fragment',
  ],
  rows: [
    measure('25 video frames', false, fragments),
    measure('25 video frames, AAC between', true, fragments),
  ],
  notes: [`Heap: its growth, the median of batches of ${BATCH_FRAGMENTS}, few of which see a collection.`],
});

/** The benchmark as the registry wants it. */
export const fmp4: Bench<Fmp4Options> = {
  name: 'fmp4',
  describe: 'heads of fragments built from the numbers of their samples',
  options: { fragments: 50_000 },
  run: runFmp4Bench,
};
