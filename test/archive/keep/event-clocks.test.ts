import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import { type Event, MINUTE_MS, NOW_MS, rememberedOf, setUpEvents } from './events-rig.js';
import { SECONDS, START_MS, TwoMinutes } from './two-minutes.js';

const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
const BOOT_MS = 30_000;
/** What was remembered when the last of the two minutes was recorded, of which nobody saw the end. */
const REMEMBERED = rememberedOf(START_MS + 85_000, START_MS + (SECONDS - 10) * 1_000);

let filmed: TwoMinutes;

before(async () => {
  filmed = await TwoMinutes.record();
});

after(() => filmed.remove());

const setUp = (t: TestContext, stored: string | null, events: Event[] = []) =>
  setUpEvents(t, filmed, events, stored);

type Rig = ReturnType<typeof setUp>;
type Recording = ReturnType<Rig['make']>;

const lookFor = async ({ clock }: Rig, recording: Recording, forMs: number, everyMs = 10_000) => {
  for (let passedMs = 0; passedMs < forMs; passedMs += everyMs) {
    await recording.look();
    clock.advance(everyMs);
  }
};

/** Made ten days before its camera was recorded by events. */
const addOld = ({ folder }: Rig): void => {
  const startMs = START_MS - 10 * DAY_MS;
  writeFileSync(join(folder, closedName(startMs, startMs + MINUTE_MS)), 'x');
};

const boots = { '2 h': NOW_MS - 2 * HOUR_MS, '2 days': NOW_MS - 2 * DAY_MS, '56 years': BOOT_MS };

for (const [behind, bootMs] of Object.entries(boots))
  test(`a start with a clock that is ${behind} behind, and set right a minute later, deletes nothing that was to stay`, async (t) => {
    const rig = setUp(t, REMEMBERED);
    addOld(rig);
    const names = rig.names();
    rig.clock.setWall(bootMs);
    const recording = rig.make();
    await lookFor(rig, recording, MINUTE_MS);
    rig.clock.setWall(NOW_MS + MINUTE_MS);
    await lookFor(rig, recording, 5 * MINUTE_MS);
    assert.deepEqual(rig.names(), names);
    recording.stop();
    await lookFor(rig, rig.make(), 5 * MINUTE_MS);
    assert.deepEqual(rig.names(), names, 'nor does the next service');
  });

test('a service that ends while its clock is behind leaves what was to stay to the next one', async (t) => {
  const rig = setUp(t, REMEMBERED);
  addOld(rig);
  const names = rig.names();
  rig.clock.setWall(BOOT_MS);
  const recording = rig.make();
  await lookFor(rig, recording, MINUTE_MS);
  recording.stop();
  rig.clock.setWall(NOW_MS + MINUTE_MS);
  await lookFor(rig, rig.make(), 5 * MINUTE_MS);
  assert.deepEqual(rig.names(), names);
});

for (const when of ['between two looks', 'amid one'])
  test(`a clock that is set right after days, ${when}, deletes nothing that was to stay`, async (t) => {
    const rig = setUp(t, REMEMBERED);
    addOld(rig);
    const names = rig.names();
    rig.clock.setWall(BOOT_MS);
    const recording = rig.make();
    await lookFor(rig, recording, 2 * DAY_MS, 5 * MINUTE_MS);
    const rightMs = NOW_MS + 2 * DAY_MS;
    const run = rig.runner.run.bind(rig.runner);
    let isAsked = false;
    rig.runner.run = (name, input) => {
      isAsked ||= name === 'closedWithin';
      if (name === 'closedWithin') rig.clock.setWall(rightMs);
      return run(name, input);
    };
    if (when === 'between two looks') rig.clock.setWall(rightMs);
    await recording.look();
    assert.ok(isAsked, 'it decides again');
    rig.runner.run = run;
    await lookFor(rig, recording, 5 * MINUTE_MS);
    assert.deepEqual(rig.names(), names);
  });

test('what was recorded before a camera was set to events stays, though the clock was behind when that was set', async (t) => {
  const rig = setUp(t, null);
  rig.clock.setWall(BOOT_MS);
  const recording = rig.make();
  await lookFor(rig, recording, MINUTE_MS);
  rig.clock.setWall(NOW_MS);
  await lookFor(rig, recording, 5 * MINUTE_MS);
  assert.deepEqual(rig.names(), filmed.names);
});

