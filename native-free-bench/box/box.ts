import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { type GeneratedCameras, startCameras } from '../ingest-cameras.js';
import { readOptions, UsageError } from '../options.js';
import type { ViewerKind } from '../viewers/messages.js';
import { printResult, readResult } from './box-report.js';
import { ForeignServer, readTemplates, writeCamerasFile } from './foreign-server.js';
import { OwnService } from './own-service.js';
import { Progress } from './progress.js';
import type { BoxResult, Window } from './result.js';
import { Rig } from './rig.js';
import type { Subject } from './subject.js';

export const boxDefaults = {
  cameras: 10,
  /** Of each camera. */
  mbit: 4,
  fps: 25,
  /** Seconds from keyframe to keyframe. */
  gop: 2,
  codec: 'h264',
  /** paced: each RTP packet is a send of its own, 0.2 ms apart, as real cameras do; burst: one send a frame. */
  pattern: 'paced',
  record: false,
  /** Viewers of each kind, spread over the cameras; of a wall: its tiles. */
  ws: 0,
  whep: 0,
  hls: 0,
  wall: 0,
  rtsp: 0,
  /** So many times a second somebody asks for the list of cameras. */
  api: 2,
  /** Each window; there is one without viewers, and one more with each kind of them. */
  seconds: 10,
  /** Before the first window: every thread compiles its hot path for itself. Before each other one it is half of that. */
  'warm-up': 20,
  /** Processes that cameras are spread over; 0: as many as it takes. */
  'camera-processes': 0,
  /** Another product is measured in the place of the service: its addresses, with `{n}` for a camera, by commas. */
  server: '',
  'server-pid': 0,
  /** Where the cameras' addresses are written for whoever configures the other product. */
  'cameras-file': '',
  json: '',
  against: '',
};
export type BoxOptions = typeof boxDefaults;

/** The order in which viewers come. */
const kinds: readonly ViewerKind[] = ['ws', 'wall', 'hls', 'rtsp', 'whep'];
/** Of a thread that sends each packet by itself, at 4 Mbit/s. */
const PACED_CAMERAS_PER_PROCESS = 250;
const BURST_CAMERAS_PER_PROCESS = 1_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isWhole = (value: number): boolean => Number.isInteger(value) && value >= 0;

/** What another product can be asked for. */
const checkServer = (options: BoxOptions): void => {
  if (options.server === '') {
    if (options['server-pid'] !== 0 || options['cameras-file'] !== '')
      throw new UsageError('--server-pid and --cameras-file go with --server');
    return;
  }
  const templates = readTemplates(options.server);
  for (const kind of kinds)
    if (options[kind] > 0 && !templates.has(kind))
      throw new UsageError(`--server has no address for --${kind}`);
  if (options.record) throw new UsageError('what --server records, its own configuration says');
  if (options['cameras-file'] === '') throw new UsageError('--server wants a --cameras-file');
};

export const readBoxOptions = (args: readonly string[]): BoxOptions => {
  const { options, rest } = readOptions('box', boxDefaults, args);
  if (rest.length > 0) throw new UsageError(`box takes options alone, not ${rest.join(' ')}`);
  if (!isWhole(options.cameras) || options.cameras === 0) throw new UsageError('--cameras is 1 or more');
  for (const kind of kinds)
    if (!isWhole(options[kind])) throw new UsageError(`--${kind} is a number of viewers`);
  for (const name of ['mbit', 'fps', 'gop', 'seconds'] as const)
    if (options[name] <= 0) throw new UsageError(`--${name} is more than 0`);
  for (const name of ['api', 'warm-up', 'camera-processes'] as const)
    if (options[name] < 0) throw new UsageError(`--${name} is 0 or more`);
  checkServer(options);
  if (!['h264', 'h265'].includes(options.codec)) throw new UsageError('--codec is h264 or h265');
  if (options.against !== '') readResult(options.against);
  if (!['paced', 'burst'].includes(options.pattern)) throw new UsageError('--pattern is paced or burst');
  return options;
};

export const startBoxCameras = (options: BoxOptions): Promise<GeneratedCameras> => {
  const isPaced = options.pattern === 'paced';
  const most = isPaced ? PACED_CAMERAS_PER_PROCESS : BURST_CAMERAS_PER_PROCESS;
  const needed = Math.ceil((options.cameras * options.mbit) / 4 / most);
  return startCameras({
    count: options.cameras,
    isPaced,
    kbps: options.mbit * 1_000,
    framesPerSecond: options.fps,
    framesPerGop: Math.max(1, Math.round(options.gop * options.fps)),
    codec: options.codec === 'h265' ? 'h265' : 'h264',
    processes: Math.min(options.cameras, options['camera-processes'] || needed),
  });
};

/** What all of it says of the machine and of what was asked for. */
export const runFacts = (options: BoxOptions) => ({
  at: new Date().toISOString(),
  machine: {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryMb: Math.round(totalmem() / 1e6),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  },
  options: { ...options },
});

