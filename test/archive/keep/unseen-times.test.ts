import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { parseRecordingName } from '../../../src/archive/files/file-name.js';
import type { Watched } from '../../../src/archive/keep/blind-times.js';
import { always, type Event, MINUTE_MS, rememberedOf, setUpEvents } from './events-rig.js';
import { SECONDS, START_MS, TwoMinutes } from './two-minutes.js';

let filmed: TwoMinutes;

before(async () => {
  filmed = await TwoMinutes.record();
});

after(() => filmed.remove());

const setUp = (t: TestContext, events: Event[], stored?: string) => setUpEvents(t, filmed, events, stored);

test('while nothing can be detected all is kept, then and later', async (t) => {
  const rig = setUp(t, []);
  rig.clock.advance(-(SECONDS + 60) * 1_000);
  const recording = rig.make();
  rig.state.watched = 'nothing';
  for (let look = 0; look < 20; look += 1) {
    await recording.look();
    rig.clock.advance(10_000);
  }
  rig.state.watched = always;
  await recording.look();
  await rig.make().look();
  assert.deepEqual(rig.names(), filmed.names);
});

/** Begins a minute before, and looks every ten seconds while the two minutes are recorded, and until all can be decided on. */
const lookOn = async (
  rig: ReturnType<typeof setUp>,
  watchedAt: (sec: number) => Watched,
  restartSec = -1,
) => {
  rig.clock.advance(START_MS - MINUTE_MS - rig.clock.wallMs());
  rig.state.stored = rememberedOf(START_MS, rig.clock.wallMs());
  let recording = rig.make();
  rig.clock.advance(MINUTE_MS);
  for (let sec = 0; sec <= SECONDS + 150; sec += 10) {
    if (sec === restartSec) {
      recording.stop();
      recording = rig.make();
    }
    rig.state.watched = watchedAt(sec);
    await recording.look();
    rig.clock.advance(10_000);
  }
};

const blindAt70 = (sec: number): Watched => (sec === 70 ? 'nothing' : always);

/** Heard without a break, in seconds after the start. */
const heard = (fromSec: number, toSec: number): Watched => ({
  fromMs: START_MS + fromSec * 1_000,
  toMs: START_MS + toSec * 1_000,
});

/** Those that have some of the time, in seconds after the start. */
const namesOf = (fromSec: number, toSec: number): string[] =>
  filmed.names.filter((name) => {
    const { startMs, endMs } = parseRecordingName(name)!;
    return startMs <= START_MS + toSec * 1_000 && (endMs ?? 0) >= START_MS + fromSec * 1_000;
  });

test('a look at which nothing could be detected keeps what it may have missed, with what belongs to it, and nothing before or behind', async (t) => {
  const rig = setUp(t, []);
  await lookOn(rig, blindAt70);
  const kept = rig.names();
  assert.deepEqual(kept, namesOf(50 - 5, 70 + 10));
  assert.ok(kept.length < filmed.names.length, kept.join());
  assert.doesNotMatch(rig.state.stored!, /blind/, 'it is remembered no longer');
});

test('of a camera that was found silent late all is kept since it was heard last, until it is heard again', async (t) => {
  const rig = setUp(t, []);
  await lookOn(rig, (sec) =>
    sec <= 60 ? heard(-60, Math.min(sec, 20)) : sec === 70 ? 'nothing' : heard(78, sec),
  );
  assert.deepEqual(rig.names(), namesOf(10 - 5, 78 + 10));
});

test('of a camera that was silent between two looks all is kept of that time', async (t) => {
  const rig = setUp(t, []);
  await lookOn(rig, (sec) => (sec <= 40 ? heard(-60, sec) : heard(47, sec)));
  assert.deepEqual(rig.names(), namesOf(30 - 5, 47 + 10));
});

test('what came before a camera was heard for the first time is kept, unless it turns out to be seen otherwise', async (t) => {
  const late = setUp(t, []);
  await lookOn(late, (sec) => (sec <= 20 ? 'unknown' : heard(22, sec)));
  assert.deepEqual(late.names(), namesOf(-5, 22 + 10));
  const other = setUp(t, []);
  await lookOn(other, (sec) => (sec <= 20 ? 'unknown' : always));
  assert.deepEqual(other.names(), []);
});

