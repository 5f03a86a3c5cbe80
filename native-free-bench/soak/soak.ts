import { writeFileSync } from 'node:fs';
import { OwnService } from '../box/own-service.js';
import { cpuMsOf, memoryOf, threadsOf } from '../box/process-meter.js';
import { Progress } from '../box/progress.js';
import { Child } from '../child.js';
import { readOptions, UsageError } from '../options.js';
import { type RunFacts, runFacts } from '../run-facts.js';
import { type Cell, formatTable } from '../table.js';
import { failures } from './failing-camera.js';
import type { SoakCamerasAnswer, SoakCamerasQuestion } from './soak-cameras.js';
import { type FigureVerdict, judge, type SoakSample, watched } from './verdict.js';
import { Visitors } from './visitors.js';

const defaults = {
  hours: 1,
  cameras: 20,
  mbit: 1,
  fps: 15,
  gop: 2,
  record: false,
  /** As many of each kind at most; they come and go. */
  ws: 10,
  wall: 8,
  hls: 5,
  rtsp: 5,
  whep: 3,
  /** Of all cameras together, a minute. */
  failures: 6,
  json: '',
};
type Options = typeof defaults;

const kinds = ['ws', 'wall', 'hls', 'rtsp', 'whep'] as const;
/** In all; at least a second lies between two. */
const SAMPLES = 720;
/** A silence longer than this, and the service gives up the connection: some are. */
const MOST_SILENT_SEC = 20;
/** After the last failure; the longest pause between two tries to connect is in it. */
const COME_BACK_MS = 90_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

type Failed = Readonly<Record<(typeof failures)[number], number>>;

export type SoakResult = RunFacts & {
  readonly bench: 'soak';
  readonly seconds: number;
  readonly failures: Failed;
  readonly visits: Readonly<Record<string, { readonly visits: number; readonly faults: number }>>;
  /** Whether all cameras streamed again in the end. */
  readonly allCameBack: boolean;
  readonly verdicts: readonly FigureVerdict[];
  readonly samples: readonly SoakSample[];
};

const sampleOf = async (
  service: OwnService,
  visitors: readonly Visitors[],
  startMs: number,
): Promise<SoakSample> => {
  const metrics = await service.metrics();
  const files = metrics.sum('process_open_fds');
  return {
    atSec: (performance.now() - startMs) / 1_000,
    ...memoryOf(service.pid),
    heapMb: metrics.sum('svc_thread_heap_used_bytes') / 1e6,
    ringMb: metrics.sum('svc_ring_memory_bytes') / 1e6,
    openFiles: files === 0 ? null : files,
    threads: threadsOf(service.pid),
    viewers: visitors.reduce((sum, each) => sum + each.viewers, 0),
    streaming: metrics.sum('svc_stream_online'),
    drops: metrics.sum('svc_buffer_drops_total'),
    unrecordedFrames: metrics.sum('svc_unrecorded_frames_total'),
    reconnects: metrics.sum('svc_stream_reconnects_total'),
    cpuMs: cpuMsOf(service.pid),
  };
};

/** Lets cameras fail by chance until the time is over. */
const failAll = async (
  options: Options,
  cameras: Child<SoakCamerasQuestion, SoakCamerasAnswer>,
  endMs: number,
): Promise<Failed> => {
  const counts = { disconnect: 0, silence: 0, 'other-sets': 0 };
  const meanMs = 60_000 / options.failures;
  for (;;) {
    // As rare things come: mostly in short order, sometimes late.
    const waitMs = -Math.log(1 - Math.random()) * meanMs;
    const leftMs = endMs - performance.now();
    if (!(waitMs < leftMs)) {
      await sleep(Math.max(0, leftMs));
      return counts;
    }
    await sleep(waitMs);
    const failure = failures[Math.floor(Math.random() * failures.length)]!;
    const camera = Math.floor(Math.random() * options.cameras);
    counts[failure] += 1;
    await cameras.ask({ type: 'fail', camera, failure, seconds: Math.random() * MOST_SILENT_SEC });
  }
};

const comeBack = async (service: OwnService): Promise<boolean> => {
  const deadlineMs = performance.now() + COME_BACK_MS;
  while ((await service.streaming()) < service.cameras) {
    if (performance.now() > deadlineMs) return false;
    await sleep(500);
  }
  return true;
};

