import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Notice } from '../../src/analytics/metadata.js';
import { parseXml, at as within } from '../../src/analytics/xml-tree.js';
import { type MonotonicMs, systemClock } from '../../src/base/clock.js';
import { Lifetime } from '../../src/onvif/events/lifetime.js';
import { ToldNotices } from '../../src/onvif/events/told-notices.js';
import type { EventDialect } from '../support/onvif/fake-events.js';
import { until } from '../support/until.js';
import { count, live, motion, type Rig, rigOf } from './event-rig.js';

for (const termMs of [10_000, 30_000, 60_000, 600_000])
  test(`a pull point that a camera keeps for ${termMs / 1_000} s is renewed in time`, {
    timeout: 60_000,
  }, async (t) => {
    const rig = await rigOf(t, { path: '/pull/#', termMs });
    await live(rig, 130);
    assert.deepEqual([rig.events.subscriptions, rig.silent, rig.logged.length], [1, [], 1]);
    assert.ok(count(rig, 'Renew') >= 3 && count(rig, 'Renew') <= 26, `${count(rig, 'Renew')} renewals`);
  });

for (const termMs of [10_000, 12_000, 15_000, 20_000, 25_000, 29_000, 30_000, 60_000])
  test(`a pull point that a camera keeps for ${termMs / 1_000} s, and renews not, is followed by the next one in time`, {
    timeout: 60_000,
  }, async (t) => {
    const rig = await rigOf(t, { path: '/pull/#', termMs, renewal: 'fault' });
    await live(rig, 65);
    assert.deepEqual([rig.silent, rig.cameras.counts.heard, rig.logged.length], [[], 1, 1]);
    assert.ok(rig.events.subscriptions >= 2 && rig.events.subscriptions <= 14, `${rig.events.subscriptions}`);
  });

for (const termMs of [12_000, 20_000, 60_000])
  test(`a pull point of ${termMs / 1_000} s whose renewal moves no end is followed by the next one in time`, {
    timeout: 60_000,
  }, async (t) => {
    const rig = await rigOf(t, { path: '/pull/#', termMs, renewal: 'same end' });
    await live(rig, 130);
    assert.deepEqual([rig.silent, rig.cameras.counts.heard, rig.logged.length], [[], 1, 1]);
    assert.equal(count(rig, 'Renew'), 1);
  });

test('a camera with one address for all pull points keeps the one that it made last', {
  timeout: 60_000,
}, async (t) => {
  const rig = await rigOf(t, { path: '/pull', termMs: 60_000, renewal: 'fault' });
  const { events, noticed } = rig;
  await live(rig, 130);
  events.tell(motion(true, { atMs: events.nowMs }));
  await live(rig, 1);
  assert.equal(noticed.length, 1);
  assert.deepEqual([rig.silent, rig.cameras.counts.heard, rig.logged.length], [[], 1, 1]);
  assert.equal(count(rig, 'Unsubscribe'), 0);
});

test('a camera with room for one pull point, which lost it soon after a takeover, is heard again at once, each time', {
  timeout: 60_000,
}, async (t) => {
  const rig = await rigOf(t, { path: '/pull/#', termMs: 60_000, renewal: 'fault', hasOne: true });
  const { events, cameras, pass } = rig;
  for (const subscriptions of [2, 4]) {
    await until('the next one took over', async () => {
      await live(rig, 1);
      return events.subscriptions === subscriptions;
    });
    await live(rig, 2);
    events.forget();
    await until('it is lost', () => cameras.heard('gate') === 'nothing');
    pass(1_000);
    await until('it is heard again', () => events.isAsked);
  }
});

test('where a pull point takes no renewal the next one takes over before it ends, and motion goes on', {
  timeout: 60_000,
}, async (t) => {
  const rig = await rigOf(t, { path: '/pull/#', termMs: 60_000, renewal: 'fault' });
  const { events, noticed, silent, logged, cameras } = rig;
  await live(rig, 5);
  const on = motion(true, { atMs: events.nowMs });
  events.tell(on);
  events.initial = [{ ...on, operation: 'Initialized' }];
  await live(rig, 195);
  assert.deepEqual(
    noticed.map(({ state }) => state),
    ['on'],
  );
  assert.ok(events.subscriptions >= 4 && events.subscriptions <= 6, `${events.subscriptions} pull points`);
  assert.equal(count(rig, 'Renew'), 1, 'what a camera does not know it is not asked for again');
  assert.deepEqual([silent, cameras.counts.heard, logged.length], [[], 1, 1]);
  await live(rig, 2);
  assert.equal(events.pullPoints, 1, 'those before have been given back');
});

