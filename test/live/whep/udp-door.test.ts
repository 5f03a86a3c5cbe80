import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { openUdpDoor } from '../../../src/live/whep/door/udp-door.js';
import { TiedSocket } from '../../../src/live/whep/path/tied-socket.js';
import { until } from '../../support/until.js';

const bound = async (t: TestContext, type: 'udp4' | 'udp6'): Promise<Socket> => {
  const socket = createSocket(type).bind(0, type === 'udp4' ? '127.0.0.1' : '::1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return socket;
};

/** Below those of sockets that take any: none of these takes one of them meanwhile. */
const FIRST_PORT = 10_000;
const PORTS = 20_000;
const MAX_PAIRS = 5;

/** A port that nobody has just now, with a free one behind it. */
const freePort = async (): Promise<number> => {
  for (let pair = 0; pair < MAX_PAIRS; pair += 1) {
    const first = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const ports = [first, first + 1];
    const doors = await Promise.all(ports.map((port) => openUdpDoor({ first: port, last: port }, () => {})));
    for (const door of doors) door?.close();
    if (doors.every((door) => door !== null)) return first;
  }
  throw new Error('no free pair of ports');
};

test('a port that somebody has is passed by, though sharing it would succeed', async (t) => {
  const first = await freePort();
  const range = { first, last: first + 1 };
  const one = await openUdpDoor(range, () => {});
  const other = await openUdpDoor(range, () => {});
  assert.deepEqual([one?.port, other?.port], [first, first + 1]);
  assert.equal(await openUdpDoor(range, () => {}), null);
  one?.close();
  const next = await openUdpDoor(range, () => {});
  assert.equal(next?.port, first);
  t.after(() => {
    other?.close();
    next?.close();
  });
});

for (const type of ['udp4', 'udp6'] as const) {
  test(`${type}: the door hears who is new, and a tied socket its own address alone`, async (t) => {
    const loopback = type === 'udp4' ? '127.0.0.1' : '::1';
    const atDoor: string[] = [];
    const door = await openUdpDoor({ first: 0, last: 0 }, (datagram) => atDoor.push(datagram.toString()));
    t.after(() => door?.close());
    const port = door!.port;
    const viewers = await Promise.all(Array.from({ length: 20 }, () => bound(t, type)));
    const heard = viewers.map((): string[] => []);
    const got = viewers.map((): string[] => []);
    for (const [i, viewer] of viewers.entries()) {
      viewer.on('message', (message, from) => got[i]?.push(`${message} from ${from.port}`));
      viewer.send('hello', port, loopback);
    }
    await until('all are heard', () => atDoor.length === 20);
    const ties = viewers.map((viewer, i) => {
      const remote = { address: loopback, port: viewer.address().port };
      return new TiedSocket(port, remote, (message) => heard[i]?.push(message.toString()));
    });
    t.after(() => ties.forEach((tie) => void tie.close()));
    for (const [i, tie] of ties.entries()) tie.send(Buffer.from(`answer ${i}`));
    await until('all are answered', () => got.every((messages) => messages.length === 1));
    assert.deepEqual(
      got.flat(),
      viewers.map((_, i) => `answer ${i} from ${port}`),
    );
    for (const [i, viewer] of viewers.entries()) viewer.send(`from ${i}`, port, loopback);
    await until('all are heard by their own', () => heard.every((messages) => messages.length === 1));
    assert.deepEqual(
      heard.flat(),
      viewers.map((_, i) => `from ${i}`),
    );
    assert.equal(atDoor.length, 20);
    // Who has no socket any more is new again.
    ties[3]?.close();
    viewers[3]?.send('back', port, loopback);
    await until('the door hears it', () => atDoor.at(-1) === 'back');
  });
}

test('an address that there is no way to costs nothing but its own socket', async (t) => {
  const door = await openUdpDoor({ first: 0, last: 0 }, () => {});
  t.after(() => door?.close());
  // A socket for all addresses of this machine can't be tied to a broadcast one.
  const tie = new TiedSocket(door!.port, { address: '255.255.255.255', port: 9 }, () => {});
  tie.send(Buffer.from('hello'));
  await until('it is closed', () => tie.isClosed);
  tie.send(Buffer.from('hello'));
  assert.equal(tie.isBlocked, true);
});

test('a socket that the system refuses is closed, so that the next check gets another one', async (t) => {
  const holder = await bound(t, 'udp4');
  const { port } = holder.address();
  const tie = new TiedSocket(port, { address: '127.0.0.1', port: 9 }, () => {});
  t.after(() => tie.close());
  await until('it is closed', () => tie.isClosed);
});
