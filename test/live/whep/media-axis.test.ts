import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonotonicMs, Ticks, WallMs } from '../../../src/base/clock.js';
import { MediaAxis } from '../../../src/live/whep/packets/media-axis.js';
import { TICKS_PER_FRAME } from './harness.js';

/** Places frames whose numbers are given, at 25 a second. */
const axisOf = (numbers: Iterable<number>): MediaAxis => {
  const axis = new MediaAxis();
  let arrivalMs = 0;
  for (const number of numbers) {
    arrivalMs += 40;
    axis.placeVideo({
      ptsTicks: (number * TICKS_PER_FRAME) as Ticks,
      arrivalMs: arrivalMs as MonotonicMs,
      wallMs: arrivalMs as WallMs,
      discontinuity: false,
    });
  }
  return axis;
};

/** The numbers of a camera that sends them in order, and whose clock is set back by two frames each so often. */
function* nudged(everyFrames: number, times: number): Generator<number> {
  for (let frame = 0; frame < everyFrames * times; frame += 1)
    yield frame - 2 * Math.floor(frame / everyFrames);
}

/** Three frames in order, then one that belongs before the last. */
function* withBFrames(frames: number): Generator<number> {
  for (let frame = 0; frame < frames; frame += 1) yield frame + ([0, 0, 1, -1][frame % 4] ?? 0);
}

test('B-frames are known by the second, and a clock that is set back now and then is none', () => {
  assert.equal(axisOf(withBFrames(40)).isReordered, true);
  assert.equal(axisOf(nudged(1_500, 20)).isReordered, false);
});
