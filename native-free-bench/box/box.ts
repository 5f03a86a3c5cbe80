import { writeFileSync } from 'node:fs';
import { type GeneratedCameras, startCameras } from '../ingest-cameras.js';
import { runFacts } from '../run-facts.js';
import type { ViewerKind } from '../viewers/messages.js';
import { type BoxOptions, cameraProcesses, kinds, readBoxOptions } from './box-options.js';
import { printResult } from './box-report.js';
import { ForeignServer, readTemplates, writeCamerasFile } from './foreign-server.js';
import { OwnService } from './own-service.js';
import { Progress } from './progress.js';
import type { BoxResult, Window } from './result.js';
import { Rig } from './rig.js';
import type { Subject } from './subject.js';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const startBoxCameras = (options: BoxOptions): Promise<GeneratedCameras> => {
  return startCameras({
    count: options.cameras,
    isPaced: options.pattern === 'paced',
    kbps: options.mbit * 1_000,
    framesPerSecond: options.fps,
    framesPerGop: Math.max(1, Math.round(options.gop * options.fps)),
    codec: options.codec === 'h265' ? 'h265' : 'h264',
    processes: cameraProcesses(options),
  });
};

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

/** From when all cameras streamed to the end; what viewers missed, in the windows. */
const lostIn = async (rig: Rig, windows: readonly Window[]): Promise<BoxResult['lost']> => {
  const { losses, skippedFrames } = await rig.lost();
  const missedBy = (kind: ViewerKind): number =>
    windows
      .flatMap(({ viewers }) => viewers)
      .reduce((sum, each) => sum + (each.kind === kind ? each.lostFrames : 0), 0);
  return {
    camera_frames_not_taken: skippedFrames,
    packets_lost: losses?.packetsLost ?? 0,
    damaged_frames: losses?.damagedFrames ?? 0,
    unrecorded_frames: losses?.unrecordedFrames ?? 0,
    dropped_for_viewers: losses?.drops ?? 0,
    ...Object.fromEntries(kinds.map((kind) => [`frames_missed_by_${kind}`, missedBy(kind)])),
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
    await rig.begin();
    const windows = await measureAll(options, rig, progress);
    const lost = await lostIn(rig, windows);
    const faults = await rig.faults();
    return {
      bench: 'box',
      ...facts,
      allStreamingMs: started.allStreamingMs,
      windows,
      ...costs(options, windows),
      faults,
      lost,
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
