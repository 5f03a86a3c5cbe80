import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../src/base/log.js';
import { ConnectionCaps, connectionLimit } from '../../src/http/connection-caps.js';
import { FakeClock } from '../support/fake-clock.js';
import { startTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** A connection from one of this machine's many addresses; null if it was closed at once. */
const open = async (t: TestContext, url: string, localAddress = '127.0.0.1'): Promise<Socket | null> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress });
  t.after(() => socket.destroy());
  let isClosed = false;
  let text = '';
  socket
    .on('error', () => {})
    .once('close', () => {
      isClosed = true;
    });
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('it is answered or closed', () => isClosed || text !== '');
  return text === '' ? null : socket;
};

test('one address has no more connections than its cap, but one that many stand behind has', async (t) => {
  const logged: unknown[] = [];
  const caps = new ConnectionCaps(
    {
      maxConnections: 20,
      maxConnectionsPerAddress: 4,
      isShared: (address) => address === '127.0.0.9',
    },
    {
      clock: new FakeClock(),
      log: createLogger((level, message, fields) => logged.push([level, message, fields])),
    },
  );
  const server = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1');
  caps.attach(server);
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own: (Socket | null)[] = [];
  for (let index = 0; index < 4; index++) own.push(await open(t, url, '127.0.0.2'));
  assert.ok(own.every((socket) => socket !== null));
  for (let index = 0; index < 3; index++) assert.equal(await open(t, url, '127.0.0.2'), null);
  assert.ok(await open(t, url, '127.0.0.3'), 'others have places of their own');
  for (let index = 0; index < 9; index++) assert.ok(await open(t, url, '127.0.0.9'));
  own[0]?.destroy();
  const again = await until('its place is free', () => open(t, url, '127.0.0.2'));
  assert.ok(again);
  const fields = { ip: '127.0.0.2', limit: 'MAX_CONNECTIONS_PER_IP', refused: 1 };
  assert.deepEqual(logged, [['warn', 'connections were refused', fields]], 'a flood is one line a minute');
});

test('there are no more connections in all than their cap; probes have places of their own', async (t) => {
  const app = await startTestApp({ withUsers: false, env: { MAX_CONNECTIONS: '16' } });
  t.after(() => app.stop());
  const sockets: (Socket | null)[] = [];
  for (let index = 0; index < 16; index++) sockets.push(await open(t, app.url));
  assert.ok(sockets.every((socket) => socket !== null));
  assert.equal(await open(t, app.url), null);
  assert.match(app.logText(), /"limit":"MAX_CONNECTIONS"/);
  assert.ok(await open(t, app.metricsUrl));
  sockets[0]?.destroy();
  await until('its place is free', () => open(t, app.url));
});

test('however many connections are wanted, both listeners together leave a third of the files to recordings', () => {
  for (const openFiles of [1_024, 4_096, 20_001]) {
    const limits = [
      connectionLimit(10_000, openFiles, 'service'),
      connectionLimit(10_000, openFiles, 'monitoring'),
    ];
    assert.ok(limits.reduce((sum, limit) => sum + limit) <= (openFiles * 2) / 3, `${limits} of ${openFiles}`);
  }
  assert.equal(connectionLimit(10_000, 1_000_000, 'monitoring'), 10_000);
  assert.equal(connectionLimit(10_000, null, 'service'), 10_000);
});

test('this machine and a trusted proxy stand for many', async (t) => {
  const env = { MAX_CONNECTIONS_PER_IP: '4' };
  const app = await startTestApp({ withUsers: false, env });
  t.after(() => app.stop());
  for (let index = 0; index < 9; index++) assert.ok(await open(t, app.url));
});
