import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/until.js';
import { FakeBroker } from './fake-broker.js';
import { cameraFacts, openMqtt } from './mqtt-rig.js';

const isPicture = (topic: string): boolean => topic.endsWith('/picture');

test('the last picture of a camera that went is not told after all', async (t) => {
  const broker = await FakeBroker.start(t);
  const { mqtt, begin } = openMqtt(t, broker.url);
  mqtt.look([cameraFacts({ id: 'door' })], '');
  await until('all is told', () => broker.topics.includes('framering/cameras/door/motion'));
  broker.isAcknowledging = false;
  const events = Array.from({ length: 20 }, () => begin());
  await until(
    'no more is on its way',
    () => broker.topics.filter((topic) => topic.endsWith('/events')).length > 0,
  );
  mqtt.onPicture(events[0]!.id, Buffer.alloc(1_000));
  mqtt.look([], '');
  broker.isAcknowledging = true;
  broker.acknowledge();
  await until('all is told', () => mqtt.figures.waiting === 0 && broker.topics.some(isPicture));
  begin();
  await until('the last is told', () => broker.published.at(-1)?.topic === 'framering/events');
  const sizes = broker.published.filter(({ topic }) => isPicture(topic)).map(({ payload }) => payload.length);
  assert.equal(sizes.at(-1), 0, `${sizes}`);
});

test('what a broker keeps of a camera that went is removed before that by which it would be found again', async (t) => {
  const broker = await FakeBroker.start(t);
  const { mqtt } = openMqtt(t, broker.url);
  mqtt.look([cameraFacts({ id: 'door' })], '');
  await until('all is told', () => broker.topics.includes('framering/cameras/door/motion'));
  broker.published.length = 0;
  mqtt.look([], '');
  await until('it is removed', () => broker.topics.includes('framering/cameras/door/state'));
  assert.equal(broker.topics[0], 'framering/cameras/door/picture', `${broker.topics}`);
});

test('pictures go one by one: what happens meanwhile waits for one at most', async (t) => {
  const broker = await FakeBroker.start(t);
  const { mqtt, begin } = openMqtt(t, broker.url);
  const ids = Array.from({ length: 20 }, (_, nth) => `camera-${nth}`);
  mqtt.look(
    ids.map((id) => cameraFacts({ id })),
    '',
  );
  const events = ids.map((cameraId) => begin({ cameraId }));
  const eventCount = (): number => broker.topics.filter((topic) => topic === 'framering/events').length;
  await until('all is told', () => eventCount() === ids.length && mqtt.figures.waiting === 0);
  await until('all is acknowledged', () => mqtt.figures.sent === broker.published.length);
  broker.isAcknowledging = false;
  broker.published.length = 0;
  for (const { id } of events) mqtt.onPicture(id, Buffer.alloc(100_000));
  begin();
  await until('the event is told', () => eventCount() === 1);
  begin();
  await until('the next one, too', () => eventCount() === 2);
  assert.equal(broker.topics.filter(isPicture).length, 1);
  broker.isAcknowledging = true;
  broker.acknowledge();
  await until('all pictures are told', () => broker.topics.filter(isPicture).length === ids.length);
});