/** By a clock that is two days behind: what is there was named by one that was right, two days ago. */
const lookTwoDaysBehind = async (t: TestContext, decided: Readonly<Record<string, number>>) => {
  const stored = Object.entries(decided).map(([id, atMs]) => [id, { times: [atMs], seen: atMs }]);
  const rig = setUp(t, JSON.stringify(Object.fromEntries(stored)));
  rig.clock.setWall(START_MS - MINUTE_MS);
  await lookFor(rig, rig.make(), 12 * MINUTE_MS);
  return rig.names();
};

test('what was to stay stays though a clock that is days behind comes to the time of its name', async (t) => {
  assert.deepEqual(await lookTwoDaysBehind(t, { door: START_MS + 2 * DAY_MS }), filmed.names);
});

test('so does what was recorded before a camera was set to events, though the clock was days behind when that was set', async (t) => {
  assert.deepEqual(await lookTwoDaysBehind(t, { yard: START_MS + 2 * DAY_MS }), filmed.names);
});

test('what nobody saw stays though the clock is days behind for a while, and is brought right in small steps', async (t) => {
  const rig = setUp(t, REMEMBERED);
  const recording = rig.make();
  rig.state.events = null;
  await recording.look();
  rig.clock.setWall(NOW_MS - 2 * DAY_MS);
  for (let behindMs = 2 * DAY_MS; behindMs > 0; behindMs -= 40_000) {
    rig.clock.setWall(rig.clock.wallMs() + 40_000);
    await lookFor(rig, recording, 10_000);
  }
  rig.state.events = [];
  await lookFor(rig, recording, 5 * MINUTE_MS);
  assert.deepEqual(rig.names(), filmed.names);
});

test('a clock that is set back by some hours is waited for no longer than until it is there again', async (t) => {
  const laterMs = START_MS + 4 * HOUR_MS;
  const rig = setUp(t, rememberedOf(START_MS - HOUR_MS, laterMs));
  rig.clock.setWall(laterMs);
  const recording = rig.make();
  rig.clock.setWall(START_MS - MINUTE_MS);
  await lookFor(rig, recording, 12 * MINUTE_MS);
  assert.deepEqual(rig.names(), []);
});

/** A clock that was a year ahead when the service ended is right when it starts, so long before the two minutes. */
const wasAhead = (t: TestContext, earlyMs: number) => {
  const aheadMs = START_MS + YEAR_MS;
  const stored = { times: [aheadMs], blind: [START_MS - DAY_MS, aheadMs], seen: aheadMs };
  const rig = setUp(t, JSON.stringify({ door: stored }));
  rig.clock.setWall(START_MS - earlyMs);
  return rig;
};

test('a clock that was a year ahead, and was set right, is believed after 20 h: what is recorded from then on goes by events', async (t) => {
  const rig = wasAhead(t, 20 * HOUR_MS + 5 * MINUTE_MS);
  const recording = rig.make();
  await lookFor(rig, recording, 20 * HOUR_MS, MINUTE_MS);
  await lookFor(rig, recording, 12 * MINUTE_MS);
  assert.deepEqual(rig.names(), []);
});

test('what is recorded in the 20 h before stays', async (t) => {
  const rig = wasAhead(t, HOUR_MS);
  const recording = rig.make();
  await lookFor(rig, recording, 30 * HOUR_MS, 5 * MINUTE_MS);
  assert.deepEqual(rig.names(), filmed.names);
});

test('of a clock that leaps a year ahead, and is set right an hour later, no 20 h are waited for', async (t) => {
  const rig = setUp(t, rememberedOf(START_MS - 3 * HOUR_MS, START_MS - 2 * HOUR_MS));
  rig.clock.setWall(START_MS - 2 * HOUR_MS);
  const recording = rig.make();
  await lookFor(rig, recording, MINUTE_MS);
  rig.clock.setWall(rig.clock.wallMs() + YEAR_MS);
  await lookFor(rig, recording, HOUR_MS);
  rig.clock.setWall(START_MS - 5 * MINUTE_MS);
  await lookFor(rig, recording, 12 * MINUTE_MS);
  assert.deepEqual(rig.names(), []);
});
