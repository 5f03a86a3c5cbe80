import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MonotonicMs, systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { EventCameras } from '../../src/onvif/events/event-cameras.js';
import { FakeClock } from '../support/fake-clock.js';
import { FakeDevice, type FakeDeviceOptions } from '../support/onvif/fake-device.js';
import { FakeEvents } from '../support/onvif/fake-events.js';
import { until } from '../support/until.js';
import { motion, patient, recorder, rigOf, stream } from './event-rig.js';

test('what was heard of a camera is told from its pull point on until its last answer', {
  timeout: 60_000,
}, async (t) => {
  const { events, cameras, noticed, pass } = await rigOf(t, { path: '/pull/#' });
  await until('it is asked', () => events.isAsked);
  const begun = cameras.heard('gate');
  assert.ok(typeof begun === 'object' && begun !== null);
  assert.ok(Math.abs(Date.now() - begun.fromMs) < 30_000 && begun.fromMs <= begun.toMs);
  pass(25_000);
  const silent = cameras.heard('gate');
  assert.ok(typeof silent === 'object' && silent !== null && silent.toMs <= Date.now() - 25_000);
  events.tell(motion(true));
  await until('it is heard', () => noticed.length === 1);
  const last = cameras.heard('gate');
  assert.ok(typeof last === 'object' && last !== null);
  assert.ok(last.toMs - last.fromMs >= 25_000, 'all of the time between was heard');
});

test('a camera that was never heard, and does not say that it tells nothing, counts as not heard', {
  timeout: 60_000,
}, async (t) => {
  const options: Partial<FakeDeviceOptions> = {
    instead: (_operation, response) => {
      response.destroy();
      return true;
    },
  };
  const rig = await rigOf(t, { path: '/pull/#' }, options, 'main', undefined, { hasTrack: null });
  await until('it is looked at', () => rig.cameras.heard('gate') === 'unknown');
  rig.state.hasTrack = false;
  await until('it was asked in vain', () => rig.logged.length > 0);
  assert.equal(rig.cameras.heard('gate'), 'nothing');
  assert.deepEqual(rig.cameras.counts, { heard: 0, missed: 1 });
  rig.state.hasTrack = true;
  await until('it is heard otherwise', () => rig.cameras.heard('gate') === null);
});

/** Answers nothing to one question; tells when whoever asked hung up. */
const holding = (held: string) => {
  const state = { asked: 0, hungUp: 0 };
  const instead: FakeDeviceOptions['instead'] = (operation, response) => {
    if (operation !== held) return false;
    state.asked += 1;
    response.on('close', () => {
      state.hungUp += 1;
    });
    return true;
  };
  return { state, instead };
};

test('a camera that tells how all is when it is asked alone is asked once it has a pull point', {
  timeout: 60_000,
}, async (t) => {
  const { events, noticed, device, state } = await rigOf(
    t,
    { path: '/pull/#', tellsWhenAsked: true },
    {},
    'main',
    undefined,
    {
      isListed: false,
    },
  );
  events.initial = [motion(true, { operation: 'Initialized' })];
  state.isListed = true;
  await until('it is heard', () => noticed.length === 1);
  assert.equal(device.operations.filter((operation) => operation === 'SetSynchronizationPoint').length, 1);
});

test('a camera that does not answer how all is is heard all the same', { timeout: 60_000 }, async (t) => {
  const { state, instead } = holding('SetSynchronizationPoint');
  const rig = await rigOf(
    t,
    { path: '/pull/#' },
    {
      instead: (operation, response, body) =>
        instead!(operation, response, body) || rig.events.instead(operation, response, body),
    },
    'main',
    (clock) => clock,
  );
  await until('it is asked', () => rig.events.isAsked);
  rig.events.tell(motion(true));
  await until('it is heard', () => rig.noticed.length === 1);
  assert.deepEqual([state.asked, rig.events.subscriptions], [1, 1]);
});

