import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../src/base/log.js';
import { Camera, type CameraSettings } from '../../../src/camera/fleet/camera.js';
import { StartGate } from '../../../src/camera/fleet/start-gate.js';
import type { HeldOff } from '../../../src/camera/fleet/suspects.js';
import { FakeClock } from '../../support/fake-clock.js';

const settings: CameraSettings = {
  id: 'door',
  source: { url: 'rtsp://user:secret@camera/1', transport: 'tcp' },
  host: 'camera',
  disabled: false,
  isRecorded: false,
};

const setUp = (initial: CameraSettings = settings) => {
  const clock = new FakeClock();
  const calls: string[] = [];
  const records: string[] = [];
  const placement: { heldOff: HeldOff | null } = { heldOff: null };
  const camera = new Camera(initial, {
    clock,
    log: createLogger((level, message, fields) =>
      records.push(JSON.stringify({ level, message, ...fields })),
    ),
    gate: new StartGate(clock),
    placement: {
      heldOff: () => placement.heldOff,
      slotFor: () => ({
        connect: (attempt, source) => calls.push(`connect ${attempt} ${source.transport}`),
        disconnect: () => calls.push('disconnect'),
      }),
      vacate: () => calls.push('vacate'),
    },
    random: () => 0.5,
  });
  return { camera, clock, calls, records, placement };
};

const lost = { code: 'closed_by_camera', message: 'the camera closed the connection' };
const refused = { code: 'unauthorized', message: 'wrong user name or password' };

test('a camera connects at once and streams with its first frame', () => {
  const { camera, calls } = setUp();
  camera.start();
  assert.deepEqual(calls, ['connect 1 tcp']);
  assert.equal(camera.status().state, 'connecting');
  camera.onPlaying(1);
  assert.equal(camera.status().state, 'connecting');
  camera.onStreaming(1);
  assert.equal(camera.status().state, 'streaming');
});

test('a camera that sends what can not be shown yet tells what it waits for, and for how long', () => {
  const { camera, clock, records } = setUp();
  camera.start();
  camera.onPlaying(1);
  const sinceMs = clock.monotonicMs();
  clock.advance(1_000);
  camera.onWaiting(1, { waitsFor: 'a keyframe', sinceMs });
  camera.onWaiting(0, { waitsFor: 'nothing of this session', sinceMs });
  clock.advance(11_200);
  assert.equal(camera.status().state, 'connecting');
  assert.equal(camera.status().lastError, 'waiting for a keyframe (12 s)');
  assert.equal(records.filter((record) => record.includes('a keyframe')).length, 1);
  camera.onStreaming(1);
  assert.equal(camera.status().lastError, '');
  camera.onEnded(1, lost);
  clock.advance(250);
  camera.onWaiting(2, { waitsFor: 'a keyframe', sinceMs: clock.monotonicMs() });
  assert.deepEqual(
    [camera.status().state, camera.status().lastError],
    ['reconnecting', 'waiting for a keyframe (0 s)'],
  );
  camera.onEnded(2, lost);
  assert.equal(camera.status().lastError, lost.message);
});

test('a lost camera is reconnecting, with the reason, and is tried again until it streams', () => {
  const { camera, clock, calls } = setUp();
  camera.start();
  camera.onStreaming(1);
  camera.onEnded(1, lost);
  assert.deepEqual(
    {
      state: camera.status().state,
      lastError: camera.status().lastError,
      since: camera.status().streamingSinceMs,
    },
    { state: 'reconnecting', lastError: lost.message, since: null },
  );
  clock.advance(249);
  assert.equal(calls.length, 1);
  clock.advance(1);
  assert.equal(calls.at(-1), 'connect 2 tcp');
  camera.onEnded(2, lost);
  clock.advance(500);
  assert.equal(calls.at(-1), 'connect 3 tcp');
  camera.onStreaming(3);
  assert.deepEqual(
    {
      state: camera.status().state,
      lastError: camera.status().lastError,
      reconnects: camera.status().reconnects,
    },
    { state: 'streaming', lastError: '', reconnects: 2 },
  );
});

