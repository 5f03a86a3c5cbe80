import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { WebSocket, WebSocketServer } from 'ws';
import type { EndReason } from '../../src/auth/viewers.js';
import type { StreamUpgrade, UpgradeCall } from '../../src/http/upgrade.js';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';
import { until } from '../support/until.js';
import { startWebServer, type WebServer } from '../support/web-server.js';

const sockets = new WebSocketServer({ noServer: true });
const closeCodes = { camera_deleted: 4404, access_withdrawn: 4403 } as const;
let trouble: ((call: UpgradeCall) => void) | null = null;

const echo: StreamUpgrade = {
  kind: 'camera',
  path: '/stream/ws/:id',
  summary: 'Says what it hears',
  permission: 'live.watch',
  handle: (call) => {
    trouble?.(call);
    sockets.handleUpgrade(call.request, call.socket, call.head, (socket) => {
      call.place.onEnd((reason: EndReason) => socket.close(closeCodes[reason]));
      socket.on('message', (data) => socket.send(`${call.cameraId} ${call.stream}: ${String(data)}`));
    });
  },
};

const wsHeaders =
  'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

let server: WebServer;
let placesHeld = 0;

const countPlaces = ({ viewers }: WebServer): void => {
  const { takePlace } = viewers;
  viewers.takePlace = (...parameters) => {
    placesHeld++;
    let isHeld = true;
    const place = takePlace.apply(viewers, parameters);
    return {
      release: () => {
        if (isHeld) placesHeld--;
        isHeld = false;
        place.release();
      },
    };
  };
};

before(async () => {
  server = await startWebServer([], [echo]);
  countPlaces(server);
});
after(() => server.stop());

const addressOf = (path: string, { url } = server): string => url.replace('http', 'ws') + path;

const open = async (path: string, headers: Record<string, string> = {}): Promise<WebSocket> => {
  const socket = new WebSocket(addressOf(path), { headers });
  await once(socket, 'open');
  return socket;
};

/** The status and the problem that came instead of a WebSocket. */
const refused = (path: string, headers: Record<string, string> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(addressOf(path), { headers });
    socket.once('open', () => reject(new Error(`${path} was let in`)));
    socket.once('error', () => {});
    socket.once('unexpected-response', (request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += String(chunk);
      });
      response.on('end', () => {
        request.destroy();
        assert.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8');
        const problem = JSON.parse(text) as { status: number; code: string };
        assert.equal(problem.status, response.statusCode);
        resolve(`${problem.status} ${problem.code}`);
      });
    });
  });

/** Sends raw bytes and collects what comes back. */
const raw = async (bytes: string, { url } = server): Promise<{ socket: Socket; text: () => string }> => {
  const { hostname, port } = new URL(url);
  let text = '';
  const socket = connect({ host: hostname, port: Number(port) });
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      text += chunk;
    });
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, text: () => text };
};

test('a viewer is let in, holds its place until it leaves, and is told when it must', async () => {
  const token = server.streamToken('locked');
  const [anybody, known, withHeader] = await Promise.all([
    open('/stream/ws/open'),
    open(`/stream/ws/locked?token=${token}`),
    open('/stream/ws/locked', { authorization: `Bearer ${token}` }),
  ]);
  anybody.send('hello');
  const [answer] = await once(anybody, 'message');
  assert.equal(String(answer), 'open main: hello');
  assert.equal(placesHeld, 3);
  anybody.terminate();
  await until('the place is free', () => placesHeld === 2);
  server.viewers.endForUser('viewer');
  const codes = await Promise.all([known, withHeader].map((socket) => once(socket, 'close')));
  assert.deepEqual(
    codes.map(([code]) => code),
    [4403, 4403],
  );
  const other = await open('/stream/ws/open');
  server.viewers.endForCamera('open', 'camera_deleted');
  assert.equal((await once(other, 'close'))[0], 4404);
  await until('all places are free', () => placesHeld === 0);
  assert.ok(server.reported.includes('GET /stream/ws/:id 101'));
  assert.ok(!server.logText().includes(token));
});

