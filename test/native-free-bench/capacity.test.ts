import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { boxDefaults } from '../../native-free-bench/box/box-options.js';
import type { BoxResult, Window } from '../../native-free-bench/box/result.js';
import { findLimit } from '../../native-free-bench/capacity/find-limit.js';
import { isHeld, whatGaveOut } from '../../native-free-bench/capacity/what-gave-out.js';
import { runFacts } from '../../native-free-bench/run-facts.js';

test('the limit is found in few tries, within a twentieth, and no number is tried twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 0, max: 3_000 }),
      async (first, limit) => {
        const tried: number[] = [];
        const most = 2_000;
        const { held, failed } = await findLimit(first, most, async (count) => {
          tried.push(count);
          return count <= limit;
        });
        assert.ok(held <= limit && (failed === null ? held === most : failed > limit));
        if (failed !== null) assert.ok(failed - held <= Math.max(2, held * 0.05), `${held} to ${failed}`);
        assert.equal(new Set(tried).size, tried.length);
        assert.ok(tried.length <= 22, `${tried.length} tries`);
      },
    ),
  );
});

const idle: Window = {
  name: 'no viewers',
  added: null,
  seconds: 10,
  cpuMsPerSec: 400,
  threadCpuMsPerSec: { main: 50, 'camera-worker-1': 300 },
  ...{ rssMb: 500, pssMb: 450, mainLag: null, workerLag: null, archiveWrites: null, api: null },
  machine: { busyPercent: 40, ioStallPercent: 0, memoryStallPercent: 0, availableMb: 8_000 },
  losses: {
    ...{ packetsLost: 0, damagedFrames: 0, discontinuities: 0, reconnects: 0 },
    ...{ unrecordedFrames: 0, cutGops: 0, drops: 0 },
  },
  cameras: { frames: 1_000, framesDue: 1_000, lateFrames: 0, skippedFrames: 0, cpuMsPerSec: 300 },
  viewers: [],
};

const facts = runFacts(boxDefaults);
const stepOf = (window: Window, lost: BoxResult['lost']) => ({
  cameras: 100,
  failure: null,
  result: {
    ...{ ...facts, bench: 'box' as const, windows: [window], faults: [], lost, allStreamingMs: 1_000 },
    machine: { ...facts.machine, cores: 2, memoryMb: 16_000 },
    ...{ cpuMsPerSecPerCamera: 4, viewerCpuMsPerSec: {} },
  },
});
const losses = idle.losses!;
const machine = idle.machine!;
const notTaken = { camera_frames_not_taken: 5 };

for (const [what, evidence, window, lost] of [
  ['nothing', /100 cameras held/, idle, {}],
  [
    'the disk',
    /7 frames were not recorded; a write took 900 ms/,
    {
      ...idle,
      losses: { ...losses, unrecordedFrames: 7 },
      archiveWrites: { meanMs: 900, p99Ms: 4_000 },
    },
    { unrecorded_frames: 7 },
  ],
  ['memory', /100 of 16000 MB/, { ...idle, machine: { ...machine, availableMb: 100 } }, notTaken],
  ['memory', /3 groups of pictures/, { ...idle, losses: { ...losses, cutGops: 3 } }, notTaken],
  ['a core', /main was busy 99 %/, { ...idle, threadCpuMsPerSec: { main: 990 } }, notTaken],
  [
    'the cores',
    /the service 60 %, the cameras 15 %/,
    { ...idle, cpuMsPerSec: 1_188, machine: { ...machine, busyPercent: 99 } },
    notTaken,
  ],
  [
    'the cameras',
    /the service 20 %, the cameras 40 %.*more room/,
    {
      ...idle,
      machine: { ...machine, busyPercent: 100 },
      cameras: { ...idle.cameras, cpuMsPerSec: 800 },
    },
    notTaken,
  ],
  [
    'the cameras',
    /could send 90 % of their frames/,
    { ...idle, cameras: { ...idle.cameras, frames: 900 } },
    {},
  ],
  ['a viewer', /frames missed by ws 9/, idle, { frames_missed_by_ws: 9 }],
  ['the network', /packets lost 2/, idle, { packets_lost: 2 }],
  ['unclear', /camera frames not taken 5/, idle, notTaken],
  ['unclear', /streams broke off/, { ...idle, losses: { ...losses, reconnects: 1 } }, {}],
] as const satisfies readonly (readonly [string, RegExp, Window, BoxResult['lost']])[]) {
  test(`what gave out: ${what}, ${evidence.source}`, () => {
    const step = stepOf(window, lost);
    assert.equal(isHeld(step), what === 'nothing');
    const said = whatGaveOut(step, 1);
    assert.equal(said.what, what, said.evidence);
    assert.match(said.evidence, evidence);
  });
}

test('a number that never came to measuring says why', () => {
  const step = { cameras: 9, result: null, failure: 'only 3 of 9 cameras stream' };
  assert.equal(isHeld(step), false);
  assert.deepEqual(whatGaveOut(step, 1), { what: 'unclear', evidence: 'only 3 of 9 cameras stream' });
});
