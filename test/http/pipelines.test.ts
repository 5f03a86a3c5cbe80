import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { HttpServer, type ListenOptions } from '../../src/http/server.js';
import type { UpgradeListener } from '../../src/http/upgrade.js';
import { until } from '../support/until.js';
import { selfSignedTls } from './self-signed-tls.js';

const listen = async (
  t: TestContext,
  app: RequestListener,
  secure: ListenOptions['tls'] = null,
  onUpgrade: UpgradeListener | null = null,
) => {
  const at = { host: '127.0.0.1', hostVariable: 'HOST', port: 0, portVariable: 'PORT', tls: secure };
  const server = await HttpServer.listen(at, app, onUpgrade);
  t.after(() => server.close());
  return server;
};

const client = async (t: TestContext, { url }: HttpServer) => {
  const { port, protocol } = new URL(url);
  const to = { host: '127.0.0.1', port: Number(port), rejectUnauthorized: false };
  const isTls = protocol === 'https:';
  const socket: Socket = isTls ? connectTls(to) : connect(to);
  t.after(() => socket.destroy());
  const state = { isClosed: false, text: '' };
  socket
    .on('error', () => {})
    .once('close', () => {
      state.isClosed = true;
    })
    .on('data', (chunk) => {
      state.text += chunk;
    });
  await new Promise<void>((resolve) => socket.once(isTls ? 'secureConnect' : 'connect', resolve));
  const ask = (count: number): void => void socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
  return { socket, state, ask };
};

for (const [name, secure] of [
  ['HTTP', null],
  ['HTTPS', selfSignedTls()],
] as const) {
  test(`who asks on and on without answers is cut off, and what it asks for beyond that is nobody's work (${name})`, async (t) => {
    let handled = 0;
    const server = await listen(
      t,
      () => {
        handled += 1;
      },
      secure,
    );
    const { state, ask } = await client(t, server);
    ask(3_000);
    await until('it is closed', () => state.isClosed);
    assert.deepEqual([handled, state.text], [64, '']);
  });

  test(`of a client that is gone every answer closes, once, whether or not it was its turn (${name})`, async (t) => {
    const responses: ServerResponse[] = [];
    const closed = new Map<ServerResponse, number>();
    const server = await listen(
      t,
      (_request, response) => {
        responses.push(response);
        response.on('close', () => closed.set(response, (closed.get(response) ?? 0) + 1));
      },
      secure,
    );
    const { socket, state, ask } = await client(t, server);
    ask(12);
    await until('all are asked', () => responses.length === 12);
    // The third is the one whose turn it is; of those behind it one is whole, one has begun and one was given up.
    for (const at of [0, 1, 5]) responses[at]!.end('here');
    responses[6]!.write('he');
    responses[7]!.destroy();
    await until('two are answered', () => state.text.split('here').length === 3);
    socket.destroy();
    await until('all are closed', () => closed.size === 12);
    assert.ok(responses.every(({ destroyed }) => destroyed));
    // What is still done with them changes nothing.
    for (const response of responses) response.end();
    const other = await client(t, server);
    other.ask(1);
    await until('it is asked', () => responses.length === 13);
    assert.deepEqual([...closed.values()], Array(12).fill(1));
  });
}

test('a few at a time may be under way, for as long as one likes', async (t) => {
  const waiting: ServerResponse[] = [];
  const server = await listen(t, (_request, response) => void waiting.push(response));
  const { state, ask } = await client(t, server);
  for (let round = 1; round <= 5; round += 1) {
    ask(60);
    await until('all are asked', () => waiting.length === 60);
    for (const response of waiting.splice(0)) response.end('here');
    await until('all are answered', () => state.text.split('\r\n\r\n').length > 60 * round);
  }
  assert.equal(state.isClosed, false);
});

test('into an answer that is under way nothing is written, whatever is behind it', async (t) => {
  const responses: ServerResponse[] = [];
  let upgraded = 0;
  const server = await listen(
    t,
    (_request, response) => void responses.push(response),
    null,
    () => {
      upgraded += 1;
    },
  );
  const webSocket = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  for (const [later, next] of [
    ['waits', 'no HTTP at all\r\n\r\n'],
    ['was given up', webSocket],
  ] as const) {
    const { socket, state, ask } = await client(t, server);
    ask(2);
    await until('both are asked', () => responses.length === 2);
    const [first, second] = responses.splice(0);
    first!.writeHead(200, { 'Content-Length': 8 }).write('half');
    if (later === 'was given up') second!.destroy();
    await until('half of it is there', () => state.text.endsWith('half'));
    socket.write(next);
    await until('it is closed', () => state.isClosed);
    assert.ok(state.text.endsWith('half'), state.text);
  }
  assert.equal(upgraded, 0);
});
