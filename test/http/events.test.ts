import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type EventReader, openEvents } from '../support/api-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.stop());

type Change = { readonly topic: string; readonly id: string; readonly set: Record<string, unknown> };

const changesIn = (reader: EventReader): Change[] =>
  [...reader.text().matchAll(/^data: (\{"topic".*)$/gm)].map(([, json]) => JSON.parse(json!));

const open = async (query: string, token: string): Promise<EventReader> => {
  const reader = await openEvents(app.url, `/api/events/stream${query}`, token);
  await until('it has begun', () => reader.text().includes('event: reset\n'));
  return reader;
};

/** What was told of a thing, put together. */
const known = (reader: EventReader, id: string): Record<string, unknown> =>
  Object.assign(
    {},
    ...changesIn(reader)
      .filter((change) => change.id === id)
      .map(({ set }) => set),
  );

test('each hears of what it may see, and nobody a password', async () => {
  const readers = {
    viewer: await open('', app.tokens.viewer),
    operator: await open('', app.tokens.operator),
    admin: await open('', app.tokens.admin),
    door: await open('?camera_id=door', app.tokens.admin),
    tags: await open('?topic=storage,config', app.tokens.admin),
  };
  const url = 'rtsp://root:s3cret@127.0.0.1/1';
  await app.asAdmin('POST', '/api/users', { username: 'eve', password: 'pass word', role: 'viewer' });
  await app.asAdmin('POST', '/api/tags', { id: 't', name: 'T', color: '#000000' });
  await app.asAdmin('POST', '/api/folders', { id: 'f', name: 'F' });
  for (const id of ['door', 'yard']) await app.asAdmin('POST', '/api/cameras', { id, url, tags: ['t'] });
  await app.asAdmin('PUT', '/api/cameras/door', { comment: 'the back door', url: `${url}2`, disabled: true });
  await until('the last change is told', () => known(readers.admin, 'cameras/door')['disabled'] === true);
  await until('its state is told', () => known(readers.viewer, 'door')['state'] === 'disabled');
  await app.asAdmin('DELETE', '/api/tags/t');
  for (const reader of Object.values(readers))
    if (reader !== readers.door)
      await until('the tag is gone', () => known(reader, 'tags/t')['deleted'] === true);
  for (const id of ['cameras/door', 'cameras/yard'])
    await until('it is taken off', () => known(readers.viewer, id)['tags']?.toString() === '');
  const idsOf = (reader: EventReader): string =>
    [...new Set(changesIn(reader).map(({ id }) => id))].sort().join(' ');
  const common = 'cameras/door cameras/yard door folders/f tags/t';
  assert.equal(idsOf(readers.viewer), `${common} yard`);
  assert.equal(idsOf(readers.operator), `${common} yard`);
  assert.equal(idsOf(readers.admin), `${common} users/eve yard`);
  assert.equal(idsOf(readers.door), 'cameras/door door');
  assert.ok(changesIn(readers.tags).every(({ topic }) => topic === 'config'));
  assert.deepEqual(known(readers.admin, 'users/eve'), { username: 'eve', role: 'viewer' });
  const shown = (await app.call('GET', '/api/cameras', { token: app.tokens.viewer })).body[0];
  const told = known(readers.viewer, 'cameras/door');
  assert.deepEqual(told, Object.fromEntries(Object.keys(told).map((name) => [name, shown[name]])));
  assert.equal(told['url'], 'rtsp://root:***@127.0.0.1/12');
  for (const reader of Object.values(readers)) {
    assert.doesNotMatch(reader.text(), /s3cret|pass word|scrypt|hash/);
    reader.close();
  }
});

test('who comes back goes on where it was', async () => {
  const first = await open('?topic=config', app.tokens.viewer);
  await app.asAdmin('POST', '/api/tags', { id: 'one', name: '1', color: '#000000' });
  await until('it is told', () => changesIn(first).length === 1);
  const lastId =
    first
      .text()
      .match(/^id: (.*)$/gm)
      ?.at(-1)
      ?.slice(4) ?? '';
  first.close();
  await app.asAdmin('POST', '/api/tags', { id: 'two', name: '2', color: '#000000' });
  const headers = { 'last-event-id': lastId };
  const back = await openEvents(app.url, '/api/events/stream', app.tokens.viewer, headers);
  await until('what it missed is told', () => changesIn(back).some(({ id }) => id === 'tags/two'));
  assert.doesNotMatch(back.text(), /event: reset|tags\/one/);
  back.close();
});

test('an import is told as the changes that it makes', async () => {
  const { body: snapshot } = await app.asAdmin('GET', '/api/system/backup/export');
  const reader = await open('', app.tokens.admin);
  await app.asAdmin('POST', '/api/tags', { id: 'later', name: 'L', color: '#000000' });
  await until('it is told', () => known(reader, 'tags/later')['name'] === 'L');
  await app.asAdmin('POST', '/api/system/backup/import', snapshot);
  await until('what was made since is gone', () => known(reader, 'tags/later')['deleted'] === true);
  reader.close();
});

test('a stream ends with the rights of its reader: not a change comes after', async () => {
  const reader = await open('', app.tokens.operator);
  await app.asAdmin('PUT', '/api/users/operator', { role: 'viewer' });
  await app.asAdmin('POST', '/api/tags', { id: 'secret', name: 'x', color: '#000000' });
  assert.equal(await reader.ended, true);
  assert.doesNotMatch(reader.text(), /tags\/secret/);
});

test('the metrics tell how many read, and how much was told', async () => {
  const reader = await open('', app.tokens.viewer);
  await until('the page is made anew', async () =>
    /svc_event_readers 1\n/.test((await app.call('GET', '/metrics')).text),
  );
  const { text } = await app.call('GET', '/metrics');
  assert.match(text, /svc_events_total\{topic="config"\} [1-9]/);
  reader.close();
});
