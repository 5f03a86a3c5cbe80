import type { Ticks } from '../src/base/clock.js';
import { g711Track } from '../src/codec/audio-track.js';
import { sampleBytesOf } from '../src/flac/sample-bytes.js';
import { SoundBlocks } from '../src/flac/sound-blocks.js';
import type { Bench, BenchResult } from './bench.js';
import { type Cell, median } from './table.js';

type FlacOptions = {
  /** Seconds of sound to measure, after a warm-up of a tenth of that. */
  readonly seconds: number;
};

const RATE_HZ = 8000;
const PACKET_SAMPLES = 160;
const BATCH_SECONDS = 100;

const codes = Array.from({ length: 256 }, (_, code) => code);
const linear = sampleBytesOf('pcmu')!;
const linearOf = Buffer.from(codes);

/** The nearest code of mu-law. */
const companded = (sample: number): number => {
  const off = (code: number): number => Math.abs(linear.read(linearOf, code) - sample);
  return codes.reduce((best, code) => (off(code) < off(best) ? code : best));
};

/** A second that is played over and over. */
const sounds: Readonly<Record<string, (at: number) => number>> = {
  silence: () => 0xff,
  'a tone that swells': (at) => companded(8000 * Math.sin(at / 7) * Math.sin((Math.PI * at) / RATE_HZ)),
  'the loudest noise': (at) => (Math.imul(at, 2_654_435_761) >>> 13) & 0xff,
};

const measure = (name: string, codeAt: (at: number) => number, wantedSeconds: number): readonly Cell[] => {
  const source = Buffer.from(Array.from({ length: RATE_HZ }, (_, at) => codeAt(at)));
  let bytes = 0;
  const sink = {
    flacFrame: (_: Buffer, lengthBytes: number): void => {
      bytes += lengthBytes;
    },
  };
  const blocks = SoundBlocks.of(g711Track('pcmu', RATE_HZ, 1), sink)!;
  let ticks = 0;
  const play = (seconds: number): void => {
    for (const endTicks = ticks + seconds * RATE_HZ; ticks < endTicks; ticks += PACKET_SAMPLES) {
      const at = ticks % RATE_HZ;
      blocks.add(source, at, at + PACKET_SAMPLES, ticks as Ticks, false);
    }
  };
  const seconds = Math.ceil(wantedSeconds / BATCH_SECONDS) * BATCH_SECONDS;
  play(seconds / 10);
  bytes = 0;
  const grown: number[] = [];
  const before = process.cpuUsage();
  for (let done = 0; done < seconds; done += BATCH_SECONDS) {
    const heapBefore = process.memoryUsage().heapUsed;
    play(BATCH_SECONDS);
    grown.push(process.memoryUsage().heapUsed - heapBefore);
  }
  const { user, system } = process.cpuUsage(before);
  const packets = (BATCH_SECONDS * RATE_HZ) / PACKET_SAMPLES;
  const usASecond = (user + system) / seconds;
  return [
    name,
    usASecond,
    (usASecond * 1000) / RATE_HZ,
    (bytes * 8) / seconds / 1000,
    median(grown) / packets,
  ];
};

const runFlacBench = ({ seconds }: FlacOptions): BenchResult => ({
  columns: ['G.711 at 8 kHz', 'us/s', 'ns/sample', 'kbit/s', 'heap bytes/packet'],
  rows: Object.entries(sounds).map(([name, codeAt]) => measure(name, codeAt, seconds)),
});

/** The benchmark as the registry wants it. */
export const flac: Bench<FlacOptions> = {
  name: 'flac',
  describe: 'G.711 to FLAC, packet by packet',
  options: { seconds: 5000 },
  run: runFlacBench,
};
