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
  stampOf,
  type TestRing,
  writeFrame,
} from '../support/ring.js';

const MB = 1 << 20;
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** 25 frames a second of `frameBytes`. */
class Filming {
  readonly ring: TestRing;
  readonly #frameBytes: number;
  #next = 0;

  constructor(ring: TestRing, frameBytes: number) {
    this.ring = ring;
    this.#frameBytes = frameBytes;
  }

  get written(): number {
    return this.#next;
  }

  get capacityBytes(): number {
    return this.ring.writer.capacityBytes;
  }

  gop(frames: number, onFrame: () => void = () => {}): void {
    for (let i = 0; i < frames; i += 1) {
      const seed = this.#next++;
      const flags = i === 0 ? KEY : 0;
      writeFrame(this.ring.writer, nalOf(seed, this.#frameBytes), {
        dts: seed * 3600,
        arrivalMs: seed * 40,
        flags,
      });
      onFrame();
    }
  }
}

/** Reads what there is, in the ring that is the present one. */
const follow = (ring: TestRing, reader: RingReader, seeds: number[]): void => {
  reader.moveTo(ring.writer.ring);
  seeds.push(...seedsOf(reader));
};

test('a ring shrinks after half a minute of GOPs that want less than half of it; no reader loses a frame', () => {
  const filming = new Filming(makeRing(), 10_000);
  const { ring } = filming;
  filming.gop(1500);
  assert.ok(filming.capacityBytes > 15e6);
  filming.gop(50);
  const prompt = new RingReader(ring.writer.ring, { start: 'next' });
  const late = new RingReader(ring.writer.ring, { start: 'next' });
  const seen: number[] = [];
  const seenLate: number[] = [];
  const from = filming.written;
  for (let gop = 0; gop < 20; gop += 1) {
    // One of them follows with every frame, the other with every second GOP's last but one.
    filming.gop(50, () => {
      follow(ring, prompt, seen);
      if (filming.written % 50 === 49) follow(ring, late, seenLate);
    });
  }
  assert.ok(filming.capacityBytes < 1.1 * 75 * 10_000 + 3 * 65_536, `${filming.capacityBytes}`);
  assert.equal(ring.writer.ring.byteLength < 2 * MB, true);
  assert.deepEqual(seen, range(from, filming.written - 1));
  assert.deepEqual(seenLate, range(from, filming.written - 2));
  assert.equal(prompt.droppedFrames + late.droppedFrames, 0);
});

test('a ring whose GOPs vary stays as large as the largest of them want it', () => {
  const filming = new Filming(makeRing(), 10_000);
  filming.gop(500);
  const grownBytes = filming.capacityBytes;
  for (let gop = 0; gop < 100; gop += 1) filming.gop(gop % 7 === 0 ? 500 : 50);
  assert.ok(filming.capacityBytes >= grownBytes);
  assert.ok(filming.ring.rings.length < 4, `${filming.ring.rings.length} rings`);
});

test('a small ring is not worth it', () => {
  const filming = new Filming(makeRing(), 2_000);
  filming.gop(250);
  const grownBytes = filming.capacityBytes;
  for (let gop = 0; gop < 100; gop += 1) filming.gop(25);
  assert.equal(filming.capacityBytes, grownBytes);
  assert.equal(filming.ring.rings.length, 1);
});

test('a GOP that outgrows the ceiling: who keeps up sees every frame, who comes waits for the next keyframe', () => {
  const filming = new Filming(makeRing({}, undefined, { bytes: 2 * MB }), 10_000);
  const { ring } = filming;
  const reader = new RingReader(ring.writer.ring, { start: 'next' });
  const seen: number[] = [];
  filming.gop(1000, () => follow(ring, reader, seen));
  assert.equal(filming.capacityBytes, 2 * MB);
  assert.deepEqual(seen, range(0, 999));
  const late = new RingReader(ring.writer.ring, { start: 'latest-key' });
  assert.equal(late.next(), false);
  filming.gop(10);
  late.moveTo(ring.writer.ring);
  assert.deepEqual(seedsOf(late), range(1000, 1009));
  const { cutGops, wantedBytes } = readCounters(ring.writer.ring);
  assert.equal(cutGops, 1);
  assert.ok(wantedBytes > 10 * MB, 'whoever holds the budget knows what it wants');
  assert.ok(ring.rings.length < 4);
});

