import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPolicies, type RtspPolicies } from '../../src/rtsp/quirks.js';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';
import { describe, options, play, SDP, setupTrack, teardown, toPlay } from './dialogue-lines.js';
import { answer, type Line, ScriptedCamera } from './scripted-camera.js';
import { SessionProbe } from './session-probe.js';

/** Plays a script over TCP with these policies; answers the camera, and the names of the policies that count. */
const played = async (
  script: readonly Line[],
  policies: Partial<RtspPolicies> = {},
  beats: string[] = [],
) => {
  const clock = new FakeClock();
  const keepalives = beats.map((method): Line => [method, answer('200 OK')]);
  await using camera = await ScriptedCamera.start([[...script, ...keepalives, teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp', policies }, clock);
  await probe.play();
  const timers = clock.pendingTimers;
  for (const [beat] of beats.entries()) {
    clock.advance(10_000);
    await until('the keepalive came', () => camera.requests.length === script.length + beat + 1);
  }
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
  return { requests: camera.requests, timers, quirks: [...probe.session.activeQuirks].sort() };
};

test('keepalive by a method of choice, whatever the camera lists, and for good', async () => {
  for (const [keepalive, method] of [
    ['auto', 'GET_PARAMETER'],
    ['options', 'OPTIONS'],
    ['get_parameter', 'GET_PARAMETER'],
    ['set_parameter', 'SET_PARAMETER'],
  ] as const) {
    const { quirks } = await played(toPlay, { keepalive }, [method, method]);
    assert.deepEqual(quirks, keepalive === 'auto' ? [] : ['keepalive']);
  }
  const refused: Line = ['SET_PARAMETER', answer('501 Not Implemented')];
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([[...toPlay, refused, refused, teardown]]);
  const policies = { keepalive: 'set_parameter' } as const;
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp', policies }, clock);
  await probe.play();
  for (const count of [6, 7]) {
    clock.advance(10_000);
    await until(
      'the keepalive was refused',
      () => camera.requests.length === count && clock.pendingTimers === 1,
    );
  }
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
});

test('keepalive none: nothing is sent, nothing is waited for', async () => {
  const { timers, quirks } = await played(toPlay, { keepalive: 'none' });
  assert.deepEqual([timers, quirks], [0, ['keepalive']]);
});

test('quirk 27: the name that we give ourselves', async () => {
  for (const [policies, name, active] of [
    [{}, 'Framering', []],
    [{ userAgent: 'LibVLC/3.0' }, 'LibVLC/3.0', ['userAgent']],
  ] as const) {
    const { requests, quirks } = await played(toPlay, policies);
    assert.ok(requests.every(({ headers }) => headers.get('user-agent') === name));
    assert.deepEqual(quirks, active);
  }
});

test('what a camera turned out to need is told', async () => {
  const otherId: Line = [
    'SETUP',
    answer('200 OK', { Transport: 'RTP/AVP/TCP;unicast;interleaved=2-3', Session: '78' }),
  ];
  const cases: readonly (readonly [name: string, script: readonly Line[], quirks: readonly string[]])[] = [
    ['nothing', toPlay, []],
    ['other channels', [options, describe, setupTrack('4-5'), setupTrack('6-7'), play], ['interleavedIds']],
    ['another session id', [options, describe, setupTrack('0-1'), otherId, play], ['sessionId']],
  ];
  for (const [name, script, quirks] of cases) assert.deepEqual((await played(script)).quirks, quirks, name);
  // One method refused, the next one taken.
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([
    [...toPlay, ['GET_PARAMETER', answer('405 Method Not Allowed')], ['OPTIONS', answer('200 OK')], teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' }, clock);
  await probe.play();
  assert.deepEqual([...probe.session.activeQuirks], []);
  clock.advance(10_000);
  await until('OPTIONS came', () => camera.requests.length === 7);
  assert.deepEqual([...probe.session.activeQuirks], ['keepalive']);
  await probe.session.close();
});

test('a change of transport is told, by its reason', async () => {
  const unsupported: Line = ['SETUP', answer('461 Unsupported Transport')];
  const mode0: Line = [
    'DESCRIBE',
    answer('200 OK', {}, SDP.replace('packetization-mode=1', 'packetization-mode=0')),
  ];
  for (const [script, quirk] of [
    [[options, describe, unsupported, setupTrack('0-1'), setupTrack('2-3'), play], 'refusedTransport'],
    [[options, mode0, setupTrack('0-1'), setupTrack('2-3'), play], 'packetizationMode0'],
  ] as const) {
    await using camera = await ScriptedCamera.start([[...script, teardown]]);
    const probe = new SessionProbe({ url: camera.url(), transport: 'udp' });
    await probe.play();
    assert.deepEqual([...probe.session.activeQuirks], [quirk]);
    await probe.session.close();
  }
});

test('a certificate that nobody has signed is told', async () => {
  await using camera = await ScriptedCamera.start([[...toPlay, teardown]], selfSignedCertificate());
  const url = camera.url('/live').replace('rtsp:', 'rtsps:');
  const probe = new SessionProbe({ url, transport: 'tcp' });
  await probe.play();
  assert.deepEqual([...probe.session.activeQuirks], ['certificate']);
  await probe.session.close();
});

test('each decision is the default, or told', () => {
  const otherwise: RtspPolicies = {
    userAgent: 'x',
    keepalive: 'none',
    teardown: 'never',
    refusedTransport: 'give_up',
    silentUdp: 'give_up',
    packetizationMode0: 'keep_transport',
    interleavedIds: 'as_requested',
    sessionId: 'keep_first',
    certificate: 'verify',
  };
  const names = (policies: RtspPolicies): string[] => [
    ...new SessionProbe({ url: 'rtsp://camera/', transport: 'tcp', policies }).session.activeQuirks,
  ];
  assert.deepEqual(names(defaultPolicies), []);
  assert.deepEqual(names(otherwise).sort(), Object.keys(otherwise).sort());
});
