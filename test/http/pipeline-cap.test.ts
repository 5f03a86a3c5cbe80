import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { PipelineCap } from '../../src/http/pipeline-cap.js';
import { until } from '../support/until.js';

/** A server that answers when it is told to. */
const start = async (t: TestContext) => {
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => waiting.push(response)).listen(0, '127.0.0.1');
  new PipelineCap().attach(server);
  await once(server, 'listening');
  t.after(() => server.close());
  const state = { isClosed: false, text: '' };
  const socket: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket
    .on('error', () => {})
    .once('close', () => {
      state.isClosed = true;
    })
    .on('data', (chunk) => {
      state.text += chunk;
    });
  const ask = (count: number): void => void socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
  return { waiting, state, ask };
};

test('who asks on and on without answers is cut off', async (t) => {
  const { state, ask } = await start(t);
  ask(65);
  await until('it is closed', () => state.isClosed);
  assert.equal(state.text, '');
});

test('a few at a time may be under way, for as long as one likes', async (t) => {
  const { waiting, state, ask } = await start(t);
  for (let round = 1; round <= 5; round += 1) {
    ask(60);
    await until('all are asked', () => waiting.length === 60);
    for (const response of waiting.splice(0)) response.end('here');
    await until('all are answered', () => state.text.split('\r\n\r\n').length > 60 * round);
  }
  assert.equal(state.isClosed, false);
});
