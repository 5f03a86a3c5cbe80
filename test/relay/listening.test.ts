import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import type { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { Relay } from '../../src/relay/relay.js';
import { clientTls } from '../../src/relay/shared-key-tls.js';
import { until } from '../support/until.js';
import { keyOf } from './boxes.js';

const key = keyOf('what all boxes of the test have');

/** A relay, the threads that it starts, and what it says. */
const start = async (t: TestContext, port: number) => {
  const threads: Worker[] = [];
  const lines: string[] = [];
  const add = (worker: Worker): void => void threads.push(worker);
  process.on('worker', add);
  t.after(() => process.off('worker', add));
  const relay = await Relay.start(
    { box: 'box', host: '127.0.0.1', port, key },
    {
      ...{ clock: systemClock, log: createLogger((_level, message) => lines.push(message)) },
      feeds: { follow: () => () => {} },
      answers: () => Promise.reject(new Error('nobody asks')),
      threads: { add: () => () => {} },
    },
  );
  t.after(() => relay.stop());
  return { relay, threads, lines };
};

const takenBy = async (t: TestContext, port: number): Promise<Server> => {
  const server = createServer((socket) => socket.destroy());
  t.after(() => server.close());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

const isServed = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', ...clientTls(key) });
    socket.once('secureConnect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.once('secureConnect', () => socket.destroy());
  });

test('where somebody has the port at the moment that its thread begins anew, it listens as soon as it can', async (t) => {
  const { relay, threads, lines } = await start(t, 0);
  const { port } = relay;
  assert.ok(await isServed(port));
  await threads.at(-1)!.terminate();
  const other = await takenBy(t, port);
  await until('it says so', () => lines.some((line) => /does not listen/.test(line)));
  await until('it tries again', () => threads.length >= 3);
  other.close();
  await until('boxes are served again', () => isServed(port), { deadlineMs: 20_000 });
  await until('it says that, too', () => lines.includes('the relay listens again'));
  assert.deepEqual(
    lines.filter((line) => /relay/.test(line)),
    ["the relay's thread died", 'the relay does not listen: it goes on trying', 'the relay listens again'],
  );
});

test('a box whose port is taken when it starts does not start', async (t) => {
  const other = await takenBy(t, 0);
  const address = other.address();
  assert.ok(address !== null && typeof address === 'object');
  await assert.rejects(start(t, address.port), { code: 'bad_config', message: /RELAY_PORT=/ });
});
