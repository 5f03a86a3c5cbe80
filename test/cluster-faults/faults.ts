import { until } from '../support/until.js';
import type { Direction, NetworkName } from './network.js';
import { type Box, FRAME_MS, pause, type Rig } from './rig.js';
import type { Fault } from './scenario.js';
import { storeAway } from './store-away.js';

const FROZEN_MS = 10_000;
const CUT_MS = 15_000;
/** A camera that sends nothing counts as lost after 10 s. */
const LONG_CUT_MS = 40_000;
/** Where nothing is to be missed: frames of another session of the camera come between those of the first. */
const MOST_HAND_OVER_MS = 2 * FRAME_MS;

/** The box beside the server that leads what is set. */
const besideLeader = async (rig: Rig): Promise<Box> => {
  const leader = await until('there is a leader', () => rig.servers.leaderOf('KV_framering-faults-settings'));
  return rig.boxes[leader]!;
};

const startAgain = async (rig: Rig, victim: Box): Promise<void> => {
  const at = rig.boxes.indexOf(victim);
  if (!rig.servers.isRunning(at)) await rig.servers.startOne(at);
  if (!victim.isRunning) await victim.start();
};

const cut = (
  box: number,
  networks: readonly NetworkName[],
  direction: Direction,
  durationMs = CUT_MS,
): Fault => {
  const from = networks.length > 1 ? 'everything' : `the network of the ${networks[0]}`;
  const way = { both: '', out: ', nothing goes out', in: ', nothing comes in' }[direction];
  return {
    name: `cut-${box}-${networks.length > 1 ? 'all' : networks[0]}-${direction}`,
    what: `box ${box} cut from ${from}${way}, ${durationMs / 1_000} s`,
    victim: async (rig) => rig.boxes[box]!,
    happen: async ({ network }) => {
      network.cut(box, networks, direction);
      await pause(durationMs);
      network.mend(box);
    },
  };
};

const clockStep = (box: number, aheadMs: number): Fault => ({
  name: `clock-${box}-${aheadMs}`,
  what: `the clock of box ${box} steps by ${aheadMs / 1_000} s, and back`,
  victim: async (rig) => rig.boxes[box]!,
  happen: async (_, victim) => {
    victim.stepClock(aheadMs);
    await pause(10_000);
    victim.stepClock(0);
    await pause(5_000);
  },
  mostUnrecordedMs: MOST_HAND_OVER_MS,
});

export const FAULTS: readonly Fault[] = [
  {
    name: 'kill',
    what: 'kill -9 of a box',
    happen: async (_, victim) => victim.kill(),
    mend: startAgain,
  },
  {
    name: 'kill-leader',
    what: 'kill -9 of a box and of its server, which leads the settings',
    victim: besideLeader,
    happen: async (rig, victim) => {
      await Promise.all([victim.kill(), rig.servers.kill(rig.boxes.indexOf(victim))]);
    },
    mend: startAgain,
  },
  {
    name: 'term',
    what: 'SIGTERM of a box',
    happen: async (_, victim) => {
      await victim.service.stop();
    },
    mend: startAgain,
    // From one frame to the next one, of another session of the camera.
    mostUnrecordedMs: MOST_HAND_OVER_MS,
    mostViewerGapMs: 2_000,
  },
  {
    name: 'freeze',
    what: `SIGSTOP of a box, ${FROZEN_MS / 1_000} s`,
    happen: async (_, victim) => {
      process.kill(victim.pid, 'SIGSTOP');
      await pause(FROZEN_MS);
      process.kill(victim.pid, 'SIGCONT');
    },
  },
  ...[0, 1, 2].flatMap((box) =>
    (['both', 'out', 'in'] as const).map((direction) => cut(box, ['cluster', 'cameras'], direction)),
  ),
  ...(['both', 'out', 'in'] as const).map((direction) => cut(0, ['cluster'], direction)),
  cut(0, ['cameras'], 'both', LONG_CUT_MS),
  {
    name: 'server-kill',
    what: 'kill -9 of the server that leads the settings',
    victim: besideLeader,
    happen: async (rig, victim) => {
      await rig.servers.kill(rig.boxes.indexOf(victim));
      await pause(FROZEN_MS);
    },
    mend: startAgain,
    mostUnrecordedMs: MOST_HAND_OVER_MS,
    mostViewerGapMs: 2_000,
  },
  {
    name: 'server-freeze',
    what: `SIGSTOP of that server, ${FROZEN_MS / 1_000} s`,
    victim: besideLeader,
    happen: async (rig, victim) => {
      const at = rig.boxes.indexOf(victim);
      rig.servers.freeze(at);
      await pause(FROZEN_MS);
      rig.servers.thaw(at);
    },
    mostUnrecordedMs: MOST_HAND_OVER_MS,
    mostViewerGapMs: 2_000,
  },
  {
    name: 'cold-start',
    what: 'all boxes and servers killed, and started at once',
    happen: async (rig) => {
      await Promise.all([...rig.boxes.map((box) => box.kill()), rig.servers.kill()]);
      await Promise.all([
        ...rig.boxes.map((_, at) => rig.servers.startOne(at)),
        ...rig.boxes.map((box) => box.start()),
      ]);
    },
    mostUnrecordedMs: null,
    mostViewerGapMs: null,
  },
  storeAway(),
  ...[3_600_000, -3_600_000, 8_000, -8_000].map((aheadMs) => clockStep(0, aheadMs)),
  {
    name: 'clock-kill',
    what: 'kill -9 of a box whose clock was 8 s ahead',
    happen: async (_, victim) => {
      victim.stepClock(8_000);
      await pause(5_000);
      await victim.kill();
    },
    mend: startAgain,
  },
  {
    name: 'clock-cut',
    what: `the clock of box 0 is set back by 1 h while that is cut from the cluster, ${CUT_MS / 1_000} s`,
    happen: async ({ network }, victim) => {
      network.cut(0, ['cluster'], 'both');
      await pause(CUT_MS / 2);
      victim.stepClock(-3_600_000);
      await pause(CUT_MS / 2);
      network.mend(0);
    },
  },
];
