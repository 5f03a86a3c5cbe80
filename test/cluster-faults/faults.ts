import { mkdirSync } from 'node:fs';
import { until } from '../support/until.js';
import type { Direction, NetworkName } from './network.js';
import { type Box, FRAME_MS, pause, type Rig } from './rig.js';
import type { Fault } from './scenario.js';

const FROZEN_MS = 10_000;
const CUT_MS = 15_000;

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

const cut = (box: number, networks: readonly NetworkName[], direction: Direction): Fault => {
  const from = networks.length > 1 ? 'everything' : `the network of the ${networks[0]}`;
  const way = { both: '', out: ', nothing goes out', in: ', nothing comes in' }[direction];
  return {
    name: `cut-${box}-${networks.length > 1 ? 'all' : networks[0]}-${direction}`,
    what: `box ${box} cut from ${from}${way}, ${CUT_MS / 1_000} s`,
    victim: async (rig) => rig.boxes[box]!,
    happen: async ({ network }) => {
      network.cut(box, networks, direction);
      await pause(CUT_MS);
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
  mostUnrecordedMs: 2 * FRAME_MS,
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
    mostUnrecordedMs: 2 * FRAME_MS,
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
  cut(0, ['cameras'], 'both'),
  {
    name: 'server-kill',
    what: 'kill -9 of the server that leads the settings',
    victim: besideLeader,
    happen: async (rig, victim) => {
      await rig.servers.kill(rig.boxes.indexOf(victim));
      await pause(FROZEN_MS);
    },
    mend: startAgain,
    mostUnrecordedMs: 2 * FRAME_MS,
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
    mostUnrecordedMs: 2 * FRAME_MS,
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
  ...[3_600_000, -3_600_000, 8_000, -8_000].map((aheadMs) => clockStep(0, aheadMs)),
];

/** Where it keeps what it is given must be there before. */
export const madeFolder = (path: string): string => {
  mkdirSync(path, { recursive: true });
  return path;
};
