import type { Series } from './history.js';
import { type ViewerKind, viewerKinds } from './metrics-source.js';

/** All cameras together, added up by whoever knows them. */
export type CameraTotals = {
  cameras: number;
  streaming: number;
  recording: number;
  fps: number;
  receivedBytes: number;
  droppedFrames: number;
  unrecordedFrames: number;
  readonly viewers: Record<ViewerKind, number>;
};

export type HistorySource = {
  /** Fills in the totals as of now. */
  readonly addUp: (into: CameraTotals) => void;
  readonly threads: {
    /** Seconds that a thread was late, all together. */
    lagSeconds(name: string): number;
    /** CPU time of a thread, by its role and its place among those; NaN: there is none. */
    cpuSeconds(role: string, place: number): number;
    /** CPU time of all of them together, the ended ones included. */
    readonly totalCpuSeconds: number;
  };
  /** Room that is left for recordings, as of the last look; NaN: it isn't known. */
  readonly freeBytes: () => number;
};

/** What a block is in the counts of getrusage(2), where Linux keeps them. */
const BLOCK_BYTES = 512;

/** So many threads of each role are told apart; a series that nobody fills costs 20 KB an hour's figures. */
const threadPlaces = { main: 1, 'camera-worker': 4, 'whep-worker': 2 } as const;

const emptyTotals = (): CameraTotals => ({
  ...{ cameras: 0, streaming: 0, recording: 0, fps: 0 },
  ...{ receivedBytes: 0, droppedFrames: 0, unrecordedFrames: 0 },
  viewers: Object.fromEntries(viewerKinds.map((kind) => [kind, 0])) as Record<ViewerKind, number>,
});

const gauge = (name: string, read: () => number, digits = 0): Series => ({
  ...{ name, kind: 'gauge', ofMinute: 'mean', digits, read },
});

const count = (name: string, read: () => number, digits = 0): Series => ({
  ...{ name, kind: 'count', ofMinute: 'mean', digits, read },
});

const threadSeries = (threads: HistorySource['threads']): Series[] =>
  Object.entries(threadPlaces).flatMap(([role, places]) =>
    Array.from({ length: places }, (_, at) => {
      const name = [role.replace('-', '_'), ...(places > 1 ? [at + 1] : [])].join('_');
      return count(`cpu_${name}_percent`, () => threads.cpuSeconds(role, at + 1) * 100, 1);
    }),
  );

/** Whether a series adds all cameras up. */
export const isOfCameras = (name: string): boolean =>
  /^(?:cameras|fps$|received_|dropped_|unrecorded_|viewers_)/.test(name);

/** What dashboards show over time. The first one looks, the others tell what it saw. */
export const historySeries = ({ addUp, threads, freeBytes }: HistorySource): Series[] => {
  const totals = emptyTotals();
  let usage = process.resourceUsage();
  const look = (): number => {
    addUp(totals);
    usage = process.resourceUsage();
    return totals.cameras;
  };
  return [
    gauge('cameras', look),
    gauge('cameras_streaming', () => totals.streaming, 1),
    gauge('cameras_recording', () => totals.recording, 1),
    gauge('fps', () => totals.fps, 1),
    count('received_bytes_per_second', () => totals.receivedBytes),
    count('dropped_frames_per_second', () => totals.droppedFrames, 2),
    count('unrecorded_frames_per_second', () => totals.unrecordedFrames, 2),
    ...viewerKinds.map((kind) => gauge(`viewers_${kind}`, () => totals.viewers[kind], 1)),
    // Microseconds of a second: a ten-thousandth of them is a percent of one core.
    count('cpu_percent', () => (usage.userCPUTime + usage.systemCPUTime) / 1e4, 1),
    ...threadSeries(threads),
    // What no thread of ours did: the disk's threads, garbage collection beside them, code that isn't JavaScript.
    count(
      'cpu_rest_percent',
      () => (usage.userCPUTime + usage.systemCPUTime) / 1e4 - threads.totalCpuSeconds * 100,
      1,
    ),
    gauge('memory_bytes', () => process.memoryUsage.rss()),
    { ...count('loop_lag_ms_per_second', () => threads.lagSeconds('main') * 1_000, 1), ofMinute: 'max' },
    count('disk_written_bytes_per_second', () => usage.fsWrite * BLOCK_BYTES),
    gauge('storage_free_bytes', freeBytes),
  ];
};
