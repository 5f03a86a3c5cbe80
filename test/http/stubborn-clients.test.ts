import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { HttpServer, type ListenOptions } from '../../src/http/server.js';
import { until } from '../support/until.js';
import { selfSignedTls } from './self-signed-tls.js';

type Listener = { readonly server: HttpServer; readonly openCount: () => number };

/** A listener that tells how many connections it holds, as the system counts them. */
const listen = async (t: TestContext, secure: ListenOptions['tls']): Promise<Listener> => {
  const open = new Set<Socket>();
  const guard = {
    attach: (server: Server): void => {
      server.on('connection', (socket: Socket) => {
        open.add(socket);
        socket.once('close', () => open.delete(socket));
      });
    },
  };
  const at = { host: '127.0.0.1', hostVariable: 'HOST', port: 0, portVariable: 'PORT', tls: secure };
  const server = await HttpServer.listen(at, (_request, response) => response.end('here'), null, [guard]);
  t.after(() => server.close());
  return { server, openCount: () => open.size };
};

/** A client that sends something, takes what comes, and never closes its side. */
const stay = async (t: TestContext, { server }: Listener, text: string): Promise<void> => {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  t.after(() => socket.destroy());
  socket.on('error', () => {}).resume();
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  if (text !== '') socket.write(text);
};

test('a stop waits for no client that connected to the TLS port and says nothing', async (t) => {
  const listener = await listen(t, selfSignedTls());
  await stay(t, listener, '');
  await until('it is connected', () => listener.openCount() === 1);
  const startMs = performance.now();
  await listener.server.close();
  assert.ok(performance.now() - startMs < 5_000);
  await until('it is gone', () => listener.openCount() === 0);
});

test('whoever never comes to the point is gone soon, and need not agree to that', {
  timeout: 60_000,
}, async (t) => {
  const [plain, secure] = [await listen(t, null), await listen(t, selfSignedTls())];
  await stay(t, plain, 'GET / HTTP/1.1\r\nHost: x\r\n');
  await stay(t, plain, 'no HTTP at all\r\n\r\n');
  await stay(t, secure, '');
  await until('all are connected', () => plain.openCount() + secure.openCount() === 3);
  await until('they are gone', () => plain.openCount() + secure.openCount() === 0, { deadlineMs: 40_000 });
});
