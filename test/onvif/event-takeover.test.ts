import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { EventDialect } from '../support/onvif/fake-events.js';
import { until } from '../support/until.js';
import { count, heardFor, live, motion, type Rig, rigOf, toNext } from './event-rig.js';

const crossing = (nth: number, atMs: number) =>
  motion(true, {
    topic: 'tns1:RuleEngine/LineDetector/Crossed',
    data: { ObjectId: String(nth) },
    operation: '',
    atMs,
  });

test('what happens while one pull point takes over from the other is told once, and in order', {
  timeout: 60_000,
}, async (t) => {
  const rig: Rig = await rigOf(
    t,
    { path: '/pull/#', termMs: 30_000, renewal: 'fault' },
    {
      instead: (operation, response, body) => {
        const { events } = rig;
        const isDone = events.instead(operation, response, body);
        // Both have it: the old one and the new one.
        if (operation === 'CreatePullPointSubscription' && events.subscriptions === 2)
          events.tell(motion(false, { atMs: events.nowMs }), crossing(7, events.nowMs));
        return isDone;
      },
    },
  );
  const { events, noticed } = rig;
  await live(rig, 5);
  const on = motion(true, { atMs: events.nowMs });
  events.tell(on);
  events.initial = [{ ...on, operation: 'Initialized' }];
  await toNext(rig);
  await live(rig, 3);
  const states = () => noticed.map(({ state }) => state);
  assert.deepEqual(states(), ['on', 'off', 'once']);
  events.tell(motion(true, { atMs: events.nowMs }), crossing(7, events.nowMs));
  await live(rig, 1);
  assert.deepEqual(states().slice(3), ['on', 'once'], 'what happens then is told');
});

/** So much happens just before the second pull point is there: the first one alone has it. */
const busyBeforeNext = async (t: TestContext, happenings: number, dialect: Partial<EventDialect> = {}) => {
  const rig: Rig = await rigOf(
    t,
    { path: '/pull/#', termMs: 60_000, renewal: 'fault', ...dialect },
    {
      instead: (operation, response, body) => {
        const { events } = rig;
        if (operation === 'CreatePullPointSubscription' && events.subscriptions === 1) {
          const firstMs = events.nowMs - happenings;
          events.tell(...Array.from({ length: happenings }, (_, nth) => crossing(nth, firstMs + nth)));
        }
        return events.instead(operation, response, body);
      },
    },
  );
  await toNext(rig);
  await until('the first one is given back', async () => {
    await live(rig, 1);
    return rig.events.pullPoints === 1;
  });
  await live(rig, 1);
  return { rig, heardMs: heardFor(rig) };
};

test('whatever a pull point still has when the next one takes over is told, be it several answers', {
  timeout: 60_000,
}, async (t) => {
  const { rig, heardMs } = await busyBeforeNext(t, 100);
  assert.equal(rig.noticed.length, 100);
  assert.ok(heardMs > 40_000, `heard for ${heardMs} ms`);
});

test('a camera that tells one happening at a time has told all of them when the next pull point takes over', {
  timeout: 60_000,
}, async (t) => {
  const { rig, heardMs } = await busyBeforeNext(t, 5, { tellsOneByOne: true });
  assert.equal(rig.noticed.length, 5);
  assert.ok(heardMs > 40_000, `heard for ${heardMs} ms`);
});

test('the pull point that follows one that took no renewal is asked to last longer', {
  timeout: 60_000,
}, async (t) => {
  const rig = await rigOf(t, { path: '/pull/#', termMs: 60_000, renewal: 'fault', mostTermMs: 300_000 });
  await live(rig, 400);
  assert.equal(rig.events.subscriptions, 3);
  const other = await rigOf(t, { path: '/pull/#', termMs: 60_000, renewal: 'fault', refusesLonger: true });
  await live(other, 70);
  assert.deepEqual([other.events.subscriptions, other.silent], [2, []]);
});

const losses: Readonly<Record<string, readonly [happenings: number, dialect: Partial<EventDialect>]>> = {
  'is gone when the next one is there': [1, { hasOne: true }],
  'has more than anybody waits for': [400, {}],
};