test('a viewer says which stream it wants, by a name that there is', async () => {
  const sub = await open('/stream/ws/open?stream=sub');
  sub.send('hello');
  const [answer] = await once(sub, 'message');
  assert.equal(String(answer), 'open sub: hello');
  sub.terminate();
  for (const bad of ['third', '', 'SUB', 'sub&stream=x'])
    assert.equal(await refused(`/stream/ws/open?stream=${bad}`), '400 invalid_input');
  await until('the place is free', () => placesHeld === 0);
});

test('whoever may not watch is told so in plain HTTP', async () => {
  const outcomes = {
    none: await refused('/stream/ws/locked'),
    'a session': await refused('/stream/ws/locked?session=x'),
    "another camera's token": await refused(`/stream/ws/locked?token=${server.streamToken('open')}`),
    forged: await refused('/stream/ws/locked?token=eyJ.e30.x'),
    unknown: await refused('/stream/ws/unknown'),
    'bad id': await refused('/stream/ws/-x'),
    traversal: await refused('/stream/ws/..%2f..%2fetc'),
    'bad encoding': await refused('/stream/ws/%zz'),
    disabled: await refused('/stream/ws/off'),
    'no such path': await refused('/stream/ws'),
    'no WebSocket here': await refused('/api/openapi.json'),
  };
  assert.deepEqual(outcomes, {
    none: '401 token_missing',
    'a session': '401 token_missing',
    "another camera's token": '401 token_invalid',
    forged: '401 token_invalid',
    unknown: '404 not_found',
    'bad id': '400 invalid_input',
    traversal: '400 invalid_input',
    'bad encoding': '400 bad_request',
    disabled: '503 no_picture',
    'no such path': '404 route_not_found',
    'no WebSocket here': '404 route_not_found',
  });
  assert.equal(placesHeld, 0);
  assert.ok(server.reported.includes('GET /stream/ws/:id 401'));
  assert.ok(server.reported.includes('GET none 404'));
});

test('a handshake that is none is refused before anybody is let in', async () => {
  const statusOf = async (head: string): Promise<string> => {
    const client = await raw(`${head}\r\n`);
    await until('it is answered and ended', () => client.socket.readableEnded || client.socket.destroyed);
    return client.text().split('\r\n', 1)[0] ?? '';
  };
  const path = '/stream/ws/open HTTP/1.1\r\n';
  assert.match(await statusOf(`POST ${path}${wsHeaders}`), /405/);
  assert.match(await statusOf(`GET ${path}${wsHeaders.replace('Version: 13', 'Version: 8')}`), /426/);
  assert.match(await statusOf(`GET ${path}${wsHeaders.replace('AAAA', '')}`), /400/);
  assert.equal(placesHeld, 0);
});

test('what the handler throws is an answer before it wrote, and the end after', async () => {
  trouble = () => {
    throw new Error('out of order');
  };
  assert.equal(await refused('/stream/ws/open'), '500 internal_error');
  trouble = ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n');
    throw new Error('out of order');
  };
  const client = await raw(`GET /stream/ws/open HTTP/1.1\r\n${wsHeaders}\r\n`);
  await until('it is cut', () => client.socket.destroyed);
  assert.doesNotMatch(client.text(), /500/);
  trouble = null;
  assert.equal(placesHeld, 0);
  assert.match(server.logText(), /out of order/);
});

test('asked for without an upgrade it says what it is', async () => {
  const { status, headers, body } = await server.call('GET', '/stream/ws/open');
  assert.deepEqual([status, headers.get('upgrade'), body.code], [426, 'websocket', 'upgrade_required']);
  assert.equal((await server.call('GET', '/stream/ws/locked')).status, 401);
  assert.equal((await server.call('GET', '/stream/ws/unknown')).status, 404);
  assert.equal(placesHeld, 0);
  const { body: document } = await server.call('GET', '/api/openapi.json');
  assert.deepEqual(Object.keys(document.paths['/stream/ws/{id}'].get.responses), [
    '101',
    '400',
    '401',
    '404',
    '426',
    '429',
    '503',
  ]);
});

