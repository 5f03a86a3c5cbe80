import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WhepService } from '../../src/live/whep/service.js';
import { startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const contentType = { 'content-type': 'application/sdp' };

test('a view ends when its viewer may not watch any more, even while its answer is made', async (t) => {
  const app = await startTestApp({ withUsers: false });
  t.after(() => app.stop());
  const token = (
    await app.call('POST', '/api/login', { body: { username: 'admin', password: app.adminPassword } })
  ).body.token;
  const asAdmin = (method: string, path: string, body: unknown) => app.call(method, path, { token, body });
  await asAdmin('POST', '/api/cameras', { id: 'door', url: 'rtsp://127.0.0.1/1' });
  const waiting: (() => void)[] = [];
  let sessions = 0;
  t.mock.method(WhepService.prototype, 'offer', async () => {
    sessions += 1;
    const sessionId = `session-${sessions}`;
    if (sessions === 2) await new Promise<void>((resolve) => waiting.push(resolve));
    return { sessionId, answerSdp: 'v=0' };
  });
  const ended: string[] = [];
  t.mock.method(WhepService.prototype, 'end', (cameraId: string, sessionId: string) => {
    ended.push(`${cameraId} ${sessionId}`);
    return true;
  });
  const offer = () => app.call('POST', '/stream/webrtc/whep/door', { body: 'v=0', headers: contentType });
  assert.equal((await offer()).status, 201);
  const late = offer();
  await until('the second answer is being made', () => waiting.length === 1);
  assert.deepEqual(ended, []);
  await asAdmin('PUT', '/api/cameras/door', { token_auth: true });
  assert.deepEqual(ended, ['door session-1']);
  waiting[0]!();
  await late;
  assert.deepEqual(ended, ['door session-1', 'door session-2']);
  assert.equal((await offer()).status, 401);
});
