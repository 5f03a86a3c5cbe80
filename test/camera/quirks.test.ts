import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameSource, policiesOf, quirkNames } from '../../src/camera/quirks.js';
import { readCounters } from '../../src/ring/counters.js';
import { defaultPolicies } from '../../src/rtsp/quirks.js';
import type { CameraQuirks } from '../../src/store/cameras.js';
import { FakeCamera, type FakeCameraOptions } from '../support/fake-camera/fake-camera.js';
import { FakeClock } from '../support/fake-clock.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';
import { WorkerProbe } from './ingest/worker-probe.js';

/** What a camera was asked during a session with these quirks, and what the session told. */
const session = async (
  quirks: CameraQuirks,
  transport: 'tcp' | 'udp' = 'tcp',
  options: Partial<FakeCameraOptions> = {},
) => {
  await using camera = await FakeCamera.start({
    mounts: { '/cam': { video: fixtures.h264Baseline(), pacing: { mode: 'live', speed: 8 } } },
    ...options,
  });
  const clock = new FakeClock();
  await using probe = new WorkerProbe(clock);
  probe.connect({ url: camera.url(), transport, quirks });
  await until('it plays or is refused', () => {
    if (transport === 'udp') clock.advance(10);
    return probe.types.includes('streaming') || probe.types.includes('ended');
  });
  if (probe.types.includes('streaming')) await until('it plays', () => probe.types.includes('playing'));
  // The keepalive of a time-out of 60 s; frames keep the session alive meanwhile.
  for (let second = 0; second < 31 && !probe.types.includes('ended'); second++) {
    const frames = readCounters(probe.ring).videoFrames;
    await until('a frame came', () => readCounters(probe.ring).videoFrames > frames);
    clock.advance(1_000);
  }
  probe.disconnect();
  await until('it ended', () => probe.types.includes('ended'));
  await camera.until(({ openSockets }) => openSockets === 0);
  const told = probe.said.findLast((message) => message.type === 'quirks');
  const ended = probe.said.findLast((message) => message.type === 'ended');
  const { requests } = camera;
  const methods = requests.map(({ method }) => method);
  return { requests, methods, quirks: told?.names ?? [], fault: ended?.fault.code };
};

test('user agent, keepalive and teardown reach the camera', async () => {
  const plain = await session({});
  assert.ok(plain.methods.includes('GET_PARAMETER') && plain.methods.includes('TEARDOWN'));
  assert.deepEqual(plain.quirks, []);
  const odd = await session({ user_agent: 'LibVLC/3.0', keepalive: 'set_parameter', teardown: 'never' });
  assert.ok(odd.requests.every(({ headers }) => headers.get('user-agent') === 'LibVLC/3.0'));
  assert.ok(odd.methods.includes('SET_PARAMETER'));
  assert.ok(!odd.methods.includes('GET_PARAMETER') && !odd.methods.includes('TEARDOWN'));
  assert.deepEqual(odd.quirks, ['keepalive', 'teardown', 'user_agent']);
  const mute = await session({ keepalive: 'none' });
  assert.deepEqual(mute.methods, ['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY', 'TEARDOWN']);
});

test('a certificate that must be verified, and is not', async () => {
  const strict = await session({ certificate: 'verify' }, 'tcp', { isTls: true });
  assert.deepEqual([strict.fault, strict.methods], ['protocol_error', []]);
  const lax = await session({}, 'tcp', { isTls: true });
  assert.deepEqual([lax.fault, lax.quirks], ['aborted', ['certificate']]);
});

test('what a session turned out to need is told, or refused where it is not wanted', async () => {
  const tcpOnly = { transports: ['tcp'] } as const;
  assert.deepEqual((await session({}, 'udp', tcpOnly)).quirks, ['refused_transport']);
  const refused = await session({ refused_transport: 'give_up' }, 'udp', tcpOnly);
  assert.equal(refused.fault, 'unsupported_transport');
  const blocked = { faults: { udpBlocked: ['video'] } } as const;
  assert.deepEqual((await session({}, 'udp', blocked)).quirks, ['silent_udp']);
  assert.equal((await session({ silent_udp: 'give_up' }, 'udp', blocked)).fault, 'timeout');
});

test('every policy can be set, and none else', () => {
  const names = quirkNames(Object.keys(defaultPolicies) as (keyof typeof defaultPolicies)[]);
  assert.equal(new Set(names).size, Object.keys(defaultPolicies).length);
  const all = Object.fromEntries(names.map((name) => [name, 'x'])) as CameraQuirks;
  assert.deepEqual(Object.keys(policiesOf(all)).sort(), Object.keys(defaultPolicies).sort());
  assert.deepEqual(policiesOf({ keepalive: undefined }), {});
});

test('a source is the same whatever the order of its quirks, and another with another quirk', () => {
  const source = (quirks: CameraQuirks) => ({ url: 'rtsp://a', transport: 'tcp' as const, quirks });
  const a = source({ keepalive: 'none', certificate: 'any' });
  assert.ok(isSameSource(a, source({ certificate: 'any', keepalive: 'none' })));
  assert.ok(isSameSource(source({}), { url: 'rtsp://a', transport: 'tcp' }));
  assert.ok(!isSameSource(a, source({ keepalive: 'none' })));
  assert.ok(!isSameSource(a, { ...a, url: 'rtsp://b' }));
  assert.ok(!isSameSource(a, { ...a, transport: 'udp' }));
});
