import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Clip, sendClip } from '../../src/http/clip-response.js';
import { type Content, type Reply, route } from '../../src/http/route.js';
import { until } from '../support/until.js';
import { startWebServer } from '../support/web-server.js';

/** Far more than sockets take in by themselves. */
const CONTENT_BYTES = 24 << 20;
const SILENT_CLIENTS = 60;

const content = Buffer.alloc(CONTENT_BYTES, 0x47);
const text = 'G'.repeat(CONTENT_BYTES);
const halves = [content.subarray(0, CONTENT_BYTES / 2), content.subarray(CONTENT_BYTES / 2)];
const answers = { 200: { description: 'Bytes', contentType: 'video/mp2t' } };
/** As large as the archive reads them. */
const CLIP_CHUNK_BYTES = 1 << 20;

const clip: Clip = {
  contentBytes: CONTENT_BYTES,
  etag: '"clip"',
  lastModifiedMs: 0,
  async *read(startByte, endByte) {
    for (let at = startByte; at < endByte; at += CLIP_CHUNK_BYTES)
      yield content.subarray(at, Math.min(at + CLIP_CHUNK_BYTES, endByte));
  },
  close: () => {},
};
const writtenBytes: number[] = [];
let asked = 0;
let eventReaders = 0;
let endWaiting = (): void => {};

const answer = (text: Content): Reply => {
  asked += 1;
  return { status: 200, text, contentType: 'video/mp2t' };
};

const server = await startWebServer([
  route({
    method: 'get',
    path: '/segment',
    access: 'public',
    summary: 'One piece of memory, the same for all',
    answers,
    handle: () => answer(content),
  }),
  route({
    method: 'get',
    path: '/pieces',
    access: 'public',
    summary: 'The same in pieces',
    answers,
    handle: () => answer(halves),
  }),
  route({
    method: 'get',
    path: '/text',
    access: 'public',
    summary: 'As much as JSON',
    answers: { 200: { description: 'Text', schema: z.string() } },
    handle: () => ({ status: 200, body: text }),
  }),
  route({
    method: 'get',
    path: '/clip',
    access: 'public',
    summary: 'An export, which is read in large chunks',
    answers,
    handle: () => ({
      write: (request, response) => {
        const write = response.write.bind(response);
        response.write = (chunk: Buffer) => {
          writtenBytes.push(chunk.length);
          return write(chunk);
        };
        return sendClip(clip, 'clip.mp4', request, response);
      },
    }),
  }),
  route({
    method: 'get',
    path: '/later',
    access: 'public',
    summary: 'What is long in the making',
    answers: { 200: { description: 'At last', schema: z.string() } },
    handle: async () => {
      await new Promise<void>((resolve) => {
        endWaiting = resolve;
      });
      return { status: 200, body: 'here' };
    },
  }),
  route({
    method: 'get',
    path: '/events',
    access: 'public',
    summary: 'Events that nobody reads',
    answers,
    handle: () => ({
      write: (_request, response) => {
        eventReaders += 1;
        response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
        response.write(content);
      },
    }),
  }),
]);
after(() => server.stop());

type Client = { readonly socket: Socket; takenBytes: number; isClosed: boolean };

/** Asks for something; reads nothing until told to. */
const ask = async (path: string): Promise<Client> => {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) }).pause();
  const client: Client = { socket, takenBytes: 0, isClosed: false };
  socket.on('error', () => {}).once('close', () => (client.isClosed = true));
  socket.on('data', (chunk) => (client.takenBytes += chunk.length)).pause();
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return client;
};

/** Lets time go by for the service, in steps in which `each` may do something. */
const wait = async (seconds: number, each: () => Promise<void> = () => sleep(5)): Promise<void> => {
  for (let second = 0; second < seconds; second++) {
    server.clock.advance(1_000);
    await each();
  }
};

/** A paused socket notices its end only when it reads. */
const isCut = async (client: Client): Promise<boolean> => {
  client.socket.resume();
  await until('it is at its end', () => client.isClosed || client.takenBytes > CONTENT_BYTES);
  return client.takenBytes < CONTENT_BYTES;
};

test('clients that never read are gone after 30 s, and all of them held one piece of memory', async () => {
  const { arrayBuffers: beforeBytes } = process.memoryUsage();
  const clients = await Promise.all(
    Array.from({ length: SILENT_CLIENTS }, (_, index) => ask(index % 2 === 0 ? '/segment' : '/pieces')),
  );
  await until('all are answered', () => asked === SILENT_CLIENTS);
  assert.ok(process.memoryUsage().arrayBuffers - beforeBytes < 2 * CONTENT_BYTES);
  const answered = (): number => server.reported.filter((line) => line.startsWith('GET /')).length;
  await wait(29);
  assert.equal(answered(), 0, 'nobody is cut before its time');
  await wait(7);
  await until('all are gone', () => answered() === SILENT_CLIENTS);
  for (const client of clients) assert.equal(await isCut(client), true);
});

test('whoever takes nothing is gone after 30 s, whatever else it asked for meanwhile', async () => {
  const client = await ask('/segment');
  client.socket.write('GET /events HTTP/1.1\r\nHost: x\r\n\r\n');
  await until('both are asked', () => eventReaders === 1);
  await wait(36);
  assert.equal(await isCut(client), true);
});

test('a slow client that takes some now and then gets everything', async () => {
  for (const path of ['/segment', '/pieces', '/text']) {
    const client = await ask(path);
    const takeSome = async (): Promise<void> => {
      const wantedBytes = Math.min(client.takenBytes + (CONTENT_BYTES >> 4), CONTENT_BYTES);
      client.socket.resume();
      await until('it has some more', () => client.takenBytes >= wantedBytes || client.isClosed);
      client.socket.pause();
    };
    for (let step = 0; step < 16; step++) {
      await wait(20);
      await takeSome();
    }
    assert.equal(await isCut(client), false, path);
    client.socket.destroy();
  }
});

test('an export is handed over in steps, however large its chunks are: each shows that the client takes some', async () => {
  const { text: received } = await server.call('GET', '/clip');
  assert.equal(received.length, CONTENT_BYTES);
  assert.ok(Math.max(...writtenBytes) <= 131_072, `${Math.max(...writtenBytes)} bytes at once`);
});

test('whoever waits for the service, or for events, may wait', async () => {
  const [later, events] = [await ask('/later'), await ask('/events')];
  later.socket.resume();
  await wait(300);
  assert.deepEqual([later.isClosed, events.isClosed], [false, false]);
  endWaiting();
  await until('it is answered', () => later.takenBytes > 0);
  events.socket.resume();
  await until('it has its events', () => events.takenBytes > CONTENT_BYTES);
  for (const { socket } of [later, events]) socket.destroy();
});
