import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createLogger } from '../../src/base/log.js';
import { Database } from '../../src/base/sqlite.js';
import { Outbox } from '../../src/notify/webhooks/outbox.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { startReceiver, type TestReceiver } from './receiver.js';
import { openWebhooks } from './webhooks-rig.js';

const receiverOf = async (t: TestContext): Promise<TestReceiver> => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  return receiver;
};

const bodies = ({ received }: TestReceiver) => received.map(({ body }) => JSON.parse(body));
const HOUR_MS = 3_600_000;

test("an event's beginning and end are told in order, signed so that the reference library takes them", async (t) => {
  const rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  const { secret } = await rig.add({ url: receiver.url });
  const event = rig.begin();
  rig.clock.advance(4_000);
  rig.end(event);
  await until('both came', () => receiver.received.length === 2);
  const [began, ended] = bodies(receiver);
  assert.deepEqual([began.type, ended.type], ['detection.began', 'detection.ended']);
  assert.equal(began.data.id, ended.data.id);
  assert.deepEqual([began.sequence, ended.sequence], [1, 2]);
  assert.equal(Date.parse(ended.data.to) - Date.parse(began.data.from), 4_000);
  assert.equal('protected' in began.data, false);
  for (const { headers, body } of receiver.received) new Webhook(secret).verify(body, headers);
  const [first] = receiver.received;
  assert.throws(() => new Webhook(secret).verify(`${first!.body} `, first!.headers));
  assert.notEqual(first!.headers['webhook-id'], receiver.received[1]!.headers['webhook-id']);
});

test('each is told of what it asked for', async (t) => {
  const rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  await rig.add({ url: `${receiver.url}/cars`, types: ['detection'], camera_ids: ['yard'], labels: ['car'] });
  await rig.add({ url: `${receiver.url}/lost`, types: ['camera_lost', 'storage'], camera_ids: ['yard'] });
  await rig.add({ url: `${receiver.url}/off`, enabled: false });
  rig.begin({ cameraId: 'yard', label: 'person' });
  rig.begin({ cameraId: 'door', label: 'car' });
  rig.begin({ cameraId: 'yard', label: 'car' });
  rig.begin({ cameraId: 'yard', type: 'camera_lost', label: '' });
  rig.begin({ cameraId: '', type: 'storage', label: '' });
  await until('three came', () => receiver.received.length === 3);
  await rig.pass(HOUR_MS);
  const seen = receiver.received.map(({ path, body }) => `${path} ${JSON.parse(body).type}`).sort();
  assert.deepEqual(seen, [
    '/hook/cars detection.began',
    '/hook/lost camera_lost.began',
    '/hook/lost storage.began',
  ]);
});

test('a receiver that is away gets all of it in order when it is back, a day later too', async (t) => {
  const rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  const { id } = await rig.add({ url: receiver.url });
  receiver.answer = (response) => response.destroy();
  for (let count = 0; count < 3; count++) rig.begin({ cameraId: `c${count}` });
  const failuresOf = () => rig.webhooks.find(id).failures;
  await until('it was tried', () => failuresOf() === 1);
  // A busy one is left alone: only the first is tried, and ever more rarely.
  for (let tries = 2; tries <= 4; tries++) {
    await rig.pass(15 * 60_000);
    await until(`try ${tries}`, () => failuresOf() >= tries);
  }
  const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  assert.equal(ids.size, 1);
  for (let hour = 0; hour < 30; hour++) {
    const before = failuresOf();
    await rig.pass(HOUR_MS);
    await until('it was tried again', () => failuresOf() > before);
  }
  const early = receiver.received.length;
  receiver.answer = (response) => response.writeHead(200).end();
  await rig.pass(HOUR_MS);
  await until('all came', () => rig.webhooks.find(id).waiting === 0);
  const last = receiver.received.slice(early).map(({ body }) => JSON.parse(body).data.camera_id);
  assert.deepEqual(last, ['c0', 'c1', 'c2']);
  assert.equal(rig.webhooks.find(id).dropped, 0);
  assert.equal(rig.webhooks.find(id).failures, 0);
});