test('a camera that is slow to open has a bound for all of it', { timeout: 60_000 }, async (t) => {
  const bounds: (() => void)[] = [];
  const { state, instead } = holding('GetProfiles');
  const { logged } = await rigOf(t, { path: '/pull/#' }, { instead }, 'main', (clock) => ({
    ...clock,
    after: (ms, callback) => {
      if (ms !== 30_000) return clock.after(ms === 5_000 ? 3_600_000 : ms, callback);
      bounds.push(callback);
      return { cancel: () => {} };
    },
  }));
  await until('it is asked', () => state.asked === 1);
  assert.equal(bounds.length, 1);
  bounds[0]!();
  await until('it says so', () => logged.some((line) => /longer than 30 s/.test(line)));
  await until('nobody waits', () => state.hungUp === 1);
});

test('what is being opened when the service stops is let go at once', { timeout: 60_000 }, async (t) => {
  const { state, instead } = holding('GetServices');
  const { cameras } = await rigOf(t, { path: '/pull/#' }, { instead });
  await until('it is asked', () => state.asked === 1);
  // By a clock by which no wait ends: nothing is waited for.
  await cameras.stop();
  await until('nobody waits', () => state.hungUp === 1);
});

test('a recorder that is slow to open holds up no other camera', { timeout: 60_000 }, async (t) => {
  const { state, instead } = holding('GetSystemDateAndTime');
  const options = { prefix: 's', auth: 'none', media: ['media'], faultStatus: 400, hasEvents: true } as const;
  const slow = await FakeDevice.start({ ...options, streams: recorder, instead });
  const events: FakeEvents = new FakeEvents({ path: '/pull/#' }, () => other.address);
  const other: FakeDevice = await FakeDevice.start({
    ...{ ...options, streams: [{ ...stream, token: 'main' }], instead: events.instead },
  });
  const cameraOf = (cameraId: string, address: string) => ({
    ...{ cameraId, address, profile: '', credentials: null, certificate: 'any' as const },
  });
  const cameras = new EventCameras({
    clock: patient(systemClock),
    log: createLogger(() => {}),
    cameras: () => [
      ...Array.from({ length: 20 }, (_, nth) => cameraOf(`slow${nth}`, slow.address)),
      cameraOf('gate', other.address),
    ],
    ...{ hasTrack: () => false, onNotices: () => {}, onSilent: () => {} },
  });
  t.after(async () => {
    await cameras.stop();
    await Promise.all([slow.stop(), other.stop()]);
  });
  cameras.look();
  await until('the other one is heard', () => events.isAsked);
  assert.equal(state.asked, 1, 'one of its cameras at a time');
});

const silentOnes: Readonly<Record<string, Partial<FakeDeviceOptions>>> = {
  'has no service for events': { hasEvents: false },
  // Whatever else this device knows, it answers that it knows not this.
  'knows no pull point': { instead: () => false },
};

for (const [how, options] of Object.entries(silentOnes))
  test(`of a camera that ${how} nothing is missed`, { timeout: 60_000 }, async (t) => {
    const rig = await rigOf(t, { path: '/pull/#' }, options);
    await until('it says so', () => rig.logged.length > 0);
    assert.match(rig.logged.join(), /tells no events/);
    assert.equal(rig.cameras.heard('gate'), null);
    assert.deepEqual(rig.cameras.counts, { heard: 0, missed: 0 });
  });

test('one that told events and then says that it knows none, as while it starts, counts as missed', {
  timeout: 60_000,
}, async (t) => {
  let isStarting = false;
  const rig = await rigOf(
    t,
    { path: '/pull/#' },
    { instead: (...asked) => !isStarting && rig.events.instead(...asked) },
  );
  await until('it is heard', () => rig.events.isAsked);
  isStarting = true;
  rig.events.forget();
  await until('it falls silent', () => rig.silent.length === 1);
  rig.pass(15_000);
  await until('it says that it knows none', () => rig.logged.some((line) => /tells no events/.test(line)));
  assert.equal(rig.cameras.heard('gate'), 'nothing');
  assert.deepEqual(rig.cameras.counts, { heard: 0, missed: 1 });
});