for (const [what, [happenings, dialect]] of Object.entries(losses))
  test(`where a pull point ${what}, all counts as heard only from then on`, {
    timeout: 60_000,
  }, async (t) => {
    const { rig, heardMs } = await busyBeforeNext(t, happenings, dialect);
    assert.ok(rig.noticed.length < happenings);
    assert.ok(heardMs < 20_000, `heard for ${heardMs} ms`);
    assert.deepEqual([rig.silent, rig.cameras.counts.heard, rig.logged.length], [[], 1, 1]);
  });

for (const tellsWhenAsked of [false, true])
  test(`a camera with one address for all pull points, which ${tellsWhenAsked ? 'says' : "doesn't say"} how all is, counts as heard only from each on`, {
    timeout: 60_000,
  }, async (t) => {
    const rig = await rigOf(t, { path: '/pull', termMs: 60_000, renewal: 'fault', tellsWhenAsked });
    await toNext(rig);
    await live(rig, 2);
    const heardMs = heardFor(rig);
    assert.ok(heardMs < 20_000, `heard for ${heardMs} ms`);
    assert.deepEqual([rig.silent, rig.cameras.counts.heard, rig.logged.length], [[], 1, 1]);
  });

test('a camera with one address for all pull points, which takes its time for each, is asked between them', {
  timeout: 60_000,
}, async (t) => {
  const rig: Rig = await rigOf(
    t,
    { path: '/pull', termMs: 10_000, renewal: 'fault' },
    {
      instead: (operation, response, body) => {
        if (operation === 'CreatePullPointSubscription') rig.pass(7_000);
        return rig.events.instead(operation, response, body);
      },
    },
  );
  await live(rig, 20);
  assert.ok(count(rig, 'PullMessages') >= rig.events.subscriptions - 1);
});

test('what a camera has more of than it tells at once counts as heard when it told it', {
  timeout: 60_000,
}, async (t) => {
  const heardMs: number[] = [];
  const rig: Rig = await rigOf(
    t,
    { path: '/pull/#' },
    {
      instead: (operation, response, body) => {
        if (operation === 'PullMessages') heardMs.push(heardFor(rig));
        return rig.events.instead(operation, response, body);
      },
    },
  );
  await until('it is asked', () => rig.events.isAsked);
  rig.pass(10_000);
  const firstMs = rig.events.nowMs - 7_000;
  rig.events.tell(...Array.from({ length: 70 }, (_, nth) => crossing(nth, firstMs + nth * 100)));
  await until('all is told', () => rig.noticed.length === 70 && rig.events.isAsked);
  assert.deepEqual(heardMs, [0, 6_100, 9_300, 9_900]);
});

test('a camera that has something to tell at any time has told all when the next pull point takes over', {
  timeout: 60_000,
}, async (t) => {
  let told = 0;
  const rig: Rig = await rigOf(
    t,
    { path: '/pull/#', termMs: 60_000, renewal: 'fault' },
    {
      instead: (operation, response, body) => {
        const { events } = rig;
        if (operation === 'PullMessages' && events.subscriptions === 2 && told < 10) {
          events.pass(1);
          events.tell(crossing(told, events.nowMs));
          told += 1;
        }
        return events.instead(operation, response, body);
      },
    },
  );
  await toNext(rig);
  await live(rig, 1);
  assert.equal(rig.noticed.length, 10);
  assert.ok(heardFor(rig) > 40_000, `heard for ${heardFor(rig)} ms`);
});

test('of what is told a minute late nobody knows when it was: until then all counts as missed', {
  timeout: 60_000,
}, async (t) => {
  const rig = await rigOf(t, { path: '/pull/#' });
  await live(rig, 5);
  rig.pass(61_000);
  rig.events.tell(crossing(1, rig.events.nowMs - 61_000));
  await until('it is told', () => rig.noticed.length === 1 && rig.events.isAsked);
  await live(rig, 25);
  assert.ok(heardFor(rig) > 0 && heardFor(rig) < 30_000, `heard for ${heardFor(rig)} ms`);
});