test('each next pull point is asked how all is, as the first one was', { timeout: 60_000 }, async (t) => {
  const rig: Rig = await rigOf(
    t,
    { path: '/pull/#', termMs: 60_000, renewal: 'fault', tellsWhenAsked: true, hasOne: true },
    {
      instead: (operation, response, body) => {
        // It begins when none is asked: the first one can't tell any more, and the next one not yet.
        if (operation === 'CreatePullPointSubscription' && rig.events.subscriptions === 1)
          rig.events.initial = [motion(true, { operation: 'Initialized', atMs: rig.events.nowMs })];
        return rig.events.instead(operation, response, body);
      },
    },
  );
  await live(rig, 70);
  assert.deepEqual(
    rig.noticed.map(({ state }) => state),
    ['on'],
  );
  assert.equal(count(rig, 'SetSynchronizationPoint'), rig.events.subscriptions);
});

test('a camera that has no room for a second pull point is asked on at the first', {
  timeout: 60_000,
}, async (t) => {
  let endMs = 0;
  const rig: Rig = await rigOf(
    t,
    // It says that it ends, and doesn't.
    {
      path: '/pull/#',
      renewal: 'fault',
      termination: (nowMs) => {
        endMs ||= nowMs + 20_000;
        return new Date(endMs).toISOString();
      },
    },
    {
      instead: (operation, response, body) => {
        if (operation !== 'CreatePullPointSubscription' || rig.events.subscriptions === 0)
          return rig.events.instead(operation, response, body);
        response.writeHead(400).end();
        return true;
      },
    },
  );
  await live(rig, 200);
  assert.deepEqual([rig.silent, rig.cameras.counts.heard, rig.logged.length], [[], 1, 1]);
  assert.ok(count(rig, 'PullMessages') <= 40, `${count(rig, 'PullMessages')} questions`);
});

test('a camera that keeps a pull point for as long as it is asked has one', {
  timeout: 60_000,
}, async (t) => {
  const rig = await rigOf(t, { path: '/pull/#', termMs: 31_000, renewal: 'fault', isProlonged: true });
  await live(rig, 100);
  assert.deepEqual([rig.events.subscriptions, rig.silent], [1, []]);
});

const nonsense: Readonly<Record<string, EventDialect['termination']>> = {
  nothing: () => '',
  'no time': () => 'tomorrow',
  now: (nowMs) => new Date(nowMs).toISOString(),
  'a time that is over': (nowMs) => new Date(nowMs - 3_600_000).toISOString(),
  'a moment from now': (nowMs) => new Date(nowMs + 1).toISOString(),
  'in a year': (nowMs) => new Date(nowMs + 31_536_000_000).toISOString(),
  'at the end of time': () => '9999-12-31T23:59:59Z',
};

for (const [what, termination] of Object.entries(nonsense))
  for (const renewal of [undefined, 'fault'] as const)
    test(`a camera that says ${what} of the end of a pull point, and ${renewal ? 'no' : 'a'} renewal, is heard on`, {
      timeout: 60_000,
    }, async (t) => {
      const rig = await rigOf(t, { path: '/pull/#', termination: termination!, ...(renewal && { renewal }) });
      await live(rig, 65);
      assert.deepEqual([rig.silent, rig.cameras.counts.heard, rig.logged.length], [[], 1, 1]);
      assert.ok(count(rig, 'PullMessages') <= 40, `${count(rig, 'PullMessages')} questions`);
      assert.ok(count(rig, 'Renew') <= 13, `${count(rig, 'Renew')} renewals`);
      assert.ok(rig.events.subscriptions <= 12, `${rig.events.subscriptions} pull points`);
    });

test('a camera that ends each pull point without a word is heard again at once, and told of once', {
  timeout: 60_000,
}, async (t) => {
  const rig = await rigOf(
    t,
    { path: '/pull/#', termMs: 30_000, renewal: 'fault', termination: () => '' },
    { auth: 'none' },
  );
  const { pass, events, cameras, logged } = rig;
  for (let round = 1; round <= 8; round += 1) {
    await live(rig, 29);
    pass(1_000);
    events.pass(1_000);
    await until('it is lost', () => cameras.heard('gate') === 'nothing');
    pass(1_000);
    await until('it is heard again', () => events.isAsked);
    assert.equal(events.subscriptions, round + 1);
  }
  assert.equal(logged.filter((line) => line.startsWith('warn')).length, 1, logged.join('\n'));
  assert.ok(logged.length <= 3, logged.join('\n'));
});

