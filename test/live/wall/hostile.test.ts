import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_TILES, readTaken, readTiles } from '../../../src/live/wall/page-messages.js';
import { WallRig } from './wall-rig.js';

const tile = fc.record({
  tile: fc.nat(0xffff),
  camera: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/),
  stream: fc.constantFrom('sub', 'main'),
  mode: fc.constantFrom('all', 'key', 'off'),
  priority: fc.nat(0xffff),
  sound: fc.boolean(),
  detections: fc.boolean(),
});
const wanted = fc.record({
  op: fc.constant('tiles'),
  rev: fc.nat(0xffff_ffff),
  tiles: fc.uniqueArray(tile, { selector: (each) => each.tile, maxLength: MAX_TILES }),
});

test('what a page may say is read as it says it', () => {
  fc.assert(
    fc.property(wanted, (message) => {
      const text = JSON.stringify(message);
      assert.deepEqual(readTiles(text), JSON.parse(text));
    }),
  );
});

test('whatever else it says is told to be wrong in a sentence, and never throws', () => {
  const spoilt = wanted.chain((message) => {
    const [first = { tile: 1, camera: 'door', stream: 'main', mode: 'all' }] = message.tiles;
    return fc.constantFrom<unknown>(
      { ...message, op: 'tile' },
      { ...message, surely: 'unknown' },
      { ...message, rev: -1 },
      { ...message, rev: 1.5 },
      { ...message, tiles: [first, first] },
      { ...message, tiles: [{ ...first, camera: '../door' }] },
      { ...message, tiles: [{ ...first, camera: 'door/sub' }] },
      { ...message, tiles: [{ ...first, mode: 'some' }] },
      { ...message, tiles: [{ ...first, surely: 'unknown' }] },
      { ...message, tiles: Array.from({ length: MAX_TILES + 1 }, (_, at) => ({ ...first, tile: at })) },
      { ...message, tiles: { length: 1 } },
    );
  });
  const texts = fc.oneof(
    spoilt.map((value) => JSON.stringify(value)),
    fc.string(),
    fc.json(),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const read = readTiles(text);
      assert.ok(typeof read === 'string' && read.length > 0 && read.length <= 256);
    }),
  );
});

test('an acknowledgement has its length and its first four bytes, or is none', () => {
  fc.assert(
    fc.property(
      fc.nat(0xffff_ffff),
      fc.nat(0xffff_ffff),
      fc.uint8Array({ maxLength: 40 }),
      (messages, bytes, noise) => {
        const message = Buffer.alloc(12);
        message[0] = 0x21;
        message.writeUInt32BE(messages, 4);
        message.writeUInt32BE(bytes, 8);
        assert.deepEqual(readTaken(message), { messages, bytes });
        const other = Buffer.from(noise);
        const isOne = other.length === 12 && other.readUInt32BE(0) === 0x2100_0000;
        assert.equal(readTaken(other) !== null, isOne);
      },
    ),
  );
});

test('a page is told what is wrong with its text, and goes on as it was', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  camera.write(true);
  const page = await rig.open();
  page.show([{ tile: 1, camera: 'door' }]);
  await rig.run(100);
  for (const text of ['no JSON', '{}', '[]', 'null', '{"op":"tiles","rev":1,"tiles":[{}]}'])
    page.webSocket.send(text);
  page.webSocket.send(Buffer.alloc(12, 0xff));
  page.webSocket.send(Buffer.alloc(0));
  page.acknowledge(1_000_000, 4_000_000_000);
  await rig.run(100);
  camera.write(false);
  await rig.run(100);
  assert.equal(page.textsOf('problem').length, 5);
  const [first] = page.textsOf('problem');
  assert.deepEqual(first?.['problem'], { code: 'invalid_input' });
  assert.deepEqual([page.frames.length, page.closedWith], [2, null]);
});

