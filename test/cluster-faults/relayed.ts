import { systemClock } from '../../src/base/clock.js';
import { sendTimeMs } from '../support/frame-generator.js';
import { processFigures } from '../support/process-figures.js';
import { until } from '../support/until.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';
import { atMost, noted, quantile, type Row } from '../web-budgets/figures.js';
import type { Network } from './network.js';
import { type Box, Ends, pause, Rig, type RigOptions } from './rig.js';

const STREAMS = 50;
const TURNS = 4;
const SETTLED_MS = 4_000;
const TURN_MS = 10_000;

type Turn = { readonly cpuMs: number; readonly lateMs: readonly number[] };

const cpuMs = (boxes: readonly Box[]): number =>
  boxes.reduce((sum, { pid }) => sum + processFigures(pid, {})['service']!.cpuMs, 0);

/** So many streams, each watched at the box that `boxOf` says. */
const watch = async (rig: Rig, ids: readonly string[], boxOf: (id: string) => Box): Promise<Turn> => {
  const viewers = ids.map(
    (id) => new WebSocketViewer(`${boxOf(id).url.replace('http', 'ws')}/stream/ws/${id}`),
  );
  await Promise.all(viewers.map((viewer) => viewer.untilFrames(10)));
  await pause(SETTLED_MS);
  for (const { frames } of viewers) frames.length = 0;
  const before = cpuMs(rig.boxes);
  await pause(TURN_MS);
  const spentMs = (cpuMs(rig.boxes) - before) / (TURN_MS / 1_000);
  const aheadMs = systemClock.monotonicMs() - performance.now();
  const lateMs = viewers.flatMap(({ frames }) =>
    frames.map(({ bytes, receivedMs }) => receivedMs + aheadMs - sendTimeMs(bytes)),
  );
  for (const { webSocket } of viewers) webSocket.terminate();
  await pause(1_000);
  return { cpuMs: spentMs, lateMs };
};

/** A camera is still pulled for a while after its last viewer has left: that would count as the cost of watching it directly. */
const untilNonePulls = ({ boxes }: Rig): Promise<unknown> =>
  until('no box pulls a camera of another', async () => {
    const pulls = await Promise.all(boxes.map((box) => box.metric('svc_relay_pulls')));
    return pulls.every((count) => count === 0) || pause(500);
  });

const median = (values: readonly number[]): number => quantile(values, 0.5);

/** What it costs to watch cameras at a box that doesn't have them, beside watching them at the one that does: in turns. */
export const measureRelayed = async (network: Network, options: RigOptions): Promise<Row[]> => {
  const ends = new Ends();
  try {
    const rig = await Rig.start(network, ends, options);
    const ids = rig.ids.slice(0, STREAMS);
    const ownerOf = new Map(ids.map((id) => [id, rig.boxes.indexOf(rig.writers(id)[0]!)]));
    const at = (offset: number) => (id: string) => rig.boxes[(ownerOf.get(id)! + offset) % rig.boxes.length]!;
    const [direct, relayed]: [Turn[], Turn[]] = [[], []];
    for (let turn = 0; turn < TURNS; turn++) {
      await untilNonePulls(rig);
      direct.push(await watch(rig, ids, at(0)));
      relayed.push(await watch(rig, ids, at(1)));
    }
    const p99 = (turns: readonly Turn[]): number => median(turns.map(({ lateMs }) => quantile(lateMs, 0.99)));
    const p50 = (turns: readonly Turn[]): number => median(turns.map(({ lateMs }) => quantile(lateMs, 0.5)));
    const costMs =
      (median(relayed.map((turn) => turn.cpuMs)) - median(direct.map((turn) => turn.cpuMs))) / ids.length;
    return [
      atMost(
        `${ids.length} viewers of other boxes' cameras: p99 later than of their own`,
        'ms',
        p99(relayed) - p99(direct),
        10,
      ),
      noted(
        'p50 and p99 there; of their own',
        `${[p50(relayed), p99(relayed), p50(direct), p99(direct)].map((ms) => ms.toFixed(1)).join(', ')} ms`,
      ),
      atMost('CPU of all boxes for each such stream', 'ms/s', costMs, 3),
    ];
  } finally {
    await ends.all();
  }
};
