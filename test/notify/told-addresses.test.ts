import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toldEvent } from '../../src/notify/occurrence.js';
import { fromSocketError, fromStatus } from '../../src/rtsp/errors.js';
import { until } from '../support/until.js';
import { FakeBroker } from './fake-broker.js';
import { cameraFacts, openMqtt } from './mqtt-rig.js';

const places = ['192.0.2.7:554', '[2001:db8::7]:8554', 'door.cameras.example:554', 'door_1:554'];
const socketFaults = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT', 'ECONNRESET', 'ERR_SSL_WRONG_VERSION', 'E'],
].map((code) => Object.assign(new Error('x'), { code }));

const faults = places.flatMap((place) => [
  ...socketFaults.map((fault) => fromSocketError(fault, place).message),
  fromStatus('DESCRIBE', 401, 'Unauthorized', place).message,
  // Cameras say what they like.
  fromStatus('DESCRIBE', 500, 'ask rtsp://root:x@192.0.2.7/live instead, or 192.0.2.7', place).message,
]);
const address = /192\.0\.2\.7|2001|example|door_1|554|rtsp:/;

test('why a camera is lost is told without its address', async (t) => {
  const broker = await FakeBroker.start(t);
  const { mqtt, begin } = openMqtt(t, broker.url);
  mqtt.look(
    faults.map((last_error, nth) => cameraFacts({ id: `c${nth}`, last_error })),
    '',
  );
  const events = faults.map((detail) => begin({ type: 'camera_lost', detail }));
  await until(
    'all is told',
    () => broker.topics.filter((topic) => /events$|state$/.test(topic)).length >= 2 * faults.length,
  );
  const told = broker.published.map(({ payload }) => payload.toString()).join('\n');
  assert.match(told, /nothing listens at its address: check the port, and that RTSP is enabled/);
  assert.match(told, /its address answered 401 Unauthorized to DESCRIBE: check user name and password/);
  assert.doesNotMatch(told, address);
  // Webhooks have the same.
  for (const event of events) assert.doesNotMatch(toldEvent(event).detail, address);
});

test('what is no address stays: zones, topics, times', () => {
  const event = {
    ...{ id: 1, cameraId: 'door', label: '', score: null, fromMs: 0, toMs: null, isProtected: false },
  };
  const zone = { ...event, type: 'detection', detail: 'gate:1 of 10.0.0.1' } as const;
  assert.equal(toldEvent(zone).detail, zone.detail);
  const lost = { ...event, type: 'camera_lost', detail: 'waiting for a keyframe (5 s)' } as const;
  assert.equal(toldEvent(lost).detail, lost.detail);
});

test('of what a camera says of its own a bounded part is looked through and told', () => {
  const event = {
    ...{ id: 1, cameraId: 'door', label: '', score: null, fromMs: 0, toMs: null },
    isProtected: false,
  };
  const lost = { ...event, type: 'camera_lost', detail: 'a'.repeat(60_000) } as const;
  assert.ok(toldEvent(lost).detail.length <= 500);
});