const soakService = async (
  options: Options,
  service: OwnService,
  cameras: Child<SoakCamerasQuestion, SoakCamerasAnswer>,
  visitors: readonly Visitors[],
): Promise<Omit<SoakResult, keyof RunFacts | 'bench'>> => {
  const progress = new Progress();
  const samples: SoakSample[] = [];
  const startMs = performance.now();
  const endMs = startMs + options.hours * 3_600_000;
  const visiting = Promise.all(visitors.map((each) => each.run()));
  const failing = failAll(options, cameras, endMs);
  const everyMs = Math.max(1_000, (endMs - startMs) / SAMPLES);
  while (performance.now() < endMs) {
    const sample = await sampleOf(service, visitors, startMs);
    samples.push(sample);
    progress.show(
      'soaking',
      `${(sample.atSec / 60).toFixed(1)} of ${(options.hours * 60).toFixed(1)} min, ${sample.streaming} stream, ` +
        `${sample.viewers} viewers, RSS ${sample.rssMb?.toFixed(0) ?? '?'} MB, heap ${sample.heapMb.toFixed(0)} MB`,
    );
    await sleep(Math.max(0, Math.min(everyMs, endMs - performance.now())));
  }
  const counts = await failing;
  for (const each of visitors) each.stop();
  await visiting;
  const allCameBack = await comeBack(service);
  progress.clear();
  return {
    seconds: (performance.now() - startMs) / 1_000,
    failures: counts,
    visits: Object.fromEntries(visitors.map(({ kind, visits, faults }) => [kind, { visits, faults }])),
    allCameBack,
    verdicts: watched.map((figure) => judge(figure, samples)),
    samples,
  };
};

const print = ({ verdicts, visits, failures: failed, samples, allCameBack }: SoakResult): void => {
  const rows = verdicts.map(({ figure, trend, verdict }): Cell[] => [
    figure,
    trend?.mean ?? '-',
    trend?.slope ?? '-',
    trend?.low ?? '-',
    trend?.high ?? '-',
    verdict,
  ]);
  console.log(formatTable({ columns: ['figure', 'mean', 'an hour', 'low', 'high', 'verdict'], rows }));
  const last = samples.at(-1);
  const listed = (counts: Readonly<Record<string, unknown>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${String(count)}`)
      .join(', ');
  console.log(`\nfailures: ${listed(failed)}; reconnects ${last?.reconnects ?? 0}`);
  console.log(
    `visits: ${listed(Object.fromEntries(Object.entries(visits).map(([kind, each]) => [kind, `${each.visits} (${each.faults} broken off)`])))}`,
  );
  console.log(`frames dropped for viewers ${last?.drops ?? 0}, not recorded ${last?.unrecordedFrames ?? 0}`);
  console.log(allCameBack ? 'all cameras came back' : 'NOT all cameras came back');
};

const readSoakOptions = (args: readonly string[]): Options => {
  const { options, rest } = readOptions('soak', defaults, args);
  if (rest.length > 0) throw new UsageError(`soak takes options alone, not ${rest.join(' ')}`);
  for (const name of ['hours', 'cameras', 'mbit', 'fps', 'gop'] as const)
    if (options[name] <= 0) throw new UsageError(`--${name} is more than 0`);
  for (const name of [...kinds, 'cameras'] as const)
    if (!Number.isInteger(options[name]) || options[name] < 0)
      throw new UsageError(`--${name} is a whole number`);
  if (options.failures < 0) throw new UsageError('--failures is 0 or more');
  return options;
};

/** `npm run bench -- soak`: 1 where something grows, or a camera didn't come back. */
export const soak = async (args: readonly string[]): Promise<number> => {
  const options = readSoakOptions(args);
  const facts = runFacts(options);
  const cameras = new Child<SoakCamerasQuestion, SoakCamerasAnswer>(
    new URL('./soak-cameras.js', import.meta.url),
  );
  let service: OwnService | null = null;
  let visitors: readonly Visitors[] = [];
  try {
    const video = {
      kbps: options.mbit * 1_000,
      frameRateHz: options.fps,
      framesPerGop: Math.max(1, Math.round(options.gop * options.fps)),
    };
    const { urls } = await cameras.ask({ type: 'start', cameras: options.cameras, video });
    const started = await OwnService.start({ withRtsp: options.rtsp > 0 });
    service = started;
    await started.stream(urls, options.record, () => {});
    visitors = kinds
      .filter((kind) => options[kind] > 0)
      .map((kind) => new Visitors(kind, options[kind], started));
    const result: SoakResult = {
      bench: 'soak',
      ...facts,
      ...(await soakService(options, started, cameras, visitors)),
    };
    if (options.json !== '') writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
    print(result);
    return result.allCameBack && result.verdicts.every(({ verdict }) => verdict !== 'grows') ? 0 : 1;
  } finally {
    for (const each of visitors) each.end();
    await service?.stop();
    cameras.end();
  }
};
