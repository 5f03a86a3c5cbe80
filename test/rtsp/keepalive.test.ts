import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Keepalive, keepaliveMethods } from '../../src/rtsp/keepalive.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';
import { teardown, toPlay } from './dialogue-lines.js';
import { answer, type Line, ScriptedCamera } from './scripted-camera.js';
import { SessionProbe } from './session-probe.js';

test('quirk 21: the method is chosen by Public', () => {
  const by = (...offered: string[]): string => keepaliveMethods('auto', new Set(offered)).join(' ');
  assert.equal(by(), 'OPTIONS');
  assert.equal(by('PLAY', 'GET_PARAMETER'), 'GET_PARAMETER OPTIONS');
  assert.equal(by('SET_PARAMETER'), 'OPTIONS SET_PARAMETER');
  assert.equal(by('SET_PARAMETER', 'GET_PARAMETER'), 'GET_PARAMETER OPTIONS SET_PARAMETER');
  assert.deepEqual(keepaliveMethods('options', new Set(['GET_PARAMETER'])), ['OPTIONS']);
});

/** Lets `beats` periods pass; `statuses` answers by method, null never. */
const beatsOf = async (
  methods: readonly string[],
  statuses: Readonly<Record<string, number | null>>,
  beats: number,
): Promise<string[]> => {
  const clock = new FakeClock();
  const sent: string[] = [];
  const keepalive = new Keepalive(methods, 60_000, {
    clock,
    send: (method) => {
      sent.push(method);
      const status = statuses[method] ?? null;
      return status === null ? Promise.reject(new Error('timeout')) : Promise.resolve(status);
    },
  });
  for (let beat = 0; beat < beats; beat++) {
    clock.advance(30_000);
    // All that hangs on promises alone runs before the next timer does.
    await new Promise((resolve) => setImmediate(resolve));
    sent.push('|');
  }
  keepalive.stop();
  clock.advance(300_000);
  assert.equal(clock.pendingTimers, 0);
  return sent;
};

test('quirk 21: a refused method gives way to the next one at once, for good', async () => {
  const methods = ['GET_PARAMETER', 'OPTIONS', 'SET_PARAMETER'];
  assert.deepEqual(await beatsOf(methods, { GET_PARAMETER: 551, OPTIONS: 200 }, 2), [
    'GET_PARAMETER',
    'OPTIONS',
    '|',
    'OPTIONS',
    '|',
  ]);
  assert.deepEqual(await beatsOf(methods, { GET_PARAMETER: 454, OPTIONS: 400, SET_PARAMETER: 405 }, 2), [
    ...methods,
    '|',
    'OPTIONS',
    '|',
  ]);
});

test('a refusal that comes after the end is not followed by another method', async () => {
  const clock = new FakeClock();
  const sent: string[] = [];
  const keepalive = new Keepalive(['GET_PARAMETER', 'OPTIONS'], 60_000, {
    clock,
    send: (method) => {
      sent.push(method);
      keepalive.stop();
      return Promise.resolve(405);
    },
  });
  clock.advance(30_000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(sent, ['GET_PARAMETER']);
});

test('quirk 22: no answer to a keepalive is no error', async () => {
  assert.deepEqual(await beatsOf(['GET_PARAMETER', 'OPTIONS'], {}, 2), [
    'GET_PARAMETER',
    '|',
    'GET_PARAMETER',
    '|',
  ]);
});

test('pain 14: half the time-out, at least a second, at most 30 s', () => {
  for (const [timeoutMs, periodMs] of [
    [20_000, 10_000],
    [null, 30_000],
    [86_400_000, 30_000],
    [1_000, 1_000],
  ] as const) {
    const clock = new FakeClock();
    let beats = 0;
    const keepalive = new Keepalive(['OPTIONS'], timeoutMs, {
      clock,
      send: () => {
        beats += 1;
        return Promise.resolve(200);
      },
    });
    clock.advance(periodMs - 1);
    assert.equal(beats, 0);
    clock.advance(1);
    assert.equal(beats, 1);
    keepalive.stop();
  }
});

test('quirk 22: in a session the keepalive names the session, and its silence ends nothing', async () => {
  const clock = new FakeClock();
  const silent: Line = ['GET_PARAMETER', 'silence'];
  const refused: Line = ['GET_PARAMETER', answer('405 Method Not Allowed')];
  await using camera = await ScriptedCamera.start([
    [...toPlay, silent, refused, ['OPTIONS', answer('200 OK')], teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' }, clock);
  await probe.play();
  clock.advance(10_000);
  await until('the first keepalive', () => camera.methods.length === 6);
  clock.advance(10_000);
  await until('the second one, and what it fell back to', () => camera.methods.length === 8);
  const { uri, headers } = camera.requests[7]!;
  assert.match(uri, /\/live$/);
  assert.equal(headers.get('session'), '77');
  assert.deepEqual(probe.ends, []);
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
});