test('one message that is refused holds up no other, and comes again by itself', async (t) => {
  const rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  const { id } = await rig.add({ url: receiver.url });
  let isRefused = true;
  receiver.answer = (response) =>
    response.writeHead(isRefused && receiver.received.at(-1)!.body.includes('"bad"') ? 422 : 200).end();
  rig.begin({ cameraId: 'bad' });
  rig.begin({ cameraId: 'good' });
  await until('the other came', () => receiver.received.length === 2 && rig.webhooks.find(id).waiting === 1);
  isRefused = false;
  await rig.pass(2 * 60_000);
  await until('the first came again', () => rig.webhooks.find(id).waiting === 0);
  const [first, , again] = receiver.received;
  assert.equal(again!.headers['webhook-id'], first!.headers['webhook-id']);
  assert.equal(again!.body, first!.body);
  assert.ok(Number(again!.headers['webhook-timestamp']) > Number(first!.headers['webhook-timestamp']));
});

test('Retry-After is heeded, 410 switches off, redirects are not followed', async (t) => {
  const rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  const { id } = await rig.add({ url: receiver.url });
  receiver.answer = (response) => response.writeHead(429, { 'retry-after': '7200' }).end();
  rig.begin();
  await until('it was asked to wait', () => rig.webhooks.find(id).failures === 1);
  await rig.pass(7_199_000);
  assert.equal(receiver.received.length, 1);
  receiver.answer = (response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end();
  await rig.pass(2_000);
  await until('it was tried again', () => rig.webhooks.find(id).failures === 2);
  assert.match(rig.webhooks.find(id).last?.detail ?? '', /307 .*not followed/);
  assert.ok(receiver.received.every(({ path }) => path === '/hook'));
  receiver.answer = (response) => response.writeHead(410).end();
  await rig.pass(HOUR_MS);
  await until('it is off', () => !rig.webhooks.find(id).enabled);
  const { waiting, dropped } = rig.webhooks.find(id);
  assert.deepEqual([waiting, dropped], [0, 1]);
});

test('one that hangs ends by its deadline and delays nobody; one that answers a gigabyte is read no further', async (t) => {
  const rig = openWebhooks(t);
  const [slow, quick, endless] = await Promise.all([receiverOf(t), receiverOf(t), receiverOf(t)]);
  slow.answer = () => {};
  let sentBytes = 0;
  endless.answer = (response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(65_536, 'x');
    const more = (): void => {
      while (!response.destroyed && sentBytes < 1e9 && response.write(chunk)) sentBytes += chunk.length;
    };
    response.on('drain', more);
    more();
  };
  const added = await Promise.all([slow, quick, endless].map(({ url }) => rig.add({ url })));
  const ids = added.map(({ id }) => id);
  const event = rig.begin();
  rig.end(event);
  await until('the quick one has both', () => quick.received.length === 2);
  await until('the endless one was cut off', () => rig.webhooks.find(ids[2]!).waiting === 0);
  assert.ok(sentBytes < 100_000_000, `${sentBytes}`);
  await until('the slow one is asked', () => slow.received.length === 1);
  assert.equal(rig.webhooks.find(ids[0]!).failures, 0);
  rig.clock.advance(15_000);
  await until('its time is over', () => rig.webhooks.find(ids[0]!).failures === 1);
  assert.match(rig.webhooks.find(ids[0]!).last?.detail ?? '', /no answer within 15 s/);
});

test('nothing is lost with the process, and nothing comes twice but under its own id', async (t) => {
  let rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  const { id, secret } = await rig.add({ url: receiver.url });
  receiver.answer = () => {};
  for (let count = 0; count < 5; count++) rig.begin({ cameraId: `c${count}` });
  await until('the first is on its way', () => receiver.received.length === 1);
  rig = rig.again();
  await until('it comes again', () => receiver.received.length === 2);
  const [first, again] = receiver.received;
  assert.equal(first!.headers['webhook-id'], again!.headers['webhook-id']);
  receiver.answer = (response) => response.writeHead(204).end();
  rig = rig.again();
  await until('all came', () => rig.webhooks.find(id).waiting === 0);
  const byId = new Map(
    receiver.received.map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body)]),
  );
  assert.deepEqual(
    [...byId.values()].map(({ sequence }) => sequence),
    [1, 2, 3, 4, 5],
  );
  assert.equal(rig.webhooks.find(id).dropped, 0);
  for (const { headers, body } of receiver.received) new Webhook(secret).verify(body, headers);
});

