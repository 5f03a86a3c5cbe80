import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openName } from '../../src/archive/files/file-name.js';
import { AppError } from '../../src/base/errors.js';
import { deletionRoute } from '../../src/http/routes/archive/deletion.js';
import { writeClosed } from '../archive/recording-file.js';
import { startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const HOUR_MS = 3_600_000;
const patient = { deadlineMs: 60_000 };
const iso = (timeMs: number): string => new Date(timeMs).toISOString();

test('recordings within a time are deleted, of deleted cameras as well, and a camera may take its own along', async (t) => {
  const app = await startTestApp();
  t.after(() => app.stop());
  const nowMs = Math.floor(Date.now() / 1000) * 1000;
  const folder = join(app.dataDir, 'recordings', 'door');
  mkdirSync(folder, { recursive: true });
  const [oldest, middle, newest] = [3, 2, 1].map((hours) =>
    writeClosed(folder, { startMs: nowMs - hours * HOUR_MS }),
  ) as [string, string, string];
  const camera = { id: 'door', url: 'rtsp://127.0.0.1/1', disabled: true };
  const made = await app.asAdmin('POST', '/api/cameras', camera);
  assert.equal(made.status, 201);

  const deleteFrom = (from: number, to: number, as: 'viewer' | 'operator' | 'service') =>
    app.call('DELETE', `/api/cameras/door/archive?from=${iso(from)}&to=${iso(to)}`, {
      token: app.tokens[as],
    });
  const all = [nowMs - 5 * HOUR_MS, nowMs] as const;
  assert.equal((await deleteFrom(...all, 'viewer')).status, 403);
  // The oldest begins before it, the newest ends behind it.
  const some = await deleteFrom(nowMs - 3 * HOUR_MS + 1, nowMs - HOUR_MS + 3_000, 'operator');
  assert.deepEqual([some.status, some.body], [200, { message: 'recordings deleted', deleted: 1 }]);
  assert.deepEqual(readdirSync(folder).sort(), [oldest, newest].sort(), middle);
  assert.equal((await deleteFrom(all[1], all[0], 'operator')).status, 400);

  assert.equal((await app.asAdmin('DELETE', '/api/cameras/door')).status, 200);
  const rest = await deleteFrom(...all, 'service');
  assert.deepEqual([rest.status, rest.body.deleted], [200, 2]);
  assert.equal((await app.asAdmin('DELETE', '/api/cameras/nobody/archive?from=2026&to=2027')).status, 400);
  const unknown = `/api/cameras/nobody/archive?from=${iso(all[0])}&to=${iso(all[1])}`;
  assert.equal((await app.asAdmin('DELETE', unknown)).status, 404);

  assert.equal((await app.asAdmin('POST', '/api/cameras', camera)).status, 201);
  writeClosed(folder, { startMs: nowMs - HOUR_MS });
  writeFileSync(join(folder, `${openName(nowMs - HOUR_MS)}.broken`), 'x');
  assert.equal((await app.asAdmin('DELETE', '/api/cameras/door?recordings=all')).status, 400);
  assert.equal((await app.asAdmin('DELETE', '/api/cameras/door?recordings=delete')).status, 200);
  const again = await app.asAdmin('POST', '/api/cameras', camera);
  assert.deepEqual([again.status, again.body.code], [409, 'exists']);
  await until('its folder is gone', () => !existsSync(folder), patient);
  await until(
    'it can be made again',
    async () => (await app.asAdmin('POST', '/api/cameras', camera)).status === 201,
    patient,
  );
  const actions = app
    .logText()
    .split('\n')
    .filter((line) => line.includes('"action":"delete_'));
  assert.equal(actions.filter((line) => line.includes('"delete_recordings"')).length, 2);
  assert.equal(actions.filter((line) => line.includes('"recordings":"deleted"')).length, 1);
});

test('what lies within the very times by which it is listed is deleted', async (t) => {
  const app = await startTestApp();
  t.after(() => app.stop());
  const folder = join(app.dataDir, 'recordings', 'door');
  mkdirSync(folder, { recursive: true });
  // Cameras' clocks tick in parts of a millisecond.
  writeClosed(folder, { startMs: Math.floor(Date.now() / 1000) * 1000 - HOUR_MS + 0.9996 });
  const camera = { id: 'door', url: 'rtsp://127.0.0.1/1', disabled: true };
  assert.equal((await app.asAdmin('POST', '/api/cameras', camera)).status, 201);
  const [listed] = (await app.asAdmin('GET', '/api/cameras/door/archive')).body;
  const { status, body } = await app.asAdmin(
    'DELETE',
    `/api/cameras/door/archive?from=${listed.start}&to=${listed.end}`,
  );
  assert.deepEqual([status, body.deleted], [200, 1]);
  assert.deepEqual(readdirSync(folder), []);
});

test('where another box keeps some, the audit log says how many were deleted all the same', async () => {
  const cameras = { has: () => true };
  const deletions = {
    deleteWithin: () =>
      Promise.reject(new AppError('partly_deleted', '3 were deleted', { details: { deleted: 3 } })),
  };
  const noted: unknown[] = [];
  const asked = {
    ...{ params: { id: 'door' }, query: { from: 0, to: 1 } },
    note: (details: unknown) => noted.push(details),
  };
  const { handle } = deletionRoute({ cameras, deleted: cameras, deletions });
  await assert.rejects(async () => handle(asked as unknown as Parameters<typeof handle>[0]), {
    code: 'partly_deleted',
  });
  assert.deepEqual(noted.at(-1), { deleted: 3 });
});
