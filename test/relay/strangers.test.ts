import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { RelayServer } from '../../src/relay/send/relay-server.js';
import { Strangers } from '../../src/relay/send/strangers.js';
import { clientTls } from '../../src/relay/shared-key-tls.js';
import { until } from '../support/until.js';
import { keyOf } from './boxes.js';

const KEY = keyOf('what all boxes of the test have');

const listen = async (t: TestContext) => {
  const lines: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const log = createLogger((_, message, fields) => lines.push({ message, fields }));
  const port = await new Promise<number>((resolve, reject) => {
    const server = new RelayServer(
      { box: 'box', host: '127.0.0.1', port: 0, key: KEY },
      {
        ...{ clock: systemClock, log },
        send: (message) => {
          if (message.type === 'listening') resolve(message.port);
          if (message.type === 'failed') reject(new Error(message.message));
        },
      },
    );
    t.after(() => server.stop());
    server.listen();
  });
  return { port, lines };
};

const silent = async (t: TestContext, port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  // Without that nobody sees that the other side ends.
  socket.resume();
  return socket;
};

/** A connection as the server is told of it: one that was reset by then has no address any more. */
class Peer extends EventEmitter {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  isDestroyed = false;

  constructor(address?: string, port?: number) {
    super();
    this.remoteAddress = address;
    this.remotePort = port;
  }

  destroy(): this {
    this.isDestroyed = true;
    return this;
  }
}

const strangersOf = () => new Strangers({ clock: systemClock, log: createLogger(() => {}) });
const add = (strangers: Strangers, peer: Peer): Peer => {
  strangers.add(peer as unknown as Socket);
  return peer;
};

test('connections that were reset before anybody looked, however many, take nobody his place', () => {
  const strangers = strangersOf();
  for (let count = 0; count < 2_000; count++) {
    const pair = [add(strangers, new Peer()), add(strangers, new Peer())];
    for (const peer of pair) {
      assert.ok(peer.isDestroyed);
      peer.emit('close');
    }
  }
  assert.equal(add(strangers, new Peer('10.0.0.1', 5_000)).isDestroyed, false);
});

test('nor do those that come from a port again before the last one from there is over', () => {
  const strangers = strangersOf();
  for (let count = 0; count < 2_000; count++) {
    const [last, next] = [add(strangers, new Peer('10.0.0.1', 1)), add(strangers, new Peer('10.0.0.1', 1))];
    last.emit('close');
    next.emit('close');
  }
  assert.equal(add(strangers, new Peer('10.0.0.2', 5_000)).isDestroyed, false);
});

test('who connects and says nothing, or has another key, is sent away, and the log says so once', async (t) => {
  const { port, lines } = await listen(t);
  const sockets = await Promise.all([silent(t, port), silent(t, port), silent(t, port)]);
  sockets[1]!.write('GET / HTTP/1.1\r\n\r\n');
  const stranger = connectTls({ port, host: '127.0.0.1', ...clientTls(keyOf('another')) });
  t.after(() => stranger.destroy());
  await once(stranger, 'error');
  await until('all are sent away', () => sockets.every(({ destroyed }) => destroyed), { deadlineMs: 20_000 });
  assert.equal(lines.filter(({ message }) => message.includes('without the key')).length, 1);
});

test('however many connect and say nothing, few are kept, and who has the key is served', async (t) => {
  const { port } = await listen(t);
  const sockets: Socket[] = [];
  for (let count = 0; count < 600; count++) sockets.push(await silent(t, port));
  const isOpen = (socket: Socket): boolean => !socket.destroyed;
  await until('the oldest have gone', () => sockets.filter(isOpen).length <= 256, { deadlineMs: 4_000 });
  assert.equal(sockets[0]!.destroyed, true);
  const box = connectTls({ port, host: '127.0.0.1', ...clientTls(KEY) });
  t.after(() => box.destroy());
  await once(box, 'secureConnect');
  for (let count = 0; count < 300; count++) sockets.push(await silent(t, port));
  await until('the newest are there', () => sockets.filter(isOpen).length <= 256, { deadlineMs: 4_000 });
  assert.equal(box.destroyed, false);
});
