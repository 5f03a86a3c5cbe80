import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RingBudget } from '../../../src/camera/fleet/ring-budget.js';
import { RingReader } from '../../../src/ring/reader.js';
import { FakeClock } from '../../support/fake-clock.js';
import { KEY, makeRing, nalOf, seedsOf, type TestRing, writeFrame } from '../../support/ring.js';

const MB = 1 << 20;

/** Cameras that film a second at a time, and the budget that looks at their rings after it. */
class Fleet {
  readonly clock = new FakeClock();
  readonly budget: RingBudget;
  readonly #cameras: { ring: TestRing; frameBytes: number; gopFrames: number; frames: number }[] = [];
  collections = 0;

  constructor(budgetBytes: number) {
    this.budget = new RingBudget(budgetBytes, {
      clock: this.clock,
      collectGarbage: () => {
        this.collections += 1;
      },
    });
  }

  add(frameBytes: number, gopFrames: number): TestRing {
    const ring = makeRing({}, undefined, this.budget.ceiling);
    this.#cameras.push({ ring, frameBytes, gopFrames, frames: 0 });
    return ring;
  }

  second(): void {
    for (const camera of this.#cameras) {
      const { writer, rings } = camera.ring;
      const known = rings.length;
      const nal = nalOf(camera.frames, camera.frameBytes);
      for (let i = 0; i < 25; i += 1) {
        nal.writeInt32LE(camera.frames);
        const atMs = camera.frames * 40;
        const flags = camera.frames % camera.gopFrames === 0 ? KEY : 0;
        writeFrame(writer, nal, { dts: atMs * 90, arrivalMs: atMs, flags });
        camera.frames += 1;
      }
      writer.trim();
      for (const ring of rings.slice(known - 1, -1)) this.budget.release(ring);
    }
    this.clock.advance(1_000);
    this.budget.round(this.#cameras.map(({ ring }) => ring.writer.ring));
  }

  get bytes(): number {
    return this.#cameras.reduce((sum, { ring }) => sum + ring.writer.ring.byteLength, 0);
  }

  set gopFrames(frames: number) {
    for (const camera of this.#cameras) camera.gopFrames = frames;
  }
}

test('eight cameras whose GOPs never end take what the budget has, and ordinary ones get all that they need', () => {
  const fleet = new Fleet(100 * MB);
  for (let camera = 0; camera < 8; camera += 1) fleet.add(100_000, Number.POSITIVE_INFINITY);
  let mostBytes = 0;
  for (let second = 0; second < 60; second += 1) {
    fleet.second();
    mostBytes = Math.max(mostBytes, fleet.bytes);
  }
  // What comes in within a second, a quarter more than which a ring grows by, may be above it.
  assert.ok(mostBytes <= 100 * MB + 8 * 2.5e6 * 1.25, `${mostBytes} bytes`);
  assert.ok(fleet.bytes <= 100 * MB && fleet.bytes > 60 * MB, `${fleet.bytes} bytes`);
  const ordinary = Array.from({ length: 6 }, () => fleet.add(20_000, 50));
  for (let second = 0; second < 20; second += 1) fleet.second();
  for (const { writer } of ordinary) {
    assert.ok(writer.capacityBytes > 20_000 * 75, `${writer.capacityBytes}`);
    const frames = seedsOf(new RingReader(writer.ring, { start: 'latest-key' }));
    assert.equal(frames[0]! % 50, 0, 'a viewer begins with the newest keyframe');
  }
  assert.ok(fleet.bytes <= 100 * MB, `${fleet.bytes} bytes`);
  const { budgetBytes, usedBytes, ceilingBytes } = fleet.budget.figures;
  assert.deepEqual([budgetBytes, usedBytes], [100 * MB, fleet.bytes]);
  assert.ok(ceilingBytes < 15 * MB);
});

test('memory comes back when long GOPs end, and the ceiling rises again', () => {
  const fleet = new Fleet(100 * MB);
  for (let camera = 0; camera < 8; camera += 1) fleet.add(50_000, 1_000);
  for (let second = 0; second < 60; second += 1) fleet.second();
  assert.ok(fleet.bytes > 60 * MB);
  fleet.gopFrames = 25;
  for (let second = 0; second < 80; second += 1) fleet.second();
  assert.ok(fleet.bytes < 8 * 4 * MB, `${fleet.bytes} bytes`);
  assert.ok(fleet.budget.figures.ceilingBytes > 15 * MB);
  assert.ok(fleet.collections > 0, 'the rings before are collected');
});

test('more cameras than the budget is for have a megabyte each all the same', () => {
  const fleet = new Fleet(16 * MB);
  const rings = Array.from({ length: 40 }, () => fleet.add(10_000, 50));
  for (let second = 0; second < 10; second += 1) fleet.second();
  for (const { writer } of rings) {
    assert.equal(writer.capacityBytes, MB);
    assert.ok(seedsOf(new RingReader(writer.ring, { start: 'latest-key' })).length > 0);
  }
});

test('threads are asked to collect when it is worthwhile, when readers have moved on, and not all the time', () => {
  const clock = new FakeClock();
  let collections = 0;
  const collect = (): void => {
    collections += 1;
  };
  const budget = new RingBudget(100 * MB, { clock, collectGarbage: collect });
  const pass = (seconds: number): number => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1_000);
      budget.round([]);
    }
    return collections;
  };
  assert.equal(pass(1000), 0, 'there is nothing to collect');
  budget.release(new SharedArrayBuffer(40 * MB));
  assert.equal(pass(1), 0, 'readers are still there');
  assert.equal(pass(2), 1);
  budget.release(new SharedArrayBuffer(40 * MB));
  assert.equal(pass(5), 1, 'it has just been done');
  assert.equal(pass(10), 2);
  budget.release(new SharedArrayBuffer(MB));
  assert.equal(pass(60), 2, 'a megabyte can wait');
  assert.equal(pass(300), 3);
  assert.equal(pass(1000), 3);
});
