import type { StreamInfo } from '../src/codec/track.js';
import { SegmentMuxer } from '../src/mpegts/segment-muxer.js';
import type { BenchResult } from './bench.js';

type MpegtsOptions = {
  /** Segments to measure, after a warm-up of a fifth of that. */
  readonly segments: number;
};

/** A GOP of 2 s at 4 Mbit/s and 25 frames/s. */
const FRAMES_PER_SEGMENT = 50;
const FRAME_BYTES = 20_000;
const FRAME_TICKS = 3600;
/** Segments between two looks at the heap. */
const CHUNK_SEGMENTS = 20;
/** A view that somebody makes for each packet would be over 10 KB a frame. */
const MAX_HEAP_BYTES_PER_FRAME = 400;

const info: StreamInfo = {
  video: {
    codec: 'h264',
    vps: [],
    sps: [Buffer.from('67640028acd940780227e5c044000003000400000300c83c60c658', 'hex')],
    pps: [Buffer.from('68ebe3cb22c0', 'hex')],
    width: 1920,
    height: 1080,
    codecString: 'avc1.640028',
    frameRateHz: 25,
    reorderDepth: 0,
  },
  audio: null,
};

/** The source is shared memory, as a ring's is: each frame at another place, one NAL unit each. */
const createFrames = (): Buffer => {
  const memory = Buffer.from(new SharedArrayBuffer(FRAMES_PER_SEGMENT * FRAME_BYTES)).fill(0x5a);
  for (let at = 0; at < memory.length; at += FRAME_BYTES) memory.writeUInt32BE(FRAME_BYTES - 4, at);
  return memory;
};

/** A copy that copies nothing, to see what the muxer allocates itself: Node 20's makes a view for each call. */
const withoutCopies = (memory: Buffer): Buffer => Object.assign(memory.subarray(), { copy: () => 0 });

class Source {
  bytes = 0;
  readonly #memory: Buffer;
  readonly #muxer: SegmentMuxer;
  #index = 0;

  constructor(memory: Buffer, continuity: 'carried' | 'standalone') {
    this.#memory = memory;
    this.#muxer = new SegmentMuxer({ continuity, initialBytes: 2 << 20 });
  }

  make(segments: number): void {
    for (let i = 0; i < segments; i += 1) {
      const firstTicks = this.#index * FRAMES_PER_SEGMENT * FRAME_TICKS;
      this.#muxer.begin(info, { index: this.#index, discontinuity: false });
      for (let frame = 0; frame < FRAMES_PER_SEGMENT; frame += 1) {
        const ticks = firstTicks + frame * FRAME_TICKS;
        const start = frame * FRAME_BYTES;
        if (!this.#muxer.video(this.#memory, start, start + FRAME_BYTES, ticks, ticks, frame === 0)) {
          throw new Error('the bench lost a frame');
        }
      }
      this.bytes += this.#muxer.finish(null).lengthBytes;
      this.#index += 1;
    }
  }
}

const rowOf = (
  memory: Buffer,
  continuity: 'carried' | 'standalone',
  segments: number,
): readonly (string | number)[] => {
  const source = new Source(memory, continuity);
  source.make(Math.ceil(segments / 5));
  source.bytes = 0;
  const before = process.cpuUsage();
  source.make(segments);
  const { user, system } = process.cpuUsage(before);
  const micros = user + system;
  const frames = segments * FRAMES_PER_SEGMENT;
  const wireBytes = source.bytes / frames / FRAME_BYTES;
  return [continuity, (frames * FRAME_BYTES) / micros, micros / frames, (wireBytes - 1) * 100];
};

/** Bytes that the heap grew by for each frame, collections in between left out. */
const heapGrowthOf = (memory: Buffer, segments: number): number => {
  const source = new Source(withoutCopies(memory), 'carried');
  source.make(Math.ceil(segments / 5));
  let bytes = 0;
  for (let done = 0; done < segments; done += CHUNK_SEGMENTS) {
    const before = process.memoryUsage().heapUsed;
    source.make(CHUNK_SEGMENTS);
    bytes += Math.max(0, process.memoryUsage().heapUsed - before);
  }
  return bytes / (segments * FRAMES_PER_SEGMENT);
};

const run = ({ segments }: MpegtsOptions): BenchResult => {
  const memory = createFrames();
  const rows = [rowOf(memory, 'carried', segments), rowOf(memory, 'standalone', segments)];
  const heapBytes = heapGrowthOf(memory, segments);
  if (heapBytes > MAX_HEAP_BYTES_PER_FRAME) {
    throw new Error(`something is allocated for each packet: ${heapBytes} bytes a frame`);
  }
  return {
    columns: ['segments of 2 s, 4 Mbit/s', 'MB/core-s', 'us per 20 KB frame', 'larger by %'],
    rows,
    notes: [`heap growth without Buffer.copy's own: ${heapBytes.toFixed(1)} bytes a frame`],
  };
};

/** The benchmark as the registry wants it. */
export const mpegts = {
  name: 'mpegts',
  describe: 'frames in shared memory to MPEG-TS segments: Annex B, PES, packets, one copy',
  options: { segments: 200 },
  run,
};
