import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCounters } from '../../src/ring/counters.js';
import { RingReader } from '../../src/ring/reader.js';
import {
  copyOf,
  KEY,
  makeRing,
  nalOf,
  seedsOf,
  streamInfo,
  type TestRing,
  writeFrame,
} from '../support/ring.js';

const MB = 1 << 20;
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** 25 frames a second of `frameBytes`, a key every `keyEvery`. */
const write = (ring: TestRing, from: number, to: number, frameBytes: number, keyEvery: number): void => {
  for (let i = from; i <= to; i += 1) {
    const flags = i % keyEvery === 0 ? KEY : 0;
    writeFrame(ring.writer, nalOf(i, frameBytes), { dts: i * 3600, arrivalMs: i * 40, flags });
  }
};

test('grows to bitrate x (GOP + 1 s) and a tenth, not by doubling', () => {
  const ring = makeRing();
  write(ring, 0, 500, 20_000, 50);
  const wantedBytes = 20_000 * 75 * 1.1;
  assert.ok(ring.writer.capacityBytes >= wantedBytes);
  assert.ok(ring.writer.capacityBytes <= wantedBytes * 1.1 + 131_072, `${ring.writer.capacityBytes}`);
  assert.equal(ring.writer.capacityBytes % 65_536, 0);
  assert.equal(readCounters(ring.writer.ring).replacements, ring.rings.length - 1);
});

test('a camera of any bitrate grows its first ring in place, and readers notice nothing', () => {
  for (const frameBytes of [1_000, 10_000, 50_000]) {
    const ring = makeRing();
    const reader = new RingReader(ring.writer.ring, { start: 'next' });
    const seeds: number[] = [];
    for (let i = 0; i < 500; i += 5) {
      write(ring, i, i + 4, frameBytes, 50);
      seeds.push(...seedsOf(reader));
    }
    assert.equal(ring.rings.length, 1);
    assert.deepEqual(seeds, range(0, 499));
  }
});

test('while it grows the newest keyframe stays readable, for whoever comes', () => {
  for (const keyEvery of [7, 50, 200]) {
    const ring = makeRing();
    for (let i = 0; i < 600; i += 1) {
      write(ring, i, i, 13_000, keyEvery);
      const reader = new RingReader(ring.writer.ring, { start: 'latest-key' });
      assert.equal(reader.next() && reader.sequence, i - (i % keyEvery));
      assert.equal(copyOf(reader)?.readInt32LE(4), i - (i % keyEvery));
    }
  }
});

test('bytes that were overwritten before the ring grew are never taken for whole, however large it becomes', () => {
  // Short GOPs first, so that it laps; then one so long that it grows, wherever in its lap it happens to be.
  for (let longFrom = 40; longFrom < 60; longFrom += 1) {
    const ring = makeRing({ dataBytes: 131_072 });
    const late: RingReader[] = [];
    let extended = 131_072;
    for (let i = 0; i < 120; i += 1) {
      write(ring, i, i, 9_000, i <= longFrom ? 2 : 1_000);
      const reader = new RingReader(ring.writer.ring, { start: 'latest-key' });
      reader.next();
      late.push(reader);
      if (ring.writer.capacityBytes === extended) continue;
      extended = ring.writer.capacityBytes;
      for (const reader of late) {
        while (reader.next()) {
          const frame = copyOf(reader);
          if (frame !== null) assert.deepEqual(frame.subarray(4), nalOf(reader.sequence, 9_000));
        }
      }
      late.length = 0;
    }
    assert.ok(extended > 131_072);
  }
});

test('a GOP that outgrows the ring is kept whole up to the maximum, then overwritten', () => {
  const ring = makeRing({ maxDataBytes: 4 * MB, maxFrameBytes: MB });
  write(ring, 0, 150, 20_000, 1_000_000);
  const reader = new RingReader(ring.writer.ring, { start: 'latest-key' });
  assert.deepEqual(seedsOf(reader), range(0, 150));
  write(ring, 151, 400, 20_000, 1_000_000);
  assert.equal(ring.writer.capacityBytes, 4 * MB);
  assert.equal(seedsOf(new RingReader(ring.writer.ring, { start: 'latest-key' })).length, 0);
  assert.ok(ring.rings.length < 8, 'few steps');
});

