import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { closedName } from '../../../src/archive/files/file-name.js';
import type { JobInput } from '../../../src/archive/jobs/jobs.js';
import { evictOldest, type ProtectedSpan } from '../../../src/archive/keep/delete-files.js';
import {
  type EventTimes,
  joined,
  longestHoleMs,
  spansOf,
  type TimeSpan,
} from '../../../src/archive/keep/kept-spans.js';
import { Retention, type RetentionRule } from '../../../src/archive/keep/retention.js';
import { decodedHashes } from '../../fmp4/ffmpeg.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';
import { START_MS, TwoMinutes } from './two-minutes.js';

const DAY_MS = 86_400_000;

let filmed: TwoMinutes;

before(async () => {
  filmed = await TwoMinutes.record();
});

after(() => filmed.remove());

const event = (fromSec: number, toSec: number): EventTimes['events'][number] => ({
  fromMs: START_MS + fromSec * 1_000,
  toMs: START_MS + toSec * 1_000,
});

const setUp = (t: TestContext, days: number, cameraIds = ['door']) => {
  const archiveDir = tempFolder(t);
  for (const cameraId of cameraIds) filmed.copyTo(join(archiveDir, cameraId));
  const state = {
    events: [event(33, 34)] as EventTimes['events'] | null,
    sinceMs: 0,
    spared: [] as readonly ProtectedSpan[],
    rule: { retentionDays: 7, eventRetentionDays: 30 } as Partial<RetentionRule>,
  };
  const runner = new InlineRunner();
  const clock = new FakeClock(START_MS + days * DAY_MS);
  const make = (minFreePercent = 0) =>
    new Retention(
      { archiveDir, minFreePercent },
      {
        ...{ runner, clock, log: logLines().log, live: nobodyWrites, onGone: () => {} },
        rules: () =>
          cameraIds.map((cameraId) => ({ cameraId, camera: 'here', retentionDays: 7, ...state.rule })),
        spared: () => state.spared,
        times: (cameraId, fromMs, toMs) =>
          state.events === null
            ? null
            : {
                sinceMs: state.sinceMs,
                events: state.events.filter(
                  (one) => cameraId === 'door' && one.fromMs <= toMs && (one.toMs ?? toMs) >= fromMs,
                ),
              },
        memory: {
          lastMs: () => clock.wallMs(),
          remember: () => {},
          eras: () => null,
          rememberEras: () => {},
        },
      },
    );
  const names = (cameraId = 'door'): string[] => readdirSync(join(archiveDir, cameraId)).sort();
  const hashes = (): string[] =>
    names().flatMap((name) => decodedHashes(join(archiveDir, 'door', name), 'v'));
  return { archiveDir, state, runner, clock, make, names, hashes };
};

test('what belongs to events outlives the rest, as long as it is to, and is cut out of it once', async (t) => {
  const { clock, hashes, make, names, runner, state } = setUp(t, 6);
  const retention = make();
  await retention.sweep();
  assert.deepEqual(names(), filmed.names);
  clock.advance(2 * DAY_MS);
  state.events = null;
  await retention.sweep();
  assert.deepEqual(names(), filmed.names, 'nobody knows what belongs to events');
  state.events = [event(33, 34)];
  state.sinceMs = START_MS + DAY_MS;
  await retention.sweep();
  assert.deepEqual(names(), filmed.names, 'nobody knows it of that time');
  state.sinceMs = 0;
  await retention.sweep();
  assert.deepEqual(hashes(), filmed.seconds(28, 45));
  const cuts = runner.countOf('cutRecording');
  await retention.sweep();
  assert.equal(runner.countOf('cutRecording'), cuts, 'nothing is looked into again');
  clock.advance(21 * DAY_MS);
  await retention.sweep();
  assert.equal(names().length, 1);
  clock.advance(2 * DAY_MS);
  await retention.sweep();
  assert.deepEqual(names(), []);
});

test('of a protected event the part that it holds stays, also of a camera whose events are nothing more', async (t) => {
  const { hashes, make, names, state } = setUp(t, 40);
  state.rule = { eventRetentionDays: 0 };
  state.spared = [{ cameraId: 'door', fromMs: START_MS + 60_000, toMs: START_MS + 80_000 }];
  await make().sweep();
  assert.deepEqual(hashes(), filmed.seconds(60, 81));
  state.spared = [];
  await make().sweep();
  assert.deepEqual(names(), []);
});

/** Makes room until so few files are there, as a disk would have it that says so at once. */
const untilLeft = ({ archiveDir, runner }: ReturnType<typeof setUp>, most: number): void => {
  const run = runner.run.bind(runner);
  const spaceOf = () => {
    const left = readdirSync(archiveDir).flatMap((cameraId) =>
      readdirSync(join(archiveDir, cameraId)),
    ).length;
    return { bavail: left > most ? 0 : 50, blocks: 100, bsize: 1e9 };
  };
  runner.run = (name, input) =>
    name === 'evictOldest'
      ? (Promise.resolve(evictOldest(input as JobInput<'evictOldest'>, spaceOf)) as never)
      : run(name, input);
};