test('a camera that is deleted is forgotten: one that is made anew under its id is asked when its track is known', {
  timeout: 60_000,
}, async (t) => {
  const { events, cameras, state } = await rigOf(t, { path: '/pull/#' });
  await until('it is asked', () => events.isAsked);
  state.isListed = false;
  state.hasTrack = null;
  await until('it is gone', () => cameras.heard('gate') === null);
  state.isListed = true;
  await until('it is there', () => cameras.heard('gate') !== null);
  assert.equal(cameras.heard('gate'), 'unknown');
  state.hasTrack = false;
  await until('it is asked again', () => events.subscriptions === 2);
});

const pulledXml = (inside: string): string =>
  '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:wsnt="http://docs.oasis-open.org/wsn/b-2"><s:Body>' +
  `<PullMessagesResponse>${inside}</PullMessagesResponse></s:Body></s:Envelope>`;

const hostile: Readonly<Record<string, FakeDeviceOptions['instead']>> = {
  'without an answer': (operation, response) => {
    if (operation === 'PullMessages') response.destroy();
    return operation === 'PullMessages';
  },
  'with another protocol': (operation, response) => {
    if (operation !== 'PullMessages') return false;
    response.writeHead(101, { Connection: 'Upgrade', Upgrade: 'x' }).end();
    return true;
  },
  'without an end': (operation, response) => {
    if (operation !== 'PullMessages') return false;
    const pour = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', pour);
    pour();
    return true;
  },
  'with more than was asked for': (operation, response) => {
    const told =
      '<wsnt:NotificationMessage><wsnt:Topic>VideoSource/Motion</wsnt:Topic></wsnt:NotificationMessage>';
    if (operation === 'PullMessages') response.end(pulledXml(told.repeat(1_600)));
    return operation === 'PullMessages';
  },
  'with instructions for nobody': (operation, response) => {
    if (operation === 'PullMessages') response.end(pulledXml('<?a?>'.repeat(20_000)));
    return operation === 'PullMessages';
  },
  'with what is no XML': (operation, response) => {
    if (operation === 'PullMessages') response.end('<html><p>It works!');
    return operation === 'PullMessages';
  },
};

for (const [how, instead] of Object.entries(hostile))
  test(`a camera that answers ${how} is left alone for a while`, { timeout: 60_000 }, async (t) => {
    const rig = await rigOf(
      t,
      { path: '/pull/#' },
      {
        instead: (operation, response, body) =>
          instead!(operation, response, body) || rig.events.instead(operation, response, body),
      },
    );
    await until('it is broken', () => rig.logged.some((line) => /tells no events/.test(line)));
    assert.equal(rig.cameras.heard('gate'), 'nothing');
    const { subscriptions } = rig.events;
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.deepEqual([rig.events.subscriptions, rig.noticed], [subscriptions, []]);
    rig.pass(15_000);
    await until('it is tried again', () => rig.events.subscriptions > subscriptions);
  });

test('a camera whose answers take this thread long is asked the more rarely', {
  timeout: 60_000,
}, async (t) => {
  const waitsMs: number[] = [];
  const rig = await rigOf(t, { path: '/pull/#' }, {}, 'main', (clock) => {
    let nowMs = clock.monotonicMs();
    return {
      ...clock,
      // Whatever is measured took 50 ms, however busy the machine is.
      monotonicMs: () => {
        nowMs = (nowMs + 50) as MonotonicMs;
        return nowMs;
      },
      after: (ms, callback) => {
        waitsMs.push(ms);
        return clock.after(ms, callback);
      },
    };
  });
  await until('it is asked', () => rig.events.isAsked);
  waitsMs.length = 0;
  rig.events.tell(motion(true));
  await until('it is heard', () => rig.noticed.length === 1);
  await until('something is waited for', () => waitsMs.length > 0);
  // Not for the next answer, which may take 25 s.
  assert.ok(waitsMs[0]! >= 20 * 50 && waitsMs[0]! <= 5_000, `${waitsMs}`);
});