test('a renewal for less time than there was is taken at its word', () => {
  const told = (leftSec: number) => ({
    CurrentTime: new Date(0).toISOString(),
    TerminationTime: new Date(leftSec * 1_000).toISOString(),
  });
  const life = new Lifetime();
  life.granted(told(600), 1_000 as MonotonicMs);
  assert.ok(life.renewed(told(60), 31_000 as MonotonicMs));
  assert.ok(!life.endsSoon(61_000 as MonotonicMs) && life.isRenewalDue(61_000 as MonotonicMs));
  assert.ok(life.endsSoon(85_000 as MonotonicMs));
  assert.ok(!life.renewed(told(29), 62_000 as MonotonicMs), 'the end that there was');
});

test('whatever a camera says of a pull point’s end, it is asked for 1 to 20 s at a time, and left before that end', () => {
  const at = (ms: number) => ms as MonotonicMs;
  const said = (currentTime: string, terminationTime: string) =>
    within(
      parseXml(
        `<a><CurrentTime>${currentTime}</CurrentTime><TerminationTime>${terminationTime}</TerminationTime></a>`,
      ),
      'a',
    )!;
  const iso = (ms: number): string => new Date(ms).toISOString();
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4e12 }),
      fc.oneof(fc.integer({ min: 10_000, max: 40_000 }), fc.integer({ min: 10_000, max: 4_000_000 })),
      fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 0, max: 4_000_000 })),
      (cameraMs, termMs, laterMs) => {
        const life = new Lifetime();
        life.granted(said(iso(cameraMs), iso(cameraMs + termMs)), at(1_000));
        const nowMs = at(1_000 + laterMs);
        const waitSec = life.waitSec(nowMs);
        assert.ok(Number.isInteger(waitSec) && waitSec >= 1 && waitSec <= 20);
        if (!life.endsSoon(nowMs)) assert.ok(laterMs + waitSec * 1_000 < termMs, 'longer than it lasts');
        if (laterMs >= termMs / 2) assert.ok(life.isRenewalDue(nowMs));
        const endsSoon = life.endsSoon(nowMs);
        life.prolonged(said(iso(cameraMs + laterMs), iso(cameraMs + termMs)), nowMs);
        assert.deepEqual(
          [life.endsSoon(nowMs), life.waitSec(nowMs)],
          [endsSoon, waitSec],
          'it says the same',
        );
      },
    ),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40_000 }), (leftMs) => {
      const life = new Lifetime();
      life.granted('', at(1_000));
      life.prolonged(said(iso(0), iso(leftMs)), at(1_000));
      assert.ok(!life.endsSoon(at(6_000)), 'one that says it later gets no crowd of pull points');
    }),
  );
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.nat(), (one, other, nowMs) => {
      const life = new Lifetime();
      const answer = { CurrentTime: one, TerminationTime: other };
      life.granted(answer, at(0));
      life.prolonged(answer, at(nowMs));
      const waitSec = life.waitSec(at(nowMs));
      assert.ok(waitSec >= 1 && waitSec <= 20);
    }),
  );
});

/** What happens at a camera, second by second: motion begins or ends, or a line is crossed. */
const happening = fc.record({
  what: fc.constantFrom('gate', 'yard', 'line'),
  laterSec: fc.integer({ min: 1, max: 3 }),
});
const happenings = fc.array(happening, { maxLength: 12 });

test('whatever happens before, while and after a pull point takes over, all of it is told once', () => {
  fc.assert(
    fc.property(
      happenings,
      happenings,
      happenings,
      fc.boolean(),
      fc.nat(12),
      (before, meanwhile, after, saysSince, first) => {
        let utcMs = 1e12;
        const now = new Map<string, Notice>();
        const happen = ({ what, laterSec }: { what: string; laterSec: number }): Notice => {
          utcMs += laterSec * 1_000;
          const about = { kind: 'rule', key: what, label: what, topic: what, utcMs } as const;
          if (what === 'line') return { ...about, state: 'once' };
          const notice: Notice = { ...about, state: now.get(what)?.state === 'on' ? 'off' : 'on' };
          now.set(what, notice);
          return notice;
        };
        const old = before.map(happen);
        utcMs += 1_000;
        // Some cameras tell since when all is as it is, some when they were asked.
        const initial = [...now.values()].map((notice) => (saysSince ? notice : { ...notice, utcMs }));
        const both = meanwhile.map(happen);
        const late = after.map(happen);
        const told = new ToldNotices(systemClock);
        assert.deepEqual(
          [
            ...told.hear(old),
            ...told.hearRest(both.slice(0, first), false),
            ...told.hearRest(both.slice(first), true),
            ...told.hear([...initial, ...both, ...late]),
          ],
          [...old, ...both, ...late],
        );
      },
    ),
  );
});
