import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonotonicMs } from '../../src/base/clock.js';
import { readCounters } from '../../src/ring/counters.js';
import { frameFlag } from '../../src/ring/frame-flag.js';
import { RingReader } from '../../src/ring/reader.js';
import type { RingWriter } from '../../src/ring/writer.js';
import { copyOf, KEY, makeRing, nalOf, seedsOf, stampOf, writeFrame } from '../support/ring.js';

/** A ring of fixed size that holds about ten frames of 20 KB. */
const small = { dataBytes: 262_144, maxDataBytes: 262_144, maxFrameBytes: 65_536 };
const FRAME_BYTES = 20_000;

/** Frames `from` to `to`, seeds as numbers; every tenth is a key. */
const write = (writer: RingWriter, from: number, to: number, keyEvery = 10): void => {
  for (let i = from; i <= to; i += 1) {
    writeFrame(writer, nalOf(i, FRAME_BYTES), { arrivalMs: i * 40, flags: i % keyEvery === 0 ? KEY : 0 });
  }
};

test('starts at the newest key, or waits for the next one', () => {
  const { writer } = makeRing();
  const early = new RingReader(writer.ring, { start: 'latest-key' });
  write(writer, 1, 14);
  const latest = new RingReader(writer.ring, { start: 'latest-key' });
  const next = new RingReader(writer.ring, { start: 'next' });
  assert.deepEqual(seedsOf(early), [10, 11, 12, 13, 14]);
  assert.deepEqual(seedsOf(latest), [10, 11, 12, 13, 14]);
  write(writer, 15, 21);
  assert.deepEqual(seedsOf(latest), [15, 16, 17, 18, 19, 20, 21]);
  assert.deepEqual(seedsOf(next), [20, 21]);
  for (const reader of [early, latest, next]) assert.equal(reader.droppedFrames, 0);
});

test('an overrun reader goes on at the newest key and knows exactly what it missed', () => {
  const { writer } = makeRing(small);
  const reader = new RingReader(writer.ring, { start: 'next' });
  write(writer, 0, 2);
  assert.deepEqual(seedsOf(reader), [0, 1, 2]);
  write(writer, 3, 42);
  assert.equal(reader.next(), true);
  assert.equal(copyOf(reader)!.readInt32LE(4), 40);
  assert.equal(reader.gapBefore, 37);
  assert.equal(reader.droppedFrames, 37);
  assert.deepEqual(seedsOf(reader), [41, 42]);
  assert.equal(reader.gapBefore, 0);
});

test('where even the newest key is gone, a reader waits for the next, and counts while it waits', () => {
  const { writer } = makeRing(small);
  const reader = new RingReader(writer.ring, { start: 'next' });
  write(writer, 0, 0, 100);
  assert.deepEqual(seedsOf(reader), [0]);
  write(writer, 1, 60, 100);
  assert.equal(reader.next(), false);
  assert.equal(reader.droppedFrames, 60);
  assert.equal(reader.backlogFrames, 0);
  write(writer, 61, 99, 100);
  assert.equal(reader.next(), false);
  write(writer, 100, 101, 100);
  assert.deepEqual(seedsOf(reader), [100, 101]);
  assert.equal(reader.droppedFrames, 99);
});

test('a frame that is overwritten while it is copied is not delivered', () => {
  const { writer } = makeRing(small);
  const reader = new RingReader(writer.ring, { start: 'next' });
  write(writer, 0, 1);
  reader.next();
  const held = reader.hold(null);
  assert.equal(held.isIntact(), true);
  write(writer, 2, 19);
  assert.equal(reader.copyTo(Buffer.alloc(FRAME_BYTES + 4), 0), false);
  assert.equal(reader.isIntact(), false);
  assert.equal(held.isIntact(), false);
  assert.equal(reader.droppedFrames, 1, 'counted once');
  write(writer, 20, 20);
  assert.deepEqual(seedsOf(reader), [20]);
  assert.equal(reader.droppedFrames, 20);
});

test('skipping goes to the newest key, if that is ahead', () => {
  const { writer } = makeRing({ dataBytes: 1 << 20 });
  const reader = new RingReader(writer.ring, { start: 'next' });
  assert.equal(reader.skipToLatestKey(), 0);
  write(writer, 0, 25);
  reader.next();
  reader.next();
  assert.equal(reader.skipToLatestKey(), 18);
  assert.equal(reader.skipToLatestKey(), 0);
  assert.deepEqual(seedsOf(reader), [20, 21, 22, 23, 24, 25]);
  assert.equal(reader.droppedFrames, 18);
  assert.equal(reader.skipToLatestKey(), 0);
});

test('backlog and lag are those of what is unread', () => {
  const { writer } = makeRing(small);
  const reader = new RingReader(writer.ring, { start: 'next' });
  const now = 400 as MonotonicMs;
  assert.equal(reader.lagMs(now), 0);
  write(writer, 0, 3);
  assert.equal(reader.backlogFrames, 4);
  assert.equal(reader.lagMs(now), 400);
  reader.next();
  assert.equal(reader.backlogFrames, 3);
  assert.equal(reader.lagMs(now), 360);
  seedsOf(reader);
  assert.equal(reader.lagMs(now), 0);
});

test('ends when the ring is closed and read', () => {
  const { writer } = makeRing();
  const reader = new RingReader(writer.ring, { start: 'next' });
  write(writer, 0, 2);
  reader.next();
  writer.close();
  assert.equal(reader.ended, false);
  assert.deepEqual(seedsOf(reader), [1, 2]);
  assert.equal(reader.ended, true);
  const late = new RingReader(writer.ring, { start: 'next' });
  assert.equal(late.ended, true);
});

