/**
 * Whether finding objects touches the video: `node dist/test/detect/thirty-cameras.js [--cameras 30] [--seconds 60]
 * [--pairs 12] [--viewers 30] [--model FILE.onnx] [--size 1280x720] [--kbps 2000] [--fps 25] [--gop 25]`.
 * Cameras, the service and its WebSocket viewers are processes of their own. `--seconds` of each kind are measured, in
 * `--pairs` of windows beside each other, without and with detection, of which each comes first in turn: on a machine that
 * does other things a pair tells more than two long runs. Exits with 1 where the video was touched.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { formatTable, quantile } from '../../native-free-bench/table.js';
import { processFigures } from '../support/process-figures.js';
import { Rig, sumOf } from './cameras-and-service.js';

const { values: given } = parseArgs({
  options: {
    ...{ cameras: { type: 'string', default: '30' }, viewers: { type: 'string', default: '30' } },
    ...{ seconds: { type: 'string', default: '60' }, pairs: { type: 'string', default: '12' } },
    ...{ kbps: { type: 'string', default: '2000' }, fps: { type: 'string', default: '25' } },
    ...{ gop: { type: 'string', default: '25' }, size: { type: 'string', default: '1280x720' } },
    model: { type: 'string', default: '' },
  },
});
const numbers = (['cameras', 'viewers', 'seconds', 'pairs', 'kbps', 'fps', 'gop'] as const).map((name) => {
  const value = Number(given[name]);
  if (!(value > 0)) throw new Error(`--${name} wants a number above 0, not ${given[name]}`);
  return [name, value] as const;
});
const options = { ...given, ...(Object.fromEntries(numbers) as Record<(typeof numbers)[number][0], number>) };

const WARM_UP_MS = 5_000;
const SETTLE_MS = 2_000;
const SAMPLE_MS = 1_100;
/** How much later the latest hundredth of the frames may be. */
const MOST_LATER = 1.1;
const DETECTOR = { detector: /workers[/\\]detect\.js/ };
const lostReasons = ['packets_lost', 'damaged_frames', 'oversized_frames', 'discontinuities'] as const;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The middle; of an even number the mean of both, so that neither the better nor the worse half is told. */
const middleOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.floor(sorted.length / 2)]!) / 2;
};

/** All that is counted since the start. */
const countsOf = async (rig: Rig) => {
  const metrics = await rig.metrics();
  const sum = (name: string, labels = ''): number => sumOf(metrics, new RegExp(`^${name}\\b.*${labels}`));
  const { frames, skippedFrames, maxLateMs } = await rig.source.report();
  const damaged = lostReasons.reduce((all, reason) => all + sum(`svc_stream_${reason}_total`), 0);
  const { service, detector } = processFigures(rig.service.process.pid!, DETECTOR);
  return {
    counted: {
      atMs: performance.now(),
      sent: frames,
      received: sum('svc_stream_frames_total', 'media="video"'),
      // What the camera could not send is lost as well: the service took it too slowly.
      lost: damaged + skippedFrames,
      viewerDrops: sum('svc_buffer_drops_total'),
      pictures: sum('svc_detection_pictures_total'),
      replaced: sum('svc_detection_dropped_total'),
      failed: sum('svc_detection_failures_total'),
      decodeSec: sum('svc_detection_seconds_total', 'step="decode"'),
      inferSec: sum('svc_detection_seconds_total', 'step="infer"'),
      serviceMs: service!.cpuMs,
      detectorMs: detector!.cpuMs,
    },
    metrics,
    maxLateMs,
    rssMb: { service: service!.rssBytes / 1e6, detector: detector!.rssBytes / 1e6 },
  };
};
type Counts = Awaited<ReturnType<typeof countsOf>>['counted'];

const differenceOf = (after: Counts, before: Counts): Counts =>
  Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - before[name as keyof Counts]]),
  ) as Counts;

const measure = async (rig: Rig, seconds: number) => {
  const before = await countsOf(rig);
  const waiting: number[] = [];
  let isOver = false;
  const sampling = (async () => {
    while (!isOver) {
      waiting.push(sumOf(await rig.metrics(), /^svc_detection_waiting/));
      await sleep(SAMPLE_MS);
    }
  })();
  const { latenciesMs } = await rig.clients.ask({ type: 'measure', seconds });
  isOver = true;
  await sampling;
  const after = await countsOf(rig);
  const counted = differenceOf(after.counted, before.counted);
  return { counted, latenciesMs: latenciesMs.toSorted((a, b) => a - b), waiting, rssMb: after.rssMb };
};
type Window = Awaited<ReturnType<typeof measure>>;

