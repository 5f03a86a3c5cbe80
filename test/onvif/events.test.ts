import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseXml, at as within } from '../../src/analytics/xml-tree.js';
import { pulledNotices } from '../../src/onvif/events/pulled-notices.js';
import { referenceOf } from '../../src/onvif/events/reference.js';
import type { EventDialect, FakeMessage } from '../support/onvif/fake-events.js';
import { cpuMsOf } from '../support/took.js';
import { until } from '../support/until.js';
import { motion, recorder, rigOf } from './event-rig.js';

const HOUR_MS = 3_600_000;

/** As vendors have it, in what they differ. */
const vendors: Readonly<Record<string, { readonly events: EventDialect; readonly said: FakeMessage }>> = {
  hikvision: {
    events: { path: '/onvif/Events/PullSubManager_2026?Idx=#' },
    said: motion(true, {
      topic: 'tns1:RuleEngine/CellMotionDetector/Motion',
      source: { VideoSourceConfigurationToken: 'c', VideoAnalyticsConfigurationToken: 'a', Rule: 'MyMotion' },
      data: { IsMotion: 'true' },
    }),
  },
  dahua: {
    events: { path: '/onvif/Subscription?Idx=#', host: '192.168.1.108' },
    said: motion(true),
  },
  axis: {
    events: {
      path: '/onvif/services',
      reference: {
        xml: '<dom0:SubscriptionId>42</dom0:SubscriptionId>',
        declared: 'xmlns:dom0="http://www.axis.com/2009/event"',
      },
    },
    said: motion(true, {
      topic: 'tnsaxis:CameraApplicationPlatform/VMD/Camera1Profile1',
      source: {},
      data: { active: '1' },
    }),
  },
  reolink: { events: { path: '/onvif/PullSubManager?Idx=00_#', renewal: 'fault' }, said: motion(true) },
  tapo: {
    events: { path: '/event-#_1024' },
    said: motion(true, { topic: 'tns1:RuleEngine/CellMotionDetector/Motion', data: { IsMotion: 'true' } }),
  },
};

for (const [vendor, { events: dialect, said }] of Object.entries(vendors))
  test(`what a camera as of ${vendor} notices is heard when it happens`, { timeout: 60_000 }, async (t) => {
    const { events, cameras, noticed, pass, device } = await rigOf(t, dialect);
    await until('it is asked', () => events.isAsked);
    assert.deepEqual(cameras.counts, { heard: 1, missed: 0 });
    events.tell(said);
    await until('it is heard', () => noticed.length === 1);
    assert.deepEqual([noticed[0]?.kind, noticed[0]?.state], ['motion', 'on']);
    // The pull point is renewed while it is used.
    await until('it is asked again', () => events.isAsked);
    pass(31_000);
    events.tell({ ...said, data: Object.fromEntries(Object.keys(said.data).map((name) => [name, 'false'])) });
    await until('it is over', () => noticed.at(-1)?.state === 'off');
    await until('it was renewed, and is asked again', () => events.isAsked);
    assert.equal(events.asked.filter(({ operation }) => operation === 'Renew').length, 1);
    assert.equal(events.subscriptions, 1);
    assert.ok(
      device.asked.every(({ host }) => host === device.address),
      'no other host is asked',
    );
    await cameras.stop();
    assert.equal(events.asked.at(-1)?.operation, 'Unsubscribe');
  });

const noRenewals: Readonly<Record<Exclude<EventDialect['renewal'], 'same end' | undefined>, number>> = {
  ...{ fault: 1, 'status alone': 1, page: 1, 'other answer': 1 },
  // What isn't answered may be bad luck, once.
  ...{ 'cut off': 2, silence: 2 },
};

for (const [renewal, asked] of Object.entries(noRenewals))
  test(`a camera whose answer to a renewal is ${renewal} is heard on without one`, {
    timeout: 60_000,
  }, async (t) => {
    const path = '/pull/#';
    const dialect = { path, renewal: renewal as NonNullable<EventDialect['renewal']> };
    const rig = await rigOf(t, dialect, {}, 'main', (clock) => clock);
    const { events, cameras, noticed, silent, pass } = rig;
    for (let round = 1; round <= 3; round += 1) {
      await until('it is asked', () => events.isAsked);
      pass(31_000);
      events.tell(motion(round % 2 === 1));
      await until('it is heard', () => noticed.length === round);
    }
    await until('it is asked on', () => events.isAsked);
    const renewals = events.asked.filter(({ operation }) => operation === 'Renew').length;
    assert.deepEqual([events.subscriptions, renewals, silent, cameras.counts.heard], [1, asked, [], 1]);
  });

test('a camera that begins anew is asked anew, and tells how all is', { timeout: 60_000 }, async (t) => {
  const { events, cameras, noticed, silent, pass, logged } = await rigOf(t, { path: '/pull/#' });
  await until('it is asked', () => events.isAsked);
  assert.notEqual(cameras.heard('gate'), 'nothing');
  events.initial = [motion(true, { operation: 'Initialized' })];
  events.forget();
  await until('it is known', () => cameras.heard('gate') === 'nothing');
  assert.deepEqual(silent, ['gate']);
  pass(15_000);
  await until('it is heard again', () => noticed.length === 1);
  assert.deepEqual([noticed[0]?.state, events.subscriptions], ['on', 2]);
  assert.notEqual(cameras.heard('gate'), 'nothing');
  assert.equal(logged.filter((line) => line.startsWith('warn')).length, 1, logged.join('\n'));
  assert.doesNotMatch(logged.join(), /secret/);
});

