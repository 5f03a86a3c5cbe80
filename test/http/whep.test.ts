import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type WhepSource, whepRoutes } from '../../src/http/routes/whep.js';
import { sourceKey } from '../../src/ring/source-key.js';
import { until } from '../support/until.js';
import { startWebServer } from '../support/web-server.js';

const contentType = { 'content-type': 'application/sdp' };

test('a view ends when its viewer may not watch any more, even while its answer is made', async (t) => {
  const waiting: (() => void)[] = [];
  const ended: string[] = [];
  let sessions = 0;
  const whep: WhepSource = {
    offer: async () => {
      sessions += 1;
      const sessionId = `session-${sessions}`;
      if (sessions === 2) await new Promise<void>((resolve) => waiting.push(resolve));
      return { sessionId, answerSdp: 'v=0' };
    },
    end: (cameraId, sessionId) => ended.push(`${cameraId} ${sessionId}`) > 0,
  };
  const server = await startWebServer(whepRoutes({ whep, sources: { sourceOf: sourceKey } }));
  t.after(() => server.stop());
  const offer = () => server.call('POST', '/stream/webrtc/whep/open', { body: 'v=0', headers: contentType });
  assert.equal((await offer()).status, 201);
  const late = offer();
  await until('the second answer is being made', () => waiting.length === 1);
  assert.deepEqual(ended, []);
  server.cameras.set('open', { tokenAuth: true, isDisabled: false });
  server.viewers.endForCamera('open', 'access_withdrawn');
  assert.deepEqual(ended, ['open session-1']);
  waiting[0]!();
  await late;
  assert.deepEqual(ended, ['open session-1', 'open session-2']);
  assert.equal((await offer()).status, 401);
});

test('?stream=sub asks for the smaller stream; the session ends by the camera alone', async (t) => {
  const asked: string[] = [];
  const whep: WhepSource = {
    offer: async (source) => {
      asked.push(source);
      return { sessionId: 'a-session', answerSdp: 'v=0' };
    },
    end: (cameraId) => asked.push(`end ${cameraId}`) > 0,
  };
  const server = await startWebServer(whepRoutes({ whep, sources: { sourceOf: sourceKey } }));
  t.after(() => server.stop());
  const offer = (query: string) =>
    server.call('POST', `/stream/webrtc/whep/open${query}`, { body: 'v=0', headers: contentType });
  const { headers } = await offer('?stream=sub');
  await offer('?stream=main');
  await offer('');
  await server.call('DELETE', headers.get('location') ?? '');
  assert.deepEqual(asked, ['open/sub', 'open', 'open', 'end open']);
  const refused = await offer('?stream=third');
  assert.deepEqual([refused.status, refused.body.errors[0].path], [400, 'stream']);
});