test('slots grow too, where frames are small and GOPs long', () => {
  const ring = makeRing({ slotCount: 16 });
  write(ring, 0, 99, 100, 1_000_000);
  assert.deepEqual(seedsOf(new RingReader(ring.writer.ring, { start: 'latest-key' })), range(0, 99));
  assert.equal(ring.writer.capacityBytes, 262_144);
  const bounded = makeRing({ slotCount: 16, maxSlotCount: 32 });
  write(bounded, 0, 99, 100, 40);
  const { replacements } = readCounters(bounded.writer.ring);
  assert.equal(replacements, 1);
  assert.deepEqual(seedsOf(new RingReader(bounded.writer.ring, { start: 'latest-key' })), range(80, 99));
});

test('a frame larger than the ring makes it grow while it is assembled', () => {
  const ring = makeRing({ dataBytes: 262_144 });
  const reader = new RingReader(ring.writer.ring, { start: 'next' });
  writeFrame(ring.writer, nalOf(1, 1000), { flags: KEY });
  ring.writer.setStreamInfo(streamInfo(3));
  writeFrame(ring.writer, nalOf(2, 3 * MB));
  reader.moveTo(ring.writer.ring);
  assert.equal(reader.next(), true);
  assert.equal(reader.next(), true);
  assert.deepEqual(copyOf(reader)?.subarray(4), nalOf(2, 3 * MB));
  assert.deepEqual(reader.streamInfo(), streamInfo(3));
});

test('readers move at any time: before, in the middle or after the old ring is drained, and lose nothing', () => {
  for (const readBefore of [0, 1, 30, 60, 1000]) {
    const ring = makeRing({ slotCount: 64 });
    const reader = new RingReader(ring.writer.ring, { start: 'next' });
    reader.subscribe();
    write(ring, 0, 45, 20_000, 50);
    assert.equal(ring.rings.length, 1);
    write(ring, 46, 70, 20_000, 50);
    assert.ok(ring.rings.length > 1);
    const seeds: number[] = [];
    while (seeds.length < readBefore && reader.next()) seeds.push(copyOf(reader)?.readInt32LE(4) ?? -1);
    assert.equal(reader.ended, false);
    reader.moveTo(ring.writer.ring);
    assert.equal(ring.writer.subscribers, 1);
    seeds.push(...seedsOf(reader));
    assert.deepEqual(seeds, range(0, 70));
    assert.equal(reader.droppedFrames, 0);
  }
});

test("a burst from the camera's memory says nothing of its bitrate", () => {
  const ring = makeRing();
  for (let i = 0; i < 100; i += 1) {
    const flags = i % 25 === 0 ? KEY : 0;
    writeFrame(ring.writer, nalOf(i, 10_000), { dts: i * 3600, arrivalMs: 1, flags });
  }
  assert.equal(ring.rings.length, 1);
});

test('sequence numbers and positions go through 2^31 and 2^32, before and after growth', () => {
  for (const firstSequence of [2 ** 31 - 20, 2 ** 32 - 20]) {
    for (const firstPosition of [2 ** 31 - 3 * MB, 2 ** 32 - 3 * MB]) {
      const ring = makeRing({ firstSequence, firstPosition, slotCount: 16 });
      const reader = new RingReader(ring.writer.ring, { start: 'next' });
      const slow = new RingReader(ring.writer.ring, { start: 'next' });
      const seeds: number[] = [];
      for (let i = 0; i < 400; i += 20) {
        write(ring, i, i + 19, 20_000, 50);
        reader.moveTo(ring.writer.ring);
        slow.moveTo(ring.writer.ring);
        seeds.push(...seedsOf(reader));
      }
      assert.deepEqual(seeds, range(0, 399));
      assert.equal(reader.droppedFrames, 0);
      assert.equal(reader.sequence, (firstSequence + 399) | 0);
      assert.deepEqual(seedsOf(slow).at(-1), 399);
      assert.equal(slow.backlogFrames, 0);
    }
  }
});

test('the frame that a reader stands at can still be copied in a ring that takes the place of this one', () => {
  const ring = makeRing({ slotCount: 16, maxSlotCount: 64 });
  const reader = new RingReader(ring.writer.ring, { start: 'next' });
  write(ring, 0, 5, 1_000, 100);
  assert.ok(reader.next() && reader.next());
  write(ring, 6, 25, 1_000, 100);
  const [, second] = ring.rings;
  assert.ok(second !== undefined && reader.moveTo(second));
  assert.equal(copyOf(reader)?.readInt32LE(4), 1);
  assert.deepEqual(seedsOf(reader), range(2, 25));
});