test('64 tiles are shown', async () => {
  await using rig = await WallRig.start();
  const tiles = Array.from({ length: MAX_TILES }, (_, at) => ({ tile: at, camera: `camera-${at}` }));
  for (const { camera } of tiles) rig.addCamera(camera).write(true);
  const page = await rig.open();
  page.show(tiles);
  await rig.run(200);
  assert.equal(new Set(page.frames.map(({ stream }) => stream)).size, MAX_TILES);
  assert.deepEqual(page.faults, []);
});

const rude = {
  'too many messages': [
    1008,
    (send: (data: string | Buffer) => void) => {
      for (let count = 0; count < 200; count += 1) send('{}');
    },
  ],
  'too many acknowledgements': [
    1008,
    (send: (data: string | Buffer) => void) => {
      for (let count = 0; count < 200; count += 1) send(Buffer.alloc(12, 0x21));
    },
  ],
  'a message that is too long': [1009, (send: (data: string | Buffer) => void) => send('x'.repeat(70_000))],
} as const;

for (const [name, [code, misbehave]] of Object.entries(rude)) {
  test(`${name}: that page is closed, and nobody else`, async () => {
    await using rig = await WallRig.start();
    const camera = rig.addCamera('door');
    camera.write(true);
    const [page, polite] = [await rig.open(), await rig.open()];
    for (const each of [page, polite]) each.show([{ tile: 1, camera: 'door' }]);
    await rig.run(100);
    misbehave((data) => page.webSocket.send(data));
    assert.equal(await page.untilClosed(), code);
    camera.write(false);
    await rig.run(100);
    assert.deepEqual([polite.frames.length, rig.walls.viewers('door')], [2, 1]);
  });
}

test('bytes that are no WebSocket frames end that page alone', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  camera.write(true);
  const [page, polite] = [await rig.open(), await rig.open()];
  for (const each of [page, polite]) each.show([{ tile: 1, camera: 'door' }]);
  await rig.run(100);
  const { _socket: socket } = page.webSocket as unknown as { _socket: { write(bytes: Buffer): void } };
  socket.write(Buffer.alloc(64, 0xff));
  await page.untilClosed();
  camera.write(false);
  await rig.run(100);
  assert.deepEqual([polite.frames.length, rig.walls.viewers('door')], [2, 1]);
});

/** Nothing that comes back tells that it came: it takes no longer than this, or is heard with what follows. */
const heard = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** A page whose kernel takes nothing from now on, though it goes on talking. */
const openDeaf = async (rig: WallRig, camera: string) => {
  rig.holdNext();
  const page = await rig.open('none');
  page.show([{ tile: 1, camera }]);
  await rig.run(100);
  assert.equal(page.frames.length, 1);
  const { held } = rig;
  assert.ok(held !== null);
  held.hold();
  page.webSocket.pause();
  return { page, held };
};

test('a page that says it has taken what it has not is given no more memory for that', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  camera.write(true);
  const { page, held } = await openDeaf(rig, 'door');
  const frameBytes = 300_000;
  let largest = 0;
  for (let count = 0; count < 100; count += 1) {
    camera.write(true, frameBytes);
    await rig.run(100, 50);
    const sent = Math.floor(held.writableLength / (frameBytes + 100));
    page.acknowledge(page.takenMessages + sent, page.takenBytes + sent * frameBytes);
    await heard();
    largest = Math.max(largest, held.writableLength);
  }
  assert.ok(largest > 3e6 && largest < 6e6, `${largest} bytes wait`);
});

test('a page that asks and asks, and reads no answer, is let go', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  camera.write(true);
  const { page, held } = await openDeaf(rig, 'door');
  const tiles = Array.from({ length: MAX_TILES }, (_, at) => ({
    ...{ tile: at, camera: at === 0 ? 'door' : `unknown-${at}`, stream: 'main', mode: 'all' },
  }));
  for (let rev = 1; rev < 500 && rig.walls.viewers('door') > 0; rev += 1) {
    page.webSocket.send(JSON.stringify({ op: 'tiles', rev, tiles }));
    await heard();
    await rig.run(40, 40);
  }
  assert.equal(rig.walls.viewers('door'), 0);
  assert.ok(held.writableLength < 1.5e6, `${held.writableLength} bytes wait`);
});