test('a storm is bounded: the oldest go, are counted, and are missed by their numbers', async (t) => {
  const rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  const { id } = await rig.add({ url: receiver.url });
  receiver.answer = (response) => response.writeHead(503).end();
  rig.begin();
  await until('it is away', () => rig.webhooks.find(id).failures === 1);
  const total = 10_200;
  for (let count = 0; count < total; count++) {
    rig.begin({ cameraId: `camera-${count % 500}`, type: 'camera_lost', detail: 'x'.repeat(256) });
    // As turns of the main thread would.
    if (count % 200 === 199) {
      await new Promise((resolve) => setImmediate(resolve));
      rig.clock.advance(0);
    }
  }
  await until('all is written', () => {
    rig.clock.advance(1);
    const { waiting, dropped } = rig.webhooks.find(id);
    return waiting + dropped === total + 1;
  });
  const { waiting, dropped } = rig.webhooks.find(id);
  assert.ok(waiting <= 10_000 && dropped >= 201, `${waiting} wait, ${dropped} dropped`);
  assert.equal(rig.webhooks.counts.dropped, dropped);
  rig.clock.advance(60_000);
  assert.ok(rig.lines.some((line) => line.includes('given up')));
  receiver.answer = (response) => response.writeHead(204).end();
  const early = receiver.received.length;
  await rig.webhooks.change(id, { url: `${receiver.url}/again` });
  await until('some came', () => receiver.received.length > early + 3);
  assert.ok(bodies(receiver)[early].sequence > 200);
  // What is three days old is nobody's news.
  receiver.answer = (response) => response.writeHead(503).end();
  await until('it is away again', () => rig.webhooks.find(id).failures > 0);
  rig.clock.advance(73 * HOUR_MS);
  for (let sweeps = 0; sweeps < 25; sweeps++) await rig.pass(60_000);
  assert.equal(rig.webhooks.find(id).waiting, 0);
});

test('no request reaches this machine unless that is allowed, whatever the name means when it is asked again', async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as { port: number };
  let asked = 0;
  const answers = ['127.0.0.1', '::ffff:127.0.0.1', '169.254.169.254', '0.0.0.0', '224.0.0.1'];
  const resolve = ((_name: string, _options: object, callback: (fault: null, found: object[]) => void) => {
    const address = answers[asked++ % answers.length]!;
    callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  }) as never;
  const rig = openWebhooks(t, { allowsLocal: false, resolve });
  await assert.rejects(rig.add({ url: `http://127.0.0.1:${port}/` }), /may not be sent to 127.0.0.1/);
  await assert.rejects(rig.add({ url: `http://[::ffff:7f00:1]:${port}/` }), /may not be sent/);
  await assert.rejects(rig.add({ url: `http://2130706433:${port}/` }), /may not be sent to 127.0.0.1/);
  const { id } = await rig.add({ url: `http://u:canary@rebinding.example:${port}/secret-path` });
  rig.begin();
  for (let tries = 1; tries <= answers.length; tries++) {
    await until(`try ${tries}`, () => rig.webhooks.find(id).failures >= tries);
    assert.match(rig.webhooks.find(id).last?.detail ?? '', /not allowed/);
    await rig.pass(HOUR_MS);
  }
  assert.equal(connections, 0);
  const tested = await rig.webhooks.test(id, new AbortController().signal);
  assert.match(tested.detail, /not allowed/);
  assert.doesNotMatch(rig.lines.join('\n') + JSON.stringify(rig.webhooks.list()), /canary/);
  assert.doesNotMatch(rig.lines.join('\n'), /secret-path|whsec_/);
});