test('ten seconds of frames make the next loss cheap again; a flapping camera is not', () => {
  const { camera, clock, calls } = setUp();
  camera.start();
  for (let attempt = 1; attempt <= 4; attempt++) {
    camera.onStreaming(attempt);
    camera.onEnded(attempt, lost);
    clock.advance(2_000);
  }
  camera.onStreaming(5);
  clock.advance(9_999);
  camera.onEnded(5, lost);
  clock.advance(1_999);
  assert.equal(calls.at(-1), 'connect 5 tcp');
  clock.advance(1);
  assert.equal(calls.at(-1), 'connect 6 tcp');
  camera.onStreaming(6);
  clock.advance(10_000);
  camera.onEnded(6, lost);
  clock.advance(250);
  assert.equal(calls.at(-1), 'connect 7 tcp');
});

test('a camera that refuses us is in error, and asked slower', () => {
  const { camera, clock, calls } = setUp();
  camera.start();
  camera.onEnded(1, refused);
  assert.equal(camera.status().state, 'error');
  clock.advance(4_999);
  assert.equal(calls.length, 1);
  clock.advance(1);
  assert.equal(calls.at(-1), 'connect 2 tcp');
  assert.equal(camera.status().state, 'error', 'trying again is no news until it works');
});

test('only a password that is refused counts as that, and no longer than it is', () => {
  const { camera, clock, calls, placement } = setUp();
  camera.start();
  camera.onEnded(1, { code: 'not_found', message: 'no such stream' });
  assert.deepEqual([camera.status().state, camera.isUnauthorized], ['error', false]);
  clock.advance(60_000);
  camera.onEnded(2, refused);
  assert.equal(camera.isUnauthorized, true);
  placement.heldOff = { delayMs: 5_000, reason: 'it waits for a thread' };
  clock.advance(600_000);
  assert.deepEqual([camera.status().state, camera.isUnauthorized], ['error', true], 'nobody asked it since');
  placement.heldOff = null;
  clock.advance(5_000);
  camera.onPlaying(Number(calls.at(-1)?.split(' ')[1]));
  assert.equal(camera.isUnauthorized, false);
});

test('news of an attempt that is over changes nothing', () => {
  const { camera, clock } = setUp();
  camera.start();
  camera.onEnded(1, lost);
  clock.advance(250);
  camera.onStreaming(1);
  camera.onEnded(1, refused);
  assert.equal(camera.status().state, 'reconnecting');
});

test('a change of source restarts the session; any other change does not', () => {
  const { camera, calls } = setUp();
  camera.start();
  camera.onStreaming(1);
  camera.update({ ...settings });
  assert.deepEqual(calls, ['connect 1 tcp']);
  camera.update({ ...settings, source: { ...settings.source, transport: 'udp' } });
  assert.deepEqual(calls.slice(1), ['disconnect', 'connect 3 udp']);
  assert.equal(camera.status().state, 'connecting');
});

test('a disabled camera lets go of its session, its retries and its ring', () => {
  const { camera, clock, calls } = setUp();
  camera.start();
  camera.onEnded(1, lost);
  camera.update({ ...settings, disabled: true });
  assert.equal(camera.status().state, 'disabled');
  assert.deepEqual(calls.slice(1), ['disconnect', 'vacate']);
  clock.advance(100_000);
  assert.equal(calls.length, 3);
  camera.update(settings);
  assert.match(calls.at(-1)!, /^connect/);
});

test('a camera whose worker died is reconnecting and asks for a new slot', () => {
  const { camera, clock, calls } = setUp();
  camera.start();
  camera.onStreaming(1);
  camera.onWorkerLost();
  assert.equal(camera.status().state, 'reconnecting');
  clock.advance(250);
  assert.equal(calls.at(-1), 'connect 2 tcp');
});

test('no record of the supervisor holds the password', () => {
  const { camera, clock, records } = setUp();
  camera.start();
  camera.onStreaming(1);
  camera.onEnded(1, lost);
  clock.advance(5_000);
  camera.onEnded(2, refused);
  assert.ok(records.length >= 3);
  assert.ok(!records.some((record) => record.includes('secret')));
});

test('a camera for which there is no thread says why, and takes no place at the gate', () => {
  const { camera, clock, calls, records, placement } = setUp();
  placement.heldOff = { delayMs: 60_000, reason: 'it ended its thread' };
  camera.start();
  assert.deepEqual(calls, []);
  assert.deepEqual([camera.status().state, camera.status().lastError], ['error', 'it ended its thread']);
  clock.advance(60_000);
  assert.deepEqual(calls, []);
  assert.equal(records.length, 1, 'told once, while the reason is the same');
  placement.heldOff = null;
  clock.advance(60_000);
  assert.equal(calls.length, 1);
  assert.equal(camera.status().reconnects, 0);
});