test('goes on where the reader before it left word, in the ring that replaced its own', () => {
  const { writer } = makeRing();
  const from = (ring: SharedArrayBuffer): RingReader => new RingReader(ring, { start: 'unmarked-key' });
  write(writer, 0, 12);
  const first = from(writer.ring);
  assert.deepEqual(seedsOf(first), [10, 11, 12]);
  first.leaveMark();
  const second = from(writer.ring);
  write(writer, 13, 21);
  assert.deepEqual(seedsOf(second), [20, 21]);
  second.leaveMark();
  const before = writer.ring;
  for (let i = 22; writer.ring === before; i += 1) writeFrame(writer, nalOf(i, 900_000), { arrivalMs: i });
  const third = from(writer.ring);
  assert.deepEqual(seedsOf(third), []);
  write(writer, 1000, 1001);
  assert.deepEqual(seedsOf(third), [1000, 1001]);
  assert.deepEqual(seedsOf(from(writer.ring)), [1000, 1001], 'no word was left of these');
});

test('a small target is a fault of the caller, not a short frame', () => {
  const { writer } = makeRing();
  const reader = new RingReader(writer.ring, { start: 'next' });
  write(writer, 0, 0);
  reader.next();
  assert.throws(() => reader.copyTo(Buffer.alloc(FRAME_BYTES + 4), 1), RangeError);
});

test('a writer that takes a ring over goes on in it, and says that there was a cut', () => {
  const first = makeRing(small);
  const reader = new RingReader(first.writer.ring, { start: 'next' });
  write(first.writer, 0, 12);
  first.writer.beginNal();
  first.writer.append(nalOf(99, 60_000), 0, 60_000);
  assert.deepEqual(seedsOf(reader), [0, 10, 11, 12].slice(1));
  const second = makeRing(small, first.writer.ring);
  assert.equal(second.writer.ring, first.writer.ring);
  write(second.writer, 20, 45);
  const dropsBefore = reader.droppedFrames;
  assert.equal(reader.next(), true);
  assert.equal(copyOf(reader)!.readInt32LE(4), 40);
  assert.equal(reader.droppedFrames - dropsBefore, 20);
  write(second.writer, 46, 46);
  assert.deepEqual(seedsOf(reader), [41, 42, 43, 44, 45, 46]);
  const third = makeRing(small, first.writer.ring);
  writeFrame(third.writer, nalOf(50, 100), { flags: KEY });
  assert.equal(reader.next(), true);
  assert.equal(reader.discontinuity, true);
  assert.equal(reader.gapBefore, 0);
});

test('a writer that takes over knows where the frames of the one before it lie', () => {
  const first = makeRing(small);
  write(first.writer, 0, 3);
  const reader = new RingReader(first.writer.ring, { start: 'latest-key' });
  reader.next();
  const [held, bytes] = [reader.hold(null), copyOf(reader)];
  const second = makeRing(small, first.writer.ring);
  let kept = 0;
  for (let i = 4; held.isIntact(); i += 1) {
    const copied = Buffer.alloc(held.lengthBytes);
    held.copyTo(copied, 0);
    assert.deepEqual(copied, bytes);
    write(second.writer, i, i);
    kept += 1;
  }
  assert.ok(kept > 3 && kept < 13);
});

test("moving to another camera's ring starts anew, with a discontinuity", () => {
  const [one, two] = [makeRing(), makeRing({ firstSequence: 5000 })];
  const reader = new RingReader(one.writer.ring, { start: 'next' });
  write(one.writer, 0, 2);
  assert.deepEqual(seedsOf(reader), [0, 1, 2]);
  write(two.writer, 5, 12);
  reader.moveTo(two.writer.ring);
  assert.equal(reader.next(), true);
  assert.equal(reader.discontinuity, true);
  assert.deepEqual(seedsOf(reader), [11, 12]);
  assert.equal(reader.discontinuity, false);
  assert.equal(reader.droppedFrames, 0);
  assert.equal(frameFlag.discontinuity, 2);
});

test('sound that is there twice is read as it is sent, or as it is kept', () => {
  const { writer } = makeRing();
  const sent = new RingReader(writer.ring, { start: 'next' });
  const kept = new RingReader(writer.ring, { start: 'next', sound: 'kept' });
  const write = (seed: number, flags: number): void =>
    writer.writeAudio(nalOf(seed, 8), 0, 8, stampOf({ ptsTicks: seed, flags }));
  writeFrame(writer, nalOf(1, 50), { flags: KEY });
  write(2, frameFlag.sentOnly);
  write(3, frameFlag.sentOnly);
  write(4, frameFlag.keptOnly);
  writeFrame(writer, nalOf(5, 50));
  write(6, frameFlag.keptOnly);
  write(7, 0);
  write(8, frameFlag.sentOnly);
  const read = (reader: RingReader): number[] => {
    const seeds: number[] = [];
    while (reader.next()) seeds.push(copyOf(reader)!.readInt32LE(reader.isVideo ? 4 : 0));
    return seeds;
  };
  assert.deepEqual(read(sent), [1, 2, 3, 5, 7, 8]);
  assert.deepEqual(read(kept), [1, 4, 5, 6, 7]);
  assert.deepEqual([sent.droppedFrames, kept.droppedFrames], [0, 0]);
  assert.deepEqual([sent.backlogFrames, kept.backlogFrames], [0, 0]);
  assert.equal(readCounters(writer.ring).audioFrames, 4, 'the camera sent four');
  writer.close();
  assert.deepEqual([sent.ended, kept.ended], [true, true]);
});