const measureAll = async (options: BoxOptions, rig: Rig, progress: Progress): Promise<Window[]> => {
  const windows: Window[] = [];
  const measure = async (name: string, added: Window['added'], warmUpSec: number): Promise<void> => {
    progress.show(name, `warming up for ${warmUpSec} s`);
    await sleep(warmUpSec * 1_000);
    const onTick = (elapsedSec: number, corePercent: number | null): void =>
      progress.show(
        name,
        `${elapsedSec.toFixed(0)} of ${options.seconds} s, ${corePercent === null ? '' : `${corePercent.toFixed(0)} % of a core`}`,
      );
    windows.push(await rig.measure(name, added, options.seconds, onTick));
  };
  await measure('no viewers', null, options['warm-up']);
  for (const kind of kinds) {
    const viewers = options[kind];
    if (viewers === 0) continue;
    progress.show(`${viewers} ${kind}`, 'connecting');
    await rig.join(kind, viewers);
    await measure(`${viewers} ${kind}`, { kind, viewers }, options['warm-up'] / 2);
  }
  return windows;
};

const lostIn = (windows: readonly Window[]): BoxResult['lost'] => {
  const total = (of: (window: Window) => number): number => windows.reduce((sum, each) => sum + of(each), 0);
  return {
    camera_frames_not_taken: total(({ cameras }) => cameras.skippedFrames),
    packets_lost: total(({ losses }) => losses?.packetsLost ?? 0),
    damaged_frames: total(({ losses }) => losses?.damagedFrames ?? 0),
    unrecorded_frames: total(({ losses }) => losses?.unrecordedFrames ?? 0),
    dropped_for_viewers: total(({ losses }) => losses?.drops ?? 0),
    ...Object.fromEntries(
      kinds.map((kind) => [
        `frames_missed_by_${kind}`,
        total(({ viewers }) =>
          viewers.reduce((sum, each) => sum + (each.kind === kind ? each.lostFrames : 0), 0),
        ),
      ]),
    ),
  };
};

/** What a camera costs without viewers, and what each kind of viewers adds to the window before it. */
const costs = (options: BoxOptions, windows: readonly Window[]) => {
  const base = windows[0]?.cpuMsPerSec ?? null;
  const viewerCpuMsPerSec: Partial<Record<ViewerKind, number>> = {};
  for (const [index, { added, cpuMsPerSec }] of windows.entries()) {
    const before = windows[index - 1]?.cpuMsPerSec ?? null;
    if (added === null || cpuMsPerSec === null || before === null) continue;
    viewerCpuMsPerSec[added.kind] = (cpuMsPerSec - before) / added.viewers;
  }
  return { cpuMsPerSecPerCamera: base === null ? null : base / options.cameras, viewerCpuMsPerSec };
};

type Started = { readonly subject: Subject; readonly allStreamingMs: number | null };

const startService = async (
  options: BoxOptions,
  { urls }: GeneratedCameras,
  progress: Progress,
): Promise<Started> => {
  const service = await OwnService.start({ withRtsp: options.rtsp > 0 });
  try {
    const allStreamingMs = await service.stream(urls, options.record, (streaming) =>
      progress.show('starting', `${streaming} of ${options.cameras} cameras stream`),
    );
    return { subject: service, allStreamingMs };
  } catch (fault) {
    await service.stop();
    throw fault;
  }
};

const findServer = async (
  options: BoxOptions,
  cameras: GeneratedCameras,
  progress: Progress,
): Promise<Started> => {
  writeCamerasFile(options['cameras-file'], cameras.urls);
  const server = new ForeignServer(options['server-pid'], readTemplates(options.server), options.cameras);
  await server.ready(cameras, (text) => progress.show('waiting for the server', text));
  return { subject: server, allStreamingMs: null };
};

export const measureBox = async (options: BoxOptions, progress: Progress): Promise<BoxResult> => {
  const facts = runFacts(options);
  const cameras = await startBoxCameras(options);
  let started: Started | null = null;
  let rig: Rig | null = null;
  try {
    started = await (options.server === '' ? startService : findServer)(options, cameras, progress);
    rig = new Rig(started.subject, cameras, {
      apiPerSecond: options.api,
      framesPerSecond: options.fps,
    });
    const windows = await measureAll(options, rig, progress);
    const faults = await rig.faults();
    return {
      bench: 'box',
      ...facts,
      allStreamingMs: started.allStreamingMs,
      windows,
      ...costs(options, windows),
      faults,
      lost: lostIn(windows),
    };
  } finally {
    progress.clear();
    rig?.end();
    await started?.subject.stop();
    await cameras.stop();
  }
};

/** `npm run bench -- box`. */
export const box = async (args: readonly string[]): Promise<number> => {
  const options = readBoxOptions(args);
  const result = await measureBox(options, new Progress());
  if (options.json !== '') writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
  printResult(result, options.against);
  return 0;
};
