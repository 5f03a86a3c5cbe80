import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { splitNals } from './access-units.js';
import { launchChromium } from './browser/chromium.js';
import { playWebSocket } from './browser/websocket-player.js';
import type { VideoStream } from './elementary-stream.js';
import { fixtures } from './fixtures.js';

const START_CODE = Buffer.from([0, 0, 0, 1]);

const annexB = (nals: readonly Buffer[]): Buffer => Buffer.concat(nals.flatMap((nal) => [START_CODE, nal]));

const videoMessage = (timestampUs: number, accessUnit: Buffer): Buffer => {
  const head = Buffer.alloc(9, 2);
  head.writeBigUInt64BE(BigInt(timestampUs), 1);
  return Buffer.concat([head, annexB(splitNals(accessUnit))]);
};

/** What a faultless service would send of these frames. */
const messagesOf = ({ parameterSets, frames }: VideoStream): Buffer[] => [
  Buffer.concat([Buffer.from([1]), annexB(parameterSets)]),
  ...frames.map(({ bytes, ptsTicks }) => videoMessage(Math.round((ptsTicks * 100) / 9), bytes)),
];

/** Sends these messages to whoever connects; returns the address. */
const serve = async (t: TestContext, messages: readonly (Buffer | string)[]): Promise<string> => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket: WebSocket) => {
    for (const message of messages) socket.send(message);
  });
  t.after(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  await once(server, 'listening');
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

test('the WebSocket page names what breaks the promises of the stream', async (t) => {
  const browser = await launchChromium();
  t.after(() => browser.close());
  const [config, key, delta, next] = messagesOf(fixtures.h264High());
  const url = await serve(t, [key!, config!, delta!, key!, next!, delta!, 'hello', Buffer.from([3, 1])]);
  await using player = await playWebSocket(browser, url);
  const { faults } = await player.until('all faults are found', (stats) => stats.faults.length >= 6);
  assert.deepEqual(faults, [
    'a frame before the first configuration',
    'a delta frame where a keyframe has to be',
    'timestamp 0 after 66667',
    'timestamp 66667 after 133333',
    'a message that is text',
    'a message of type 3 with 2 bytes',
  ]);
});