test('clients that offer HTTP/2 are served as if they had not', async () => {
  const h2c =
    'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';
  const client = await raw(`GET /api/openapi.json?1 HTTP/1.1\r\n${h2c}\r\n`);
  const answers = () => client.text().match(/HTTP\/1\.1 \d+/g) ?? [];
  await until('the first is answered', () => answers().length === 1 && client.text().endsWith('}'));
  for (let request = 2; request <= 15; request++) {
    client.socket.write(`POST /stream/ws/open HTTP/1.1\r\n${h2c}Content-Length: 5\r\n\r\nhe`);
    client.socket.write('llo');
    await until('the next is answered', () => answers().length === request && client.text().endsWith('}'));
  }
  assert.equal(answers()[0], 'HTTP/1.1 200');
  assert.equal(answers()[14], 'HTTP/1.1 405');
  const ws = `GET /stream/ws/open HTTP/1.1\r\n${wsHeaders}\r\n`;
  client.socket.write(ws);
  await until('the same connection becomes a WebSocket', () => client.text().includes('HTTP/1.1 101'));
  client.socket.destroy();
  const two = `GET /api/openapi.json HTTP/1.1\r\n${h2c}\r\n`;
  for (const pair of [two + two, `GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n${ws}`]) {
    const hasty = await raw(pair);
    await until('who does not wait for an answer is cut', () => hasty.socket.destroyed);
  }
  await until('all places are free', () => placesHeld === 0);
});

test('no body of a request with too many headers is taken for another request', async () => {
  const smuggled = 'GET /stream/ws/smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
  const many = Array.from({ length: 200 }, (_, index) => `X-${index}: x\r\n`).join('');
  const h2c = `Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n${many}Content-Length: ${smuggled.length}\r\n`;
  const before = server.reported.length;
  const client = await raw(`POST /stream/ws/open HTTP/1.1\r\n${h2c}\r\n${smuggled}`);
  await until('it is cut or answered', () => client.socket.destroyed || client.text().includes('404'));
  assert.deepEqual(server.reported.slice(before), []);
});

test('they are over TLS, too', async () => {
  const { cert, key } = selfSignedCertificate();
  const other = await startWebServer([], [echo], {
    isSelfSigned: false,
    pair: { cert: Buffer.from(cert), key: Buffer.from(key) },
    renewed: { on: () => undefined },
  });
  const { hostname, port } = new URL(other.url);
  const socket = connectTls({ host: hostname, port: Number(port), ca: cert });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const h2c = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n';
  for (let answers = 1; answers <= 2; answers++) {
    socket.write(`GET /stream/ws/open HTTP/1.1\r\n${h2c}`);
    await until(
      'it is answered',
      () => text.split('"upgrade_required"').length > answers && text.endsWith('}'),
    );
  }
  socket.write(`GET /stream/ws/open HTTP/1.1\r\n${wsHeaders}\r\n`);
  await until('it becomes a WebSocket', () => text.includes('HTTP/1.1 101'));
  socket.destroy();
  await other.stop();
});

test('the service stops although viewers stay, and lets in no more', async () => {
  const other = await startWebServer([], [echo]);
  const viewer = new WebSocket(addressOf('/stream/ws/open', other));
  await once(viewer, 'open');
  const idle = await raw('GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n', other);
  const closed = once(viewer, 'close');
  const startMs = performance.now();
  await other.stop();
  assert.equal((await closed)[0], 1006, 'cut: nobody told it to go');
  // By itself it would stay.
  assert.ok(performance.now() - startMs < 30_000);
  idle.socket.destroy();
});
