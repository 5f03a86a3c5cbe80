import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

type LogRecord = {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly camera_id?: string;
};

const recordsOf = (text: string): LogRecord[] =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('event: log\ndata: '))
    .map((event) => JSON.parse(event.slice('event: log\ndata: '.length)) as LogRecord);

test('the stream begins with the latest records and goes on with new ones', async () => {
  const events = await openEvents(app.url, '/api/logs/stream', app.tokens.admin);
  await until('there are records', () => recordsOf(events.text()).length > 0);
  await app.asAdmin('POST', '/api/tags', { id: 'marker', name: 'x', color: '#000000' });
  await until('the request is in it', () =>
    recordsOf(events.text()).some((record) => JSON.stringify(record).includes('"route":"/api/tags"')),
  );
  const [first] = recordsOf(events.text());
  assert.ok(first && !Number.isNaN(Date.parse(first.time)) && first.level === 'debug');
  events.close();
});

test('level and camera filter what comes', async () => {
  const events = await openEvents(app.url, '/api/logs/stream?level=info', app.tokens.operator);
  await until('it is open', () => events.text().startsWith(':'));
  assert.ok(recordsOf(events.text()).every(({ level }) => level !== 'debug'));
  events.close();
  const bad = await app.asAdmin('GET', '/api/logs/stream?camera_id=../x');
  assert.deepEqual([bad.status, bad.body.errors[0].path], [400, 'camera_id']);
});

test('a stream ends soon after its reader was deleted', async () => {
  const events = await openEvents(app.url, '/api/logs/stream', app.tokens.operator);
  await app.asAdmin('DELETE', '/api/users/operator');
  assert.equal(await events.ended, true);
});