test('a GOP that was given up is not made room for when the ceiling rises, but the next one is', () => {
  const ceiling = { bytes: MB };
  const filming = new Filming(makeRing({}, undefined, ceiling), 10_000);
  filming.gop(200);
  ceiling.bytes = 64 * MB;
  const { rings } = filming.ring;
  const before = rings.length;
  filming.gop(0);
  for (let i = 0; i < 100; i += 1) {
    writeFrame(filming.ring.writer, nalOf(i, 10_000), { dts: (200 + i) * 3600, arrivalMs: (200 + i) * 40 });
  }
  assert.deepEqual([rings.length, filming.capacityBytes], [before, MB]);
  filming.gop(600);
  const late = new RingReader(filming.ring.writer.ring, { start: 'latest-key' });
  assert.equal(seedsOf(late).length, 600);
});

test('a frame that is larger than the ring may be is refused; the next keyframe is whole', () => {
  const { writer } = makeRing({}, undefined, { bytes: MB });
  writeFrame(writer, nalOf(1, 50_000), { flags: KEY });
  assert.equal(writeFrame(writer, nalOf(2, MB), { arrivalMs: 40 }), false);
  const reader = new RingReader(writer.ring, { start: 'latest-key' });
  assert.equal(reader.next(), false, 'its bytes came to where the keyframe was');
  for (const seed of [3, 4]) writeFrame(writer, nalOf(seed, 50_000), { arrivalMs: seed * 40, flags: KEY });
  assert.deepEqual(seedsOf(reader), [4]);
  assert.equal(readCounters(writer.ring).videoFrames, 3);
});

test('when the ceiling falls the next tick gives back what is above it; who keeps up loses nothing', () => {
  const ceiling = { bytes: 64 * MB };
  const filming = new Filming(makeRing({}, undefined, ceiling), 10_000);
  const { ring } = filming;
  const reader = new RingReader(ring.writer.ring, { start: 'next' });
  const seen: number[] = [];
  filming.gop(1500, () => follow(ring, reader, seen));
  ceiling.bytes = 4 * MB;
  // A frame is open.
  ring.writer.beginNal();
  ring.writer.append(nalOf(1500, 5_000), 0, 2_000);
  ring.writer.trim();
  assert.equal(filming.capacityBytes, 4 * MB);
  ring.writer.append(nalOf(1500, 5_000), 2_000, 5_000);
  ring.writer.commitVideo(stampOf({ ptsTicks: 1500 * 3600, arrivalMs: 60_000 }));
  follow(ring, reader, seen);
  assert.deepEqual(seen, range(0, 1500));
  const behind = new RingReader(ring.rings[0]!, { start: 'latest-key' });
  assert.ok(behind.next() && copyOf(behind) !== null, 'the old ring can be read until its reader has moved');
  assert.equal(behind.moveTo(ring.writer.ring), true);
  assert.equal(behind.next(), false, 'its next frame is gone, and so is the keyframe');
  filming.gop(10);
  assert.equal(behind.next() && behind.isKey, true);
  const replaced = ring.rings.length;
  ceiling.bytes = 4 * MB * 0.95;
  ring.writer.trim();
  assert.equal(ring.rings.length, replaced, 'a little too large is not worth a copy');
});

test('a writer that takes over a ring that is too large gives back, too', () => {
  const filming = new Filming(makeRing(), 10_000);
  filming.gop(1500);
  const next = makeRing({}, filming.ring.writer.ring, { bytes: 2 * MB });
  next.writer.trim();
  assert.equal(next.writer.capacityBytes, 2 * MB);
  writeFrame(next.writer, nalOf(7, 1000), { flags: KEY });
  assert.deepEqual(seedsOf(new RingReader(next.writer.ring, { start: 'latest-key' })), [7]);
});