test('what nobody saw is kept though the service that did not see it ended before it was decided on', async (t) => {
  const rig = setUp(t, []);
  await lookOn(rig, blindAt70, 90);
  assert.deepEqual(rig.names(), namesOf(50 - 5, 90 + 10));
});

/** A service that looks until then, and one that begins later, in seconds after the start; all is seen at each look. */
const restart = async (
  rig: ReturnType<typeof setUp>,
  endSec: number,
  startSec: number,
  isInOrder: boolean,
) => {
  rig.clock.advance(START_MS - MINUTE_MS - rig.clock.wallMs());
  rig.state.stored = rememberedOf(START_MS, rig.clock.wallMs());
  const before = rig.make();
  for (let sec = -60; sec <= endSec; sec += 10) {
    await before.look();
    rig.clock.advance(10_000);
  }
  if (isInOrder) before.stop();
  rig.clock.advance(START_MS + startSec * 1_000 - rig.clock.wallMs());
  const next = rig.make();
  for (let look = 0; look < 30; look += 1) {
    await next.look();
    rig.clock.advance(10_000);
  }
};

test('what was recorded since a service saw last stays, however late the next one begins, and nothing before', async (t) => {
  const rig = setUp(t, []);
  await restart(rig, 110, 600, true);
  const kept = rig.names();
  assert.deepEqual(kept, namesOf(100 - 5, SECONDS));
  assert.ok(kept.length < filmed.names.length, kept.join());
});

test('it stays where the service was killed, and could remember nothing at its end', async (t) => {
  const rig = setUp(t, []);
  await restart(rig, 110, 600, false);
  assert.deepEqual(rig.names(), namesOf(100 - 5, SECONDS));
});

test('of a camera whose events are heard late what lies between its last answer and the end of the service stays', async (t) => {
  const rig = setUp(t, []);
  rig.state.watched = heard(-60, 70);
  await restart(rig, 90, 600, true);
  assert.deepEqual(rig.names(), namesOf(60 - 5, SECONDS));
});

test('as long as a camera has more to tell than is heard of it, what it may tell of waits', async (t) => {
  const rig = setUp(t, []);
  let waiting: readonly string[] = [];
  await lookOn(rig, (sec) => {
    if (sec === SECONDS + 100) waiting = rig.names();
    return heard(-60, sec <= SECONDS + 100 ? Math.min(sec, 70) : sec);
  });
  assert.deepEqual(waiting, namesOf(70 - 10, SECONDS));
  assert.deepEqual(rig.names(), []);
});

test('what a camera had yet to tell when it was heard otherwise from then on stays', async (t) => {
  const rig = setUp(t, []);
  await lookOn(rig, (sec) => (sec <= SECONDS ? heard(-60, Math.min(sec, 70)) : always));
  assert.deepEqual(rig.names(), namesOf(70 - 10 - 5, SECONDS));
});

test('while a service stops, and nothing is found out any more, no look counts as one', async (t) => {
  const rig = setUp(t, []);
  await lookOn(rig, (sec) => (sec >= 90 && sec < 110 ? 'unknown' : always), 110);
  assert.deepEqual(rig.names(), namesOf(70 - 5, 110 + 10));
});

test('of a service that did not remember until when it saw all stays that it did not decide on', async (t) => {
  const rig = setUp(t, [], JSON.stringify({ door: START_MS + 60_000 }));
  await rig.make().look();
  assert.deepEqual(rig.names(), filmed.names);
});

test('a clock that was days ahead when the service began keeps nothing for days', async (t) => {
  const rig = setUp(t, [], rememberedOf(START_MS, START_MS - MINUTE_MS));
  rig.clock.advance(10 * 86_400_000);
  const recording = rig.make();
  rig.clock.advance(START_MS - MINUTE_MS - rig.clock.wallMs());
  for (let look = 0; look < 40; look += 1) {
    await recording.look();
    rig.clock.advance(10_000);
  }
  assert.deepEqual(rig.names(), []);
});

test('a service whose detector is slow to start keeps nothing for it that an earlier one saw', async (t) => {
  const rig = setUp(t, []);
  rig.state.watched = 'nothing';
  const recording = rig.make();
  await recording.look();
  rig.state.watched = always;
  await recording.look();
  assert.deepEqual(rig.names(), []);
});
