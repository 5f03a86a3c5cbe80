import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { Database } from '../../src/base/sqlite.js';
import { openEvents } from '../support/api-client.js';
import { startTestApp, type TestApp, USER_PASSWORD } from '../support/test-app.js';
import { until } from '../support/until.js';

let app: TestApp;
let token: string;

before(async () => {
  app = await startTestApp();
  await app.asAdmin('POST', '/api/folders', { id: 'yard', name: 'Yard', parent_id: '' });
  await app.asAdmin('POST', '/api/folders', { id: 'gate', name: 'Gate', parent_id: 'yard' });
  const url = 'rtsp://127.0.0.1:9/1';
  await app.asAdmin('POST', '/api/cameras', { id: 'mine', folder_id: 'gate', url, disabled: true });
  const username = 'limited';
  await app.asAdmin('POST', '/api/users', {
    ...{ username, password: USER_PASSWORD, role: 'operator', folders: ['yard'] },
  });
  const body = { username, password: USER_PASSWORD };
  token = (await app.call('POST', '/api/login', { body })).body.token;
});
after(() => app.stop());

/** As where the disk doesn't give back what is there: whatever asks for folders throws. */
const withoutFolders = async (work: () => Promise<void>): Promise<void> => {
  const db = new Database(join(app.dataDir, 'framering.db'));
  try {
    db.exec('ALTER TABLE folders RENAME TO folders_away');
    await work();
  } finally {
    db.exec('ALTER TABLE folders_away RENAME TO folders');
    db.close();
  }
};

const openWall = async (): Promise<{ readonly text: () => string; close(): void }> => {
  const { body } = await app.call('GET', '/api/wall-token', { token });
  const wall = new WebSocket(`${app.url.replace('http', 'ws')}/stream/wall?token=${body.token}`);
  let text = '';
  wall.on('message', (data, isBinary) => {
    if (!isBinary) text += `${data}\n`;
  });
  await new Promise((resolve) => wall.once('open', resolve));
  return { text: () => text, close: () => wall.close() };
};

test('while the database does not say who sees what, whoever is limited is told of nothing, and the service goes on', async (t) => {
  const events = await openEvents(app.url, '/api/events/stream', token);
  const log = await openEvents(app.url, '/api/logs/stream', token);
  const whole = await openEvents(app.url, '/api/events/stream', app.tokens.viewer);
  const wall = await openWall();
  t.after(() => {
    for (const one of [events, log, whole, wall]) one.close();
  });
  const change = async (comment: string): Promise<number> =>
    (await app.asAdmin('PUT', '/api/cameras/mine', { comment })).status;
  await until('both begin', () => [events, whole].every((one) => one.text().includes('event: reset')));
  await withoutFolders(async () => {
    assert.equal(await change('unsaid'), 200);
    await until('who is not limited is told', () => whole.text().includes('unsaid'));
    assert.equal((await app.asAdmin('PUT', '/api/cameras/mine', { folder_id: '' })).status, 200);
    assert.equal((await app.asAdmin('PUT', '/api/cameras/mine', { folder_id: 'gate' })).status, 200);
  });
  // The camera was elsewhere meanwhile.
  assert.equal(await change('moved'), 200);
  await until('it is to look anew', () => events.text().split('event: reset').length === 3);
  await until('the wall is, too', () => wall.text().includes('"op":"reset"'));
  assert.equal(await change('said'), 200);
  for (const one of [events, wall]) await until('it is told again', () => one.text().includes('"said"'));
  for (const one of [events, wall, log]) assert.doesNotMatch(one.text(), /unsaid/);
});
