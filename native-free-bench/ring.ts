import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { RingReader } from '../src/ring/reader.js';
import { RingWriter } from '../src/ring/writer.js';
import type { BenchResult } from './bench.js';
import { FRAME_BYTES, FrameSource, type ReaderReport, type RingThreadData } from './ring-thread.js';
import type { Cell } from './table.js';

type RingBenchOptions = {
  /** Readers, each a thread of its own, in the last rows; halved down to 1 in those before. */
  readonly readers: number;
  /** How long each of the rows across threads runs. */
  readonly seconds: number;
};

const BATCH_FRAMES = 500;
const BATCHES = 40;
const WARM_UP_BATCHES = 10;

const cpuMicrosOf = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

/** Writing and reading in one thread, in turn: what each costs by itself. */
const inOneThread = (): readonly (readonly Cell[])[] => {
  const ringBytes = 16 << 20;
  const writer = new RingWriter(
    { dataBytes: ringBytes, maxDataBytes: ringBytes, slotCount: 1024, maxSlotCount: 1024 },
    { bell: { markPublished: () => {} }, onReplaced: () => {} },
  );
  const source = new FrameSource(writer);
  const target = Buffer.alloc(FRAME_BYTES + 4);
  const copying = new RingReader(writer.ring, { start: 'next' });
  const viewing = new RingReader(writer.ring, { start: 'next' });
  const micros = { write: 0, copy: 0, view: 0 };
  for (let batch = 0; batch < WARM_UP_BATCHES + BATCHES; batch += 1) {
    if (batch === WARM_UP_BATCHES) micros.write = micros.copy = micros.view = 0;
    micros.write += cpuMicrosOf(() => {
      for (let i = 0; i < BATCH_FRAMES; i += 1) source.write();
    });
    micros.copy += cpuMicrosOf(() => {
      while (copying.next()) if (!copying.copyTo(target, 0)) throw new Error('the bench outran its reader');
    });
    micros.view += cpuMicrosOf(() => {
      while (viewing.next()) if (!viewing.isIntact()) throw new Error('the bench outran its reader');
    });
  }
  const frames = BATCHES * BATCH_FRAMES;
  return [
    ['one thread: write in 14 packets', '', micros.write / frames, '', '', '', ''],
    ['one thread: read, copy, check', '', '', micros.copy / frames, '', '', ''],
    ['one thread: read in place, check', '', '', micros.view / frames, '', '', ''],
  ];
};

/** One writer and its readers, each in its own thread, woken by the bell. */
const acrossThreads = async (
  readers: number,
  framesPerTurn: number,
  turnMs: number,
  seconds: number,
): Promise<readonly Cell[]> => {
  const entry = new URL('./ring-thread.js', import.meta.url);
  const start = (workerData: RingThreadData): Worker => new Worker(entry, { workerData });
  const control = new SharedArrayBuffer(8);
  const writer = start({ role: 'writer', control, readers, framesPerTurn, turnMs, seconds });
  const [{ ring, bell }] = (await once(writer, 'message')) as [
    { ring: SharedArrayBuffer; bell: SharedArrayBuffer },
  ];
  // Asked for before the readers are: it may be done before the last of them.
  const written = once(writer, 'message') as Promise<[number]>;
  const threads = Array.from({ length: readers }, () => start({ role: 'reader', control, ring, bell }));
  const reports = (await Promise.all(threads.map((thread) => once(thread, 'message')))) as [ReaderReport][];
  const [writerMicros] = await written;
  const mean = (pick: (report: ReaderReport) => number): number =>
    reports.reduce((sum, [report]) => sum + pick(report), 0) / readers;
  return [
    `threads: ${framesPerTurn} frame(s) each ${turnMs} ms`,
    readers,
    writerMicros,
    mean((report) => report.cpuMicros / report.frames),
    mean((report) => report.p50Micros),
    mean((report) => report.p99Micros),
    mean((report) => report.dropped),
  ];
};

const runRingBench = async ({ readers, seconds }: RingBenchOptions): Promise<BenchResult> => {
  const rows: (readonly Cell[])[] = [...inOneThread()];
  const counts = new Set([1, Math.ceil(readers / 2), readers]);
  for (const [framesPerTurn, turnMs] of [
    [20, 10],
    [1, 2],
  ] as const) {
    for (const count of counts) rows.push(await acrossThreads(count, framesPerTurn, turnMs, seconds));
  }
  return {
    columns: [
      'frames of 20 KB',
      'readers',
      'writer us/frame',
      'reader us/frame',
      'p50 us',
      'p99 us',
      'dropped',
    ],
    rows,
    notes: [
      'us/frame: CPU of the thread, timers and wake-ups included; us: from before the commit to after the copy.',
    ],
  };
};

/** The benchmark as the registry wants it. */
export const ring = {
  name: 'ring',
  describe: 'frames through the shared ring: one writer, readers in this thread and in others',
  options: { readers: 4, seconds: 2 },
  run: runRingBench,
};