test('where space is short what belongs to no event goes first, then the oldest event, never what is protected', async (t) => {
  const rig = setUp(t, 1, ['door', 'yard']);
  rig.state.rule = { areEventsWorthMore: true };
  rig.state.events = [event(2, 3), event(75, 76)];
  untilLeft(rig, 3);
  await rig.make(5).makeRoom();
  assert.deepEqual(rig.names('yard'), []);
  assert.deepEqual(rig.hashes(), [...filmed.seconds(0, 14), ...filmed.seconds(70, 87)]);
  const [, second] = rig.names();
  rig.state.spared = [{ cameraId: 'door', fromMs: START_MS + 75_000, toMs: START_MS + 76_000 }];
  untilLeft(rig, 2);
  await rig.make(5).makeRoom();
  assert.deepEqual(rig.hashes(), filmed.seconds(70, 87));
  untilLeft(rig, 0);
  await rig.make(5).makeRoom();
  assert.deepEqual(rig.names(), [second]);
});

test('a recording that the disk does not cut holds up neither the others nor the search for room', async (t) => {
  const rig = setUp(t, 8, ['door', 'yard']);
  const run = rig.runner.run.bind(rig.runner);
  rig.runner.run = (name, input) =>
    name === 'cutRecording' && (input as JobInput<'cutRecording'>).kept.length > 0
      ? Promise.reject(new Error('ENOSPC: no space left on device'))
      : run(name, input);
  await rig.make().sweep();
  assert.deepEqual(rig.names('yard'), []);
  assert.equal(rig.names().length, 1, 'what holds an event stays whole');
  rig.state.rule = { retentionDays: 30, areEventsWorthMore: true };
  untilLeft(rig, 0);
  const retention = rig.make(5);
  await retention.makeRoom();
  assert.deepEqual(rig.names(), [], 'the oldest goes, since else nothing is recorded');
});

test('where ever so many recordings belong to events, the oldest goes', async (t) => {
  const rig = setUp(t, 1);
  rig.state.rule = { areEventsWorthMore: true };
  rig.state.events = [event(-10, 200)];
  const run = rig.runner.run.bind(rig.runner);
  // As if there were no end of them.
  rig.runner.run = (name, input) =>
    run(name, name === 'oldestRecordings' ? ({ ...(input as object), after: null } as typeof input) : input);
  untilLeft(rig, 1);
  await rig.make(5).makeRoom();
  assert.deepEqual(rig.names(), filmed.names.slice(-1));
});

test('a folder of many recordings is listed once, and of those behind the first ones what may go does', async (t) => {
  const rig = setUp(t, 8);
  const later = Array.from({ length: 120 }, (_, nth) => START_MS + (nth + 10) * 60_000);
  const lateNames = later.map((startMs) => closedName(startMs, startMs + 59_000));
  for (const name of lateNames) writeFileSync(join(rig.archiveDir, 'door', name), 'x');
  const run = rig.runner.run.bind(rig.runner);
  let listings = 0;
  rig.runner.run = (name, input) => {
    if (name === 'closedBefore') listings += 1;
    return run(name, input);
  };
  // All but the last of them belong to an event.
  rig.state.events = [{ fromMs: START_MS - 10_000, toMs: later.at(-1)! - 30_000 }];
  await rig.make().sweep();
  assert.deepEqual(rig.names(), [...filmed.names, ...lateNames.slice(0, -1)].sort());
  assert.equal(listings, 1);
});

test('spans that are joined hold what each of them did, are in order and apart', () => {
  const anySpan = fc
    .tuple(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 9_000 }))
    .map(([fromMs, lengthMs]): TimeSpan => ({ fromMs, toMs: fromMs + lengthMs }));
  fc.assert(
    fc.property(fc.array(anySpan, { maxLength: 12 }), anySpan, (spans, whole) => {
      const result = joined(spans);
      for (const { fromMs, toMs } of spans)
        assert.ok(result.some((one) => one.fromMs <= fromMs && one.toMs >= toMs));
      for (const [at, { fromMs }] of result.entries())
        if (at > 0) assert.ok(fromMs - result[at - 1]!.toMs > 2_000);
      const isIn = (ms: number): boolean => result.some((one) => one.fromMs <= ms && one.toMs >= ms);
      let [longestMs, holeMs] = [0, 0];
      for (let ms = whole.fromMs; ms < whole.toMs; ms += 1) {
        holeMs = isIn(ms) ? 0 : holeMs + 1;
        longestMs = Math.max(longestMs, holeMs);
      }
      assert.ok(Math.abs(longestHoleMs(whole, result) - longestMs) <= 1);
    }),
    { numRuns: 200 },
  );
  assert.deepEqual(spansOf([event(10, 20), { fromMs: START_MS + 36_000, toMs: null }]), [
    { fromMs: START_MS + 5_000, toMs: Number.MAX_SAFE_INTEGER + 10_000 },
  ]);
});