test('once the service has stopped, no timer of the cameras that are heard runs on', async () => {
  const clock = new FakeClock();
  const cameras = new EventCameras({
    ...{ clock, log: createLogger(() => {}), cameras: () => [] },
    ...{ hasTrack: () => false, onNotices: () => {}, onSilent: () => {} },
  });
  await cameras.stop();
  assert.equal(clock.pendingTimers, 0);
});

const portCases: Readonly<Record<string, { readonly toldHost: string; readonly isToldPort: boolean }>> = {
  'the address that its name stands for counts': { toldHost: '127.0.0.1', isToldPort: true },
  'another address does not count': { toldHost: '192.0.2.1', isToldPort: false },
};

for (const [how, { toldHost, isToldPort }] of Object.entries(portCases))
  test(`of a camera that is asked by its name, the port that it tells beside ${how}`, {
    timeout: 60_000,
  }, async (t) => {
    const dialect = {
      prefix: 's',
      auth: 'none',
      media: ['media'],
      faultStatus: 400,
      hasEvents: true,
    } as const;
    const options = { ...dialect, streams: [{ ...stream, token: 'main' }] };
    const events: FakeEvents = new FakeEvents(
      { path: '/event-#' },
      () => `${toldHost}:${isToldPort ? inner.port : outer.port + 1}`,
    );
    const [inner, outer] = await Promise.all([
      FakeDevice.start({ ...options, instead: events.instead }),
      FakeDevice.start({ ...options, instead: events.instead }),
    ]);
    const cameras = new EventCameras({
      ...{ clock: patient(systemClock), log: createLogger(() => {}) },
      cameras: () => [
        {
          ...{ cameraId: 'gate', address: `localhost:${outer.port}`, profile: '' },
          ...{ credentials: null, certificate: 'any' },
        },
      ],
      ...{ hasTrack: () => false, onNotices: () => {}, onSilent: () => {} },
    });
    t.after(async () => {
      await cameras.stop();
      await Promise.all([inner.stop(), outer.stop()]);
    });
    cameras.look();
    await until('it is asked', () => events.isAsked);
    assert.deepEqual(
      [inner, outer].map(({ operations }) => operations.filter((name) => name === 'PullMessages').length),
      isToldPort ? [1, 0] : [0, 1],
    );
    const { host } = (isToldPort ? inner : outer).asked.at(-1)!;
    assert.equal(host, `localhost:${(isToldPort ? inner : outer).port}`, 'by its name as before');
  });

test('a camera that was well is opened anew before those that never answered', {
  timeout: 60_000,
}, async (t) => {
  const { state, instead } = holding('GetSystemDateAndTime');
  const options = { prefix: 's', auth: 'none', media: ['media'], faultStatus: 400, hasEvents: true } as const;
  const streams = [{ ...stream, token: 'main' }];
  const events: FakeEvents = new FakeEvents({ path: '/pull/#' }, () => well.address);
  const well: FakeDevice = await FakeDevice.start({ ...options, streams, instead: events.instead });
  const dead = await Promise.all(
    Array.from({ length: 8 }, () => FakeDevice.start({ ...options, streams, instead })),
  );
  const listed = [well];
  const cameras = new EventCameras({
    // Those that don't answer are waited for all the time.
    clock: patient(systemClock),
    log: createLogger(() => {}),
    cameras: () =>
      listed.map(({ address, port }) => ({
        ...{ cameraId: `${port}`, address, profile: '', credentials: null, certificate: 'any' },
      })),
    ...{ hasTrack: () => false, onNotices: () => {}, onSilent: () => {} },
  });
  const beat = setInterval(() => cameras.look(), 20);
  t.after(async () => {
    clearInterval(beat);
    await cameras.stop();
    await Promise.all([well, ...dead].map((device) => device.stop()));
  });
  await until('it is heard', () => events.isAsked);
  listed.push(...dead);
  await until('the others take all places', () => state.asked === dead.length);
  events.forget();
  await until('it is heard again', () => events.subscriptions === 2 && events.isAsked);
});