/** Below which age so many pictures were, as far as the buckets tell: "<= 0.2". */
const ageBelow = (metrics: string, step: string, share: number): string => {
  const buckets = metrics
    .split('\n')
    .filter((line) => line.startsWith('svc_detection_age_seconds_bucket') && line.includes(`step="${step}"`))
    .map((line) => ({ bound: /le="([^"]+)"/.exec(line)![1]!, count: Number(line.split(' ').at(-1)) }));
  const total = buckets.at(-1)?.count ?? 0;
  const bound = buckets.find(({ count }) => count >= total * share)?.bound ?? '';
  return bound === '+Inf' ? `> ${buckets.at(-2)!.bound}` : `<= ${bound}`;
};

const tableOf = (kinds: Readonly<Record<string, readonly Window[]>>): string => {
  const row = (label: string, figure: (windows: readonly Window[]) => number) => [
    label,
    ...Object.values(kinds).map(figure),
  ];
  const total = (name: keyof Counts) => (windows: readonly Window[]) =>
    windows.reduce((sum, { counted }) => sum + counted[name], 0);
  const aSecond = (name: keyof Counts) => (windows: readonly Window[]) =>
    (total(name)(windows) / total('atMs')(windows)) * 1_000;
  const each = (name: 'decodeSec' | 'inferSec') => (windows: readonly Window[]) =>
    (total(name)(windows) / Math.max(1, total('pictures')(windows))) * 1_000;
  const latency = (share: number) => (windows: readonly Window[]) =>
    quantile(
      windows.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b),
      share,
    );
  const most = (of: (window: Window) => number) => (windows: readonly Window[]) =>
    windows.reduce((largest, window) => Math.max(largest, of(window)), 0);
  const rows = [
    row('frames that cameras sent', total('sent')),
    row('frames that the service has whole', total('received')),
    row('frames lost or damaged', total('lost')),
    row('frames dropped for slow viewers', total('viewerDrops')),
    row('frames at viewers', (windows) =>
      windows.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0),
    ),
    ...[row('latency p50, ms', latency(0.5)), row('latency p99, ms', latency(0.99))],
    row(
      'latency max, ms',
      most(({ latenciesMs }) => latenciesMs.at(-1) ?? 0),
    ),
    row('keyframes looked at, 1/s', aSecond('pictures')),
    row('replaced by a newer one, 1/s', aSecond('replaced')),
    row('could not be looked at', total('failed')),
    row('cameras waiting, median', (windows) => middleOf(windows.flatMap(({ waiting }) => waiting))),
    row(
      'cameras waiting, most',
      most(({ waiting }) => Math.max(...waiting)),
    ),
    row('decoding a keyframe, its turn awaited, ms', each('decodeSec')),
    row('inference, its turn awaited, ms', each('inferSec')),
    ...[
      row('CPU of the service, ms/s', aSecond('serviceMs')),
      row('CPU of the detector, ms/s', aSecond('detectorMs')),
    ],
    row(
      'RSS of the service, MB',
      most(({ rssMb }) => rssMb.service),
    ),
    row(
      'RSS of the detector, MB',
      most(({ rssMb }) => rssMb.detector),
    ),
  ];
  return formatTable({ columns: ['', ...Object.keys(kinds)], rows });
};

const run = async (rig: Rig): Promise<boolean> => {
  await sleep(WARM_UP_MS);
  const without: Window[] = [];
  const withDetection: Window[] = [];
  // The first pictures load the model.
  await rig.setDetect(true);
  for (let pair = 0; pair < options.pairs; pair += 1) {
    for (const detect of pair % 2 === 0 ? [false, true] : [true, false]) {
      await rig.setDetect(detect);
      await sleep(SETTLE_MS);
      (detect ? withDetection : without).push(await measure(rig, options.seconds / options.pairs));
    }
  }
  const { metrics, maxLateMs } = await countsOf(rig);
  console.log(tableOf({ without, 'with detection': withDetection }));
  const ratioOf = (share: number): number[] =>
    withDetection
      .map(
        ({ latenciesMs }, pair) => quantile(latenciesMs, share) / quantile(without[pair]!.latenciesMs, share),
      )
      .sort((a, b) => a - b);
  for (const [name, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const ratios = ratioOf(share);
    const all = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
    console.log(
      `latency ${name}, with beside without: ${middleOf(ratios).toFixed(2)} (of each pair: ${all})`,
    );
  }
  const noise = without.map(({ latenciesMs }) => quantile(latenciesMs, 0.99)).sort((a, b) => a - b);
  console.log(
    `what the machine does to p99 by itself: ${noise.map((ms) => ms.toFixed(1)).join(' ')} ms in the windows without` +
      `${noise.at(-1)! > noise[0]! * MOST_LATER ** 2 ? ' (too busy to tell 10 %)' : ''}`,
  );
  for (const [step, text] of [
    ['taken', 'when its turn came'],
    ['known', 'when its objects were known'],
  ] as const) {
    const [half, most, all] = [0.5, 0.99, 1].map((share) => ageBelow(metrics, step, share));
    console.log(`age of a keyframe ${text}, s: p50 ${half}, p99 ${most}, max ${all}`);
  }
  console.log(
    `the cameras' own worst lateness: ${maxLateMs.toFixed(0)} ms; load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}`,
  );
  const both = [...without, ...withDetection];
  const areAllThere = both.every(({ counted }) => counted.lost === 0 && counted.viewerDrops === 0);
  const isQueueBounded = both.every(({ waiting }) => Math.max(...waiting) <= options.cameras);
  const isInTime = middleOf(ratioOf(0.99)) <= MOST_LATER;
  console.log(
    `no lost frame: ${areAllThere}; queue bounded: ${isQueueBounded}; p99 within 10 %: ${isInTime}`,
  );
  return areAllThere && isQueueBounded && isInTime;
};

console.log(`${availableParallelism()} x ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`);
console.log(
  `${options.cameras} cameras of ${options.size}, ${options.fps} pictures/s, ${options.kbps} kbit/s, a keyframe each ` +
    `${options.gop}; ${options.viewers} viewers; model ${options.model === '' ? 'of the tests' : options.model}`,
);
const rig = await Rig.start(options);
try {
  process.exitCode = (await run(rig)) ? 0 : 1;
} finally {
  await rig.end();
}
