import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PacketStore } from '../../../src/live/whep/packets/packet-store.js';

const FRAME_TICKS = 3_600;

/** Writes a packet whose every byte tells its number. */
const pushPacket = (store: PacketStore, lengthBytes: number, isLast: boolean): void => {
  const start = store.writeStart;
  assert.ok(start % 4 === 0 && start + 1_212 <= store.bytes.length);
  store.bytes.fill(store.next & 0xff, start, start + lengthBytes);
  store.push(lengthBytes, isLast);
};

/** Everything that the store says it has is there as it was written. */
const check = (store: PacketStore): void => {
  for (let packet = store.first; packet < store.next; packet += 1) {
    const start = store.startOf(packet);
    const bytes = store.bytes.subarray(start, start + store.lengthOf(packet));
    assert.ok(
      bytes.every((byte) => byte === (packet & 0xff)),
      `packet ${packet}`,
    );
  }
};

test('what is held is whole, whatever comes, and the newest keyframe and the last second are held', () => {
  const frame = fc.record({
    isKey: fc.boolean(),
    packets: fc.integer({ min: 1, max: 120 }),
    lengthBytes: fc.integer({ min: 13, max: 1_212 }),
  });
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 120 }), (frames) => {
      const store = new PacketStore();
      let key = -1;
      const firsts: number[] = [];
      for (const [number, { isKey, packets, lengthBytes }] of frames.entries()) {
        if (isKey) key = store.next;
        firsts.push(store.next);
        store.beginFrame(number * FRAME_TICKS, isKey);
        for (let i = 0; i < packets; i += 1) pushPacket(store, lengthBytes, i === packets - 1);
        if (store.bytes.length < 1 << 24) {
          assert.equal(store.newestKey, key);
          assert.ok(store.first <= firsts[Math.max(0, number - 25)]!, 'the last second is held');
        }
      }
      check(store);
    }),
    { numRuns: 30 },
  );
});

test('a group of pictures that never ends takes no more than 16 MB', () => {
  const store = new PacketStore();
  for (let number = 0; number < 3_000; number += 1) {
    store.beginFrame(number * FRAME_TICKS, number === 0);
    for (let i = 0; i < 10; i += 1) pushPacket(store, 1_212, i === 9);
  }
  assert.deepEqual([store.newestKey, store.bytes.length], [-1, 1 << 24]);
  check(store);
  store.beginFrame(3_000 * FRAME_TICKS, true);
  assert.equal(store.newestKey, -1, 'a keyframe without packets is none');
  pushPacket(store, 100, true);
  assert.equal(store.newestKey, 30_000);
});

test('the last second stays for repeats, though every frame is a keyframe', () => {
  const store = new PacketStore();
  const firsts: number[] = [];
  for (let number = 0; number < 100; number += 1) {
    firsts.push(store.next);
    store.beginFrame(number * FRAME_TICKS, true);
    for (let i = 0; i < 100; i += 1) pushPacket(store, 1_212, i === 99);
  }
  assert.ok(store.first <= firsts[75]!);
  assert.ok(store.bytes.length <= 1 << 23);
  check(store);
});
