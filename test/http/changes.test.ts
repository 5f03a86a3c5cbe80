import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { z } from 'zod';
import { AppError } from '../../src/base/errors.js';
import { route } from '../../src/http/route.js';
import { until } from '../support/until.js';
import { startWebServer } from '../support/web-server.js';

const answers = { 200: { description: 'Done', schema: z.unknown() } };
let begun = 0;
let done = 0;
let goOn = (): void => {};

const server = await startWebServer([
  route({
    method: 'put',
    path: '/slow',
    access: 'tags.edit',
    audit: 'create_tag',
    summary: 'Takes its time',
    body: z.object({ name: z.string() }),
    answers,
    handle: async ({ body, note }) => {
      note({ target: body.name });
      begun++;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      done++;
      return { status: 200, body: 'done' };
    },
  }),
  route({
    method: 'delete',
    path: '/half',
    access: 'tags.edit',
    audit: 'delete_recordings',
    summary: 'Fails in the middle',
    answers,
    handle: ({ note }) => {
      note({ target: 'all' });
      throw new AppError('archive_unavailable', 'the disk keeps the rest');
    },
  }),
]);
after(() => server.stop());

const audited = (action: string) =>
  server
    .logText()
    .split('\n')
    .filter((line) => line.includes(`"action":"${action}"`))
    .map((line) => JSON.parse(line));

const send = async (text: string): Promise<{ socket: Socket; text: () => string }> => {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.on('error', () => {}).on('data', (chunk) => (received += chunk));
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write(text);
  return { socket, text: () => received };
};

const headOf = (body: string): string =>
  `PUT /slow HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.accessToken('olga')}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;

test('a change is audited even if its client leaves before the answer', async () => {
  const body = '{"name":"unheard"}';
  const { socket } = await send(headOf(body) + body);
  await until('it is being made', () => begun === 1);
  socket.destroy();
  await until('the service knows', () => server.reported.includes('PUT /slow 200'));
  assert.deepEqual(audited('create_tag'), [], 'it is not made yet');
  goOn();
  await until('it is made', () => done === 1);
  await until('it is audited', () => audited('create_tag').length > 0);
  const [{ user, target, ip }] = audited('create_tag');
  assert.deepEqual([user, target, ip], ['olga', 'unheard', '127.0.0.1']);
});

test('a change that failed by our fault is audited: a part of it may have been made', async () => {
  const { status } = await server.call('DELETE', '/half', { token: server.accessToken('olga') });
  assert.equal(status, 503);
  const [{ user, target, reason }] = audited('delete_recordings_failed');
  assert.deepEqual([user, target, reason], ['olga', 'all', 'archive_unavailable']);
});

test('whose token is withdrawn while a body comes in may change nothing any more', async (t) => {
  const body = '{"name":"late"}';
  const before = begun;
  const olga = server.users.get('olga')!;
  const { socket, text } = await send(headOf(body) + body.slice(0, 5));
  t.after(() => socket.destroy());
  // Behind it in the same loop: then the other request has been let in.
  await server.call('GET', '/api/openapi.json');
  server.users.set('olga', { ...olga, token_epoch: 'epoch-2' });
  socket.write(body.slice(5));
  await until('it is answered', () => text().includes('\r\n\r\n') || begun > before);
  assert.match(text(), /^HTTP\/1\.1 401 /);
  await until('it says why', () => text().includes('"code":"token_revoked"'));
  assert.equal(begun, before);
  server.users.set('olga', olga);
});
