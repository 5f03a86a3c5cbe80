import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openEvents } from '../support/api-client.js';
import { SkippingClock } from '../support/skipping-clock.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const clock = new SkippingClock();
const cameraIds = ['a', 'b', 'c', 'd'];
let app: TestApp;
before(async () => {
  app = await startTestApp({ clock });
});
after(() => app.stop());

type Event = Record<'id' | 'camera_id' | 'type' | 'from', string> & {
  to: string | null;
  reviewed: boolean;
  protected: boolean;
};

const list = async (query = '', token = app.tokens.viewer): Promise<Event[]> =>
  (await app.call('GET', `/api/events${query}`, { token })).body;

test('cameras that are away are told of, found by any filter, reviewed, protected, and forgotten', async () => {
  await app.asAdmin('POST', '/api/tags', { id: 't', name: 't', color: '#000000' });
  for (const [id, parent_id] of [
    ['site', ''],
    ['hall', 'site'],
  ])
    await app.asAdmin('POST', '/api/folders', { id, name: id, parent_id });
  const reader = await openEvents(app.url, '/api/events/stream?topic=events', app.tokens.viewer);
  await until('it has begun', () => reader.text().includes('event: reset\n'));
  const create: object[] = cameraIds.map((id) => ({ id, url: 'rtsp://127.0.0.1:9/1' }));
  Object.assign(create[0]!, { tags: ['t'], folder_id: 'site' });
  Object.assign(create[1]!, { folder_id: 'hall' });
  Object.assign(create[3]!, { disabled: true });
  await app.asAdmin('POST', '/api/cameras/bulk', { create });
  // Each second the cameras are looked at; who is away for ten is lost.
  await until('all are told of', async () => {
    clock.skip(10_000);
    return (await list()).length === 3;
  });
  const shown = await list();
  assert.deepEqual(shown.map(({ camera_id }) => camera_id).sort(), ['a', 'b', 'c'], 'not who is disabled');
  for (const event of shown) {
    assert.deepEqual(
      [event.type, event.to, event.reviewed, event.protected],
      ['camera_lost', null, false, false],
    );
    await until('it is told of', () =>
      reader.text().includes(`{"topic":"events","id":"${event.id}","set":{"id":`),
    );
  }
  const camerasOf = async (query: string): Promise<string> =>
    (await list(query))
      .map(({ camera_id }) => camera_id)
      .sort()
      .join('');
  assert.equal(await camerasOf('?folder_id=site'), 'ab');
  assert.equal(await camerasOf('?folder_id=hall&tag=t'), '');
  assert.equal(await camerasOf('?tag=t'), 'a');
  assert.equal(await camerasOf('?camera_id=a&camera_id=c&type=camera_lost&type=motion'), 'ac');
  assert.equal(await camerasOf('?type=detection'), '');
  assert.equal(await camerasOf('?label=person'), '');
  assert.equal(
    await camerasOf(`?from=${shown[0]!.from}&to=2100-01-01`),
    await camerasOf(`?from=${shown[0]!.from}`),
  );
  for (const bad of [
    'type=party',
    'limit=0',
    'limit=1001',
    'cursor=1',
    'from=x',
    'from=2026-02-02&to=2026-02-01',
  ])
    assert.equal(
      (await app.call('GET', `/api/events?${bad}`, { token: app.tokens.viewer })).status,
      400,
      bad,
    );

  const pages: string[] = [];
  for (let next: string | undefined = '/api/events?limit=1&type=camera_lost'; next !== undefined; ) {
    const page = await app.call('GET', next, { token: app.tokens.viewer });
    pages.push(...page.body.map(({ id }: Event) => id));
    next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(
    pages,
    shown.map(({ id }) => id),
  );

  const [one] = shown;
  const review = (body: object) =>
    app.call('POST', '/api/events/reviewed', { token: app.tokens.viewer, body });
  assert.equal((await review({ ids: [one!.id, 'none'] })).body.count, 1);
  assert.deepEqual(
    (await list('?reviewed=true')).map(({ id }) => id),
    [one!.id],
  );
  assert.equal((await list('?reviewed=false')).length, 2);
  assert.equal((await list('?reviewed=false', app.tokens.operator)).length, 3);
  await review({ ids: [one!.id], reviewed: false });
  assert.equal((await list('?reviewed=true')).length, 0);

  const path = `/api/events/${one!.id}`;
  const kept = await app.call('PUT', path, { token: app.tokens.operator, body: { protected: true } });
  assert.equal(kept.body.protected, true);
  assert.equal((await app.call('GET', path, { token: app.tokens.viewer })).body.protected, true);
  const audited = app.logText().match(/.*"action":"protect_event".*/)?.[0] ?? '';
  assert.match(
    audited,
    new RegExp(`"camera_id":"${one!.camera_id}".*"target":"${one!.id}"|"target":"${one!.id}".*"camera_id"`),
  );
  await until('that is told', () => reader.text().includes(`"id":"${one!.id}","set":{"protected":true}`));
  const picture = await app.call('GET', `${path}/thumbnail.jpg`, { token: app.tokens.viewer });
  assert.deepEqual([picture.status, picture.text], [204, ''], 'nothing was recorded');

  await app.asAdmin('PUT', `/api/cameras/${one!.camera_id}`, { disabled: true });
  await until('it is away no more', async () => (await list()).find(({ id }) => id === one!.id)?.to !== null);
  await app.asAdmin('DELETE', `/api/cameras/${one!.camera_id}`);
  assert.equal((await list()).length, 2);
  assert.equal((await app.call('GET', path, { token: app.tokens.viewer })).status, 404);
  reader.close();
});