test('a pull point that is lost is made anew at once, one that is lost again and again ever more rarely', {
  timeout: 60_000,
}, async (t) => {
  const { events, noticed, pass, logged, cameras } = await rigOf(t, { path: '/pull/#' });
  const isLost = () => cameras.heard('gate') === 'nothing';
  await until('it is asked', () => events.isAsked);
  events.tell(motion(true));
  await until('it is heard', () => noticed.length === 1);
  await until('it is asked again', () => events.isAsked);
  events.initial = [motion(true, { operation: 'Initialized' })];
  events.forget();
  await until('it is lost', isLost);
  // Sooner than what is on counts as over.
  pass(1_000);
  await until('it is heard again', () => noticed.length === 2);
  await until('it is asked again', () => events.isAsked);
  events.forget();
  await until('it is lost again', isLost);
  pass(5_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(events.subscriptions, 2);
  pass(30_000);
  await until('it is asked again', () => events.isAsked);
  assert.equal(logged.filter((line) => line.startsWith('warn')).length, 1, logged.join('\n'));
});

test('a flood of messages hides no state: the newest count', { timeout: 60_000 }, async (t) => {
  const { events, noticed } = await rigOf(t, { path: '/pull/#', tellsAllAtOnce: true });
  await until('it is asked', () => events.isAsked);
  const device = { topic: 'tns1:Device/HardwareFailure', source: {}, data: { State: 'true' } };
  events.tell(
    ...Array.from({ length: 100 }, () => motion(true)),
    motion(false),
    ...Array.from({ length: 100 }, () => motion(true, device)),
  );
  await until('it is heard', () => noticed.length > 0);
  assert.deepEqual([noticed.length, noticed.at(-1)?.state], [64, 'off']);
});

test('a camera is asked only while it tells nothing beside its pictures', { timeout: 60_000 }, async (t) => {
  const { events, state, silent } = await rigOf(t, { path: '/pull/#' });
  await until('it is asked', () => events.isAsked);
  state.hasTrack = null;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(events.isAsked, 'a connection that is made anew changes nothing');
  state.hasTrack = true;
  await until('it is asked no more', () => !events.isAsked);
  await until('it was told', () => events.asked.at(-1)?.operation === 'Unsubscribe');
  assert.deepEqual(silent, ['gate']);
});

test('of a recorder each camera hears of its own picture alone', { timeout: 60_000 }, async (t) => {
  const { events, noticed } = await rigOf(t, { path: '/pull/#' }, { streams: recorder }, 'ch2');
  await until('it is asked', () => events.isAsked);
  events.tell(
    motion(true, { source: { VideoSourceToken: 'vs1' } }),
    motion(true, { source: { VideoSourceToken: 'vs2' } }),
    motion(true, { topic: 'tns1:UserAlarm/Panic', source: {} }),
  );
  await until('it is heard', () => noticed.length === 2);
  assert.match(noticed[0]!.key, /vs2/);
  assert.equal(noticed[1]?.topic, 'UserAlarm/Panic');
});

test('of a recorder nothing is told to a camera of which nobody knows which one it is', {
  timeout: 60_000,
}, async (t) => {
  const { events, logged } = await rigOf(t, { path: '/pull/#' }, { streams: recorder }, '');
  await until('it says so', () => logged.some((line) => /onvif\.profile has to name/.test(line)));
  assert.equal(events.subscriptions, 0);
});

const pulled = (currentTime: string, utcTime: string): number => {
  const answer = parseXml(
    `<PullMessagesResponse><CurrentTime>${currentTime}</CurrentTime><NotificationMessage><Topic>VideoSource/MotionAlarm</Topic>` +
      `<Message><Message UtcTime="${utcTime}"><Data><SimpleItem Name="State" Value="true"/></Data></Message></Message>` +
      '</NotificationMessage></PullMessagesResponse>',
  );
  return pulledNotices(
    within(answer, 'PullMessagesResponse')!,
    new Set(),
    10 * HOUR_MS,
    (notices) => notices,
  )[0]!.wallMs;
};

test('how long ago something was is told by the camera’s clock alone, wherever that stands', () => {
  const at = (ms: number): string => new Date(ms).toISOString();
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4e12 }),
      fc.integer({ min: -2 * HOUR_MS, max: 2 * HOUR_MS }),
      (nowMs, ageMs) => {
        const wallMs = pulled(at(nowMs), at(Math.max(0, nowMs - ageMs)));
        const toldMs = nowMs - Math.max(0, nowMs - ageMs);
        assert.equal(wallMs, 10 * HOUR_MS - (toldMs > 0 && toldMs <= 60_000 ? toldMs : 0));
      },
    ),
  );
  assert.equal(pulled('yesterday', at(0)), 10 * HOUR_MS);
});

test('what a camera wants to be told again is bounded, and taken out of whatever it says without delay', () => {
  const wrapped = (inside: string): string =>
    `<a xmlns:p="u:1"><w:ReferenceParameters>${inside}</w:ReferenceParameters></a>`;
  assert.deepEqual(referenceOf(wrapped('<p:Id>1</p:Id>')), {
    xml: '<p:Id>1</p:Id>',
    declarations: ' xmlns:p="u:1"',
  });
  for (const text of [
    '',
    '<a/>',
    wrapped(''),
    wrapped('x'.repeat(3_000)),
    '<w:ReferenceParameters/>',
    '<w:ReferenceParameters>',
  ])
    assert.equal(referenceOf(text).xml, '', text.slice(0, 50));
  fc.assert(fc.property(fc.string(), (text) => referenceOf(wrapped(text)).xml.length <= 2_048));
  const tookMs = cpuMsOf(() => {
    referenceOf('<w:ReferenceParameters '.repeat(20_000));
    referenceOf(wrapped('<w:ReferenceParameters>'.repeat(20_000)));
  });
  assert.ok(tookMs < 2_000, `took ${tookMs} ms`);
});
