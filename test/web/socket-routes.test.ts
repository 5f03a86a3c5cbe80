import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Routes } from '../../src/web/socket/routes.js';

/** A message of a stream: a description, or a frame. */
const message = (type: number, stream: number): ArrayBuffer => {
  const bytes = new Uint8Array(40);
  bytes[0] = type;
  new DataView(bytes.buffer).setUint32(4, stream);
  return bytes.buffer;
};

const wanted = (tile: number, decoder: number) => ({
  ...{ tile, decoder, camera: 'gate', stream: 'sub', mode: 'all', priority: 0, sound: true },
});

test('each message goes to the decoder of its tile, and a description that is known is never counted twice', () => {
  const heard: string[][] = [[], []];
  const routes = new Routes();
  for (const decoder of [0, 1])
    routes.addDecoder(decoder, {
      post: (given) => {
        if (given.op !== 'connection') heard[decoder]?.push(given.op);
      },
    });
  routes.begin(1);
  routes.want([wanted(1, 0), wanted(2, 1)] as never);
  const nothing = (): void => assert.fail('no sound');
  assert.equal(routes.forward(message(0x12, 7), nothing), 'nobody', 'nobody shows it yet');
  routes.show(1, 7, 8, false);
  assert.equal(routes.forward(message(0x11, 7), nothing), 'decoder');
  assert.equal(routes.forward(message(0x12, 7), nothing), 'decoder');
  let sounds = 0;
  assert.equal(
    routes.forward(message(0x12, 8), () => {
      sounds += 1;
    }),
    'sound',
  );
  routes.show(1, null, null, false);
  routes.show(2, 7, null, true);
  assert.equal(routes.forward(message(0x12, 7), nothing), 'decoder');
  // What the service sent, and nothing else, are messages: its account of what was taken is by them.
  assert.deepEqual(heard, [
    ['route', 'message', 'message', 'route'],
    ['route', 'known', 'message'],
  ]);
  assert.equal(sounds, 1);
  routes.begin(2);
  assert.equal(routes.forward(message(0x12, 7), nothing), 'nobody', 'another socket has other streams');
  assert.equal(routes.forward(new ArrayBuffer(3), nothing), 'nobody');
});

test('sound that begins again is described again, with its own description', () => {
  const routes = new Routes();
  routes.addDecoder(0, { post: () => {} });
  routes.begin(1);
  routes.want([wanted(1, 0), wanted(2, 0)] as never);
  const numberOf = (known: ArrayBuffer | null) => known && new DataView(known).getUint32(4);
  const heard: (number | null)[] = [];
  const hear = (data: ArrayBuffer): void => void heard.push(numberOf(data));
  assert.equal(routes.show(1, 7, 8, false), null, 'the service describes what it never described');
  routes.forward(message(0x11, 8), hear);
  assert.equal(routes.show(1, 7, 8, false), null, 'it goes on');
  assert.equal(routes.show(1, 7, null, false), null);
  assert.equal(numberOf(routes.show(1, 7, 8, false)), 8);
  routes.show(1, 7, null, false);
  routes.show(2, 9, 10, false);
  routes.forward(message(0x11, 10), hear);
  routes.show(2, 9, null, false);
  assert.equal(numberOf(routes.show(1, 7, 8, false)), 8);
  assert.deepEqual(heard, [8, 10], 'what is described again is no message of the service');
  routes.begin(2);
  assert.equal(routes.show(1, 7, 8, false), null);
});

test('of many streams the newest descriptions stay, and those of what is shown', () => {
  const known: number[] = [];
  const routes = new Routes();
  routes.addDecoder(0, {
    post: (given) => {
      if (given.op === 'known') known.push(new DataView(given.data).getUint32(4));
    },
  });
  routes.begin(1);
  routes.want([wanted(1, 0), wanted(2, 0)] as never);
  const nothing = (): void => assert.fail('no sound');
  routes.show(1, 1, null, false);
  for (let stream = 1; stream <= 400; stream += 1) routes.forward(message(0x11, stream), nothing);
  for (const stream of [1, 2, 399, 400]) routes.show(2, stream, null, false);
  assert.deepEqual(known, [1, 399, 400]);
});