test('a masked password stands for the stored one, and goes to no other host', async (t) => {
  const rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  const { id } = await rig.add({ url: receiver.url.replace('http://', 'http://eve:s3cret@') });
  const shown = rig.webhooks.find(id).url;
  assert.match(shown, /eve:\*\*\*@/);
  await rig.webhooks.change(id, { url: shown.replace('/hook', '/other') });
  rig.begin();
  await until('it came', () => receiver.received.length === 1);
  const [{ path, headers }] = receiver.received as [TestReceiver['received'][0]];
  assert.deepEqual([path, headers['authorization']], ['/other', `Basic ${btoa('eve:s3cret')}`]);
  await assert.rejects(rig.webhooks.change(id, { url: 'http://eve:***@198.51.100.1/' }), /masked password/);
});

test('no leap of the clock makes what waits old, or lets it wait longer', async (t) => {
  const rig = openWebhooks(t);
  const receiver = await receiverOf(t);
  const { id } = await rig.add({ url: receiver.url });
  receiver.answer = (response) => response.writeHead(503).end();
  rig.begin();
  await until('it is away', () => rig.webhooks.find(id).failures === 1);
  rig.clock.setWall(rig.clock.wallMs() - 40 * 24 * HOUR_MS);
  await rig.pass(60_000);
  await until('it is asked again', () => rig.webhooks.find(id).failures > 1);
  rig.clock.setWall(rig.clock.wallMs() + 80 * 24 * HOUR_MS);
  await rig.pass(60_000);
  const { waiting, dropped } = rig.webhooks.find(id);
  assert.deepEqual([waiting, dropped], [1, 0]);
});

test('what waits weighs the same when it comes and when it goes, in whatever letters', async (t) => {
  const log = createLogger(() => {});
  const outbox = new Outbox(join(tempFolder(t), 'outbox.db'), { log, latestMs: 0 });
  t.after(() => outbox.close());
  const message = { messageId: 'm', wallMs: 0 };
  const body = 'aé€😀'.repeat(50);
  outbox.together(() => void outbox.add('w', message, () => body, 0));
  assert.deepEqual(outbox.loadOf('w'), { count: 1, bytes: Buffer.byteLength(body) });
  const { id } = outbox.next('w', 1)!;
  outbox.together(() => outbox.remove('w', id, { isDropped: false }));
  assert.deepEqual(outbox.loadOf('w'), { count: 0, bytes: 0 });
});

test('while the disk takes nothing, what was delivered is not sent again', async (t) => {
  const folder = tempFolder(t);
  const rig = openWebhooks(t, { folder });
  const receiver = await receiverOf(t);
  const { id } = await rig.add({ url: receiver.url });
  const other = new Database(join(folder, 'outbox.db'));
  t.after(() => other.close());
  receiver.answer = (response) => {
    if (!other.inTransaction) other.exec('BEGIN IMMEDIATE');
    response.writeHead(204).end();
  };
  rig.begin();
  await until('it came', () => receiver.received.length === 1 && rig.webhooks.sending === 0);
  await rig.pass(60_000);
  assert.equal(receiver.received.length, 1);
  assert.equal(rig.webhooks.find(id).waiting, 1);
  other.exec('COMMIT');
  await rig.pass(10_000);
  await until('it is noted', () => rig.webhooks.find(id).waiting === 0);
  assert.deepEqual([receiver.received.length, rig.webhooks.counts.sent], [1, 1]);
});

test('a file that another program holds is not broken: what waits in it comes at the next start', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'outbox.db');
  const log = createLogger(() => {});
  const first = new Outbox(path, { log, latestMs: 0 });
  first.together(() => void first.add('w', { messageId: 'm', wallMs: 0 }, () => 'body', 0));
  first.close();
  const other = new Database(path);
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
  new Outbox(path, { log, latestMs: 0 }).close();
  other.close();
  const again = new Outbox(path, { log, latestMs: 0 });
  t.after(() => again.close());
  assert.equal(again.loadOf('w').count, 1);
});
