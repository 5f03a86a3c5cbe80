import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Received, startReceiver } from '../notify/receiver.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { FakeDevice } from '../support/onvif/fake-device.js';
import { FakeEvents } from '../support/onvif/fake-events.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const HAPPENED = 20;
/** The receiver takes so many and hangs over the next one, in which the service is killed. */
const TAKEN = 5;

const motion = (nth: number) => ({
  ...{ topic: 'tns1:VideoSource/MotionAlarm', source: { Source: `area-${nth}` }, data: { State: 'true' } },
  ...{ operation: 'Changed', atMs: Date.now() },
});

const bodyOf = ({ body }: Received) => JSON.parse(body);
const idOf = ({ headers }: Received): string => headers['webhook-id']!;

test('what a killed service had still to tell is told after its next start: all of it, in order, and what hung again', {
  timeout: 120_000,
}, async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  receiver.answer = (response) => {
    // No answer is ever given to those behind.
    if (receiver.received.length <= TAKEN) response.writeHead(204).end();
  };
  const mounts = { '/main': { video: fixtures.h264High(), pacing: { mode: 'live', speed: 1 } } } as const;
  const camera = await FakeCamera.start({ mounts });
  t.after(() => camera.close());
  const events: FakeEvents = new FakeEvents({ path: '/pull/#' }, () => device.address);
  const device: FakeDevice = await FakeDevice.start({
    ...{ prefix: 's', auth: 'none', media: ['media'], faultStatus: 400, hasEvents: true },
    ...{ instead: events.instead, streams: [] },
  });
  t.after(() => device.stop());
  const env = { DATA_DIR: tempFolder(t), WEBHOOKS_TO_LOCAL: 'true' };
  const first = await startService(env);
  t.after(() => first.process.kill('SIGKILL'));
  const token = await first.login('admin', first.adminPassword);
  const made = await first.call('POST', '/api/webhooks', {
    token,
    body: { name: 'ours', url: receiver.url, types: ['motion'] },
  });
  assert.equal(made.status, 201, made.text);
  const gate = { id: 'gate', url: camera.url('/main'), onvif: { address: device.address } };
  assert.equal((await first.call('POST', '/api/cameras', { token, body: gate })).status, 201);
  await until('the camera is asked', () => events.isAsked);
  events.tell(...Array.from({ length: HAPPENED }, (_, nth) => motion(nth)));
  const isWaiting = async () => {
    const { body } = await first.call('GET', `/api/webhooks/${made.body.id}`, { token });
    return body.waiting === HAPPENED - TAKEN && receiver.received.length === TAKEN + 1;
  };
  await until('the rest waits behind one that hangs', isWaiting);
  first.process.kill('SIGKILL');
  await once(first.process, 'exit');

  receiver.answer = (response) => response.writeHead(204).end();
  const second = await startService(env);
  t.after(() => second.process.kill('SIGKILL'));
  const began = () => receiver.received.filter((one) => bodyOf(one).type === 'motion.began');
  await until(
    'all of it was told',
    () => new Set(began().map((one) => bodyOf(one).data.id)).size === HAPPENED,
  );
  const all = began();
  assert.equal(all.length, HAPPENED + 1, 'one came twice');
  const [hung, again] = [all[TAKEN]!, all[TAKEN + 1]!];
  assert.deepEqual([idOf(again), again.body], [idOf(hung), hung.body]);
  assert.equal(new Set(all.map(idOf)).size, HAPPENED);
  const sequences = all.filter((_, nth) => nth !== TAKEN + 1).map((one) => bodyOf(one).sequence);
  assert.deepEqual(
    sequences,
    Array.from({ length: HAPPENED }, (_, nth) => nth + 1),
  );
  for (const { headers, body } of receiver.received) new Webhook(made.body.secret).verify(body, headers);
  // What went on when it was killed is over, as far as anybody knows; that is told, too.
  const ended = () => receiver.received.filter((one) => bodyOf(one).type === 'motion.ended').length;
  await until('their ends were told', () => ended() === HAPPENED);
  assert.equal(await second.stop(), 0);
});
