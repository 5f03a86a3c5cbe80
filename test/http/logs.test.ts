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
  for (const { time, level } of recordsOf(events.text()))
    assert.ok(
      !Number.isNaN(Date.parse(time)) && ['debug', 'info', 'warn'].includes(level),
      `${time} ${level}`,
    );
  events.close();
});

test('level and camera filter what comes', async () => {
  const open = (query: string) => openEvents(app.url, `/api/logs/stream?${query}`, app.tokens.operator);
  const streams = [await open('level=debug'), await open('level=warn'), await open('camera_id=door')];
  for (const id of ['door', 'yard'])
    await app.asAdmin('POST', '/api/cameras', { id, url: 'rtsp://127.0.0.1/1', disabled: true });
  await app.call('POST', '/api/login', { body: { username: 'admin', password: 'wrong' } });
  const [all, warnings, door] = streams.map(
    ({ text }) =>
      () =>
        recordsOf(text()),
  );
  const isFailure = ({ msg }: LogRecord): boolean => msg === 'login failed';
  for (const seen of [all, warnings]) await until('the failure is told', () => seen?.().some(isFailure));
  const levels = (seen = all): Set<string> => new Set(seen?.().map(({ level }) => level));
  assert.deepEqual([levels().has('debug'), levels().has('info')], [true, true]);
  assert.deepEqual(levels(warnings), new Set(['warn']));
  await until('the door is told of', () => (door?.().length ?? 0) > 0);
  const cameras = (seen = all): Set<unknown> => new Set(seen?.().map(({ camera_id: id }) => id));
  assert.ok(cameras().has('yard') && cameras().has(undefined));
  assert.deepEqual(cameras(door), new Set(['door']));
  for (const stream of streams) stream.close();
  const bad = await app.asAdmin('GET', '/api/logs/stream?camera_id=../x');
  assert.deepEqual([bad.status, bad.body.errors[0].path], [400, 'camera_id']);
});

test('a stream ends with the rights of its reader: not a record comes after', async () => {
  const events = await openEvents(app.url, '/api/logs/stream', app.tokens.operator);
  await until('it is open', () => recordsOf(events.text()).length > 0);
  await app.asAdmin('DELETE', '/api/users/operator');
  await app.asAdmin('POST', '/api/tags', { id: 'later', name: 'x', color: '#000000' });
  assert.equal(await events.ended, true);
  const told = recordsOf(events.text()).map(({ msg }) => msg);
  assert.ok(told.includes('create user') && !told.includes('delete user'), told.join());
  assert.doesNotMatch(events.text(), /"target":"later"/);
});
