import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs, Ticks, WallMs } from '../../src/base/clock.js';
import { WallClock } from '../../src/rtp/wall-clock.js';
import { seededRandom } from '../support/seeded-random.js';

const MINUTE_MS = 60_000;
const EPOCH_MS = 1_800_000_000_000;

const ticks = (mediaMs: number): Ticks => (mediaMs * 90) as Ticks;
const wall = (value: number): WallMs => (EPOCH_MS + value) as WallMs;

const create = (): {
  clock: WallClock;
  frame: (mediaMs: number, hostMs: number, setByMs?: number) => number;
  /** What the camera's clock says at a moment of its media time. */
  report: (mediaMs: number, cameraMs: number, hostMs: number, setByMs?: number) => void;
} => {
  const clock = new WallClock({ clockRateHz: 90_000 });
  return {
    clock,
    frame: (mediaMs, hostMs, setByMs = 0) => {
      clock.onFrame(ticks(mediaMs), hostMs as MonotonicMs, wall(hostMs + setByMs));
      return clock.wallMsAt(ticks(mediaMs)) - EPOCH_MS;
    },
    report: (mediaMs, cameraMs, hostMs, setByMs = 0) =>
      clock.onSenderReport(ticks(mediaMs), wall(cameraMs), hostMs as MonotonicMs, wall(hostMs + setByMs)),
  };
};

describe('media time to wall time', () => {
  test('by arrival: jitter is filtered out, the least delay counts', () => {
    const { frame } = create();
    let last = 0;
    for (let i = 0; i < 1000; i += 1) last = frame(i * 40, i * 40 + 1000 + (i % 7) * 10);
    assert.ok(Math.abs(last - (999 * 40 + 1000)) < 1, `${last}`);
  });

  test('the least delay of the window before still counts when a new one begins', () => {
    const { frame } = create();
    for (let i = 0; i < 3000; i += 1) {
      // Only one frame in 20 s comes without delay.
      const at = frame(i * 40, i * 40 + (i % 500 === 0 ? 0 : 300));
      assert.ok(i < 500 || Math.abs(at - i * 40) < 1, `frame ${i}: ${at - i * 40}`);
    }
  });

  test('a burst at the start is worked off by running slow, never by stepping back', () => {
    const { clock, frame } = create();
    let last = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < 600; i += 1) {
      // Four seconds of stored frames come at once, then live ones.
      const at = frame(i * 40, Math.max(0, i * 40 - 4000));
      assert.ok(at > last);
      last = at;
    }
    assert.ok(Math.abs(last - (599 * 40 - 4000)) < 1);
    assert.equal(clock.steps, 0);
  });

  test('by sender reports while they are sane, by arrival when they are not', () => {
    const { clock, frame, report } = create();
    frame(0, 500);
    report(0, -300, 500);
    assert.equal(clock.isFromSender, true);
    let last = 0;
    for (let i = 1; i < 500; i += 1) last = frame(i * 40, i * 40 + 500);
    assert.ok(Math.abs(last - (499 * 40 - 300)) < 1);
    // The camera has lost its time: 1970.
    report(20_000, -EPOCH_MS, 20_500);
    assert.equal(clock.isFromSender, false);
    for (let i = 500; i < 6000; i += 1) last = frame(i * 40, i * 40 + 500);
    assert.ok(Math.abs(last - (5999 * 40 + 500)) < 1);
    assert.equal(clock.steps, 0);
  });

  test('follows a camera whose clock drifts', () => {
    const { frame } = create();
    let last = 0;
    // 100 ppm, an hour: 360 ms.
    for (let i = 0; i < 90_000; i += 1) last = frame(i * 40, i * 40 * 1.0001);
    assert.ok(Math.abs(last - 89_999 * 40 * 1.0001) < 10);
  });

  test('a clock of the host that was set is followed at once, whichever way, and counted', () => {
    for (const setByMs of [-3_600_000, 3_600_000, 20_000]) {
      const { clock, frame } = create();
      for (let i = 0; i < 1000; i += 1) frame(i * 40, i * 40 + (i % 7) * 10);
      const at = frame(40_000, 40_000, setByMs);
      assert.ok(Math.abs(at - (40_000 + setByMs)) < 100, `${at - 40_000} ms after ${setByMs}`);
      for (let i = 1001; i < 4000; i += 1) frame(i * 40, i * 40 + (i % 7) * 10, setByMs);
      assert.equal(clock.steps, 1);
    }
  });

  test('a clock that is set in many pieces is followed too', () => {
    for (const [pieces, byMs] of [
      [10, 10_000],
      [6, -14_000],
      [600, 1_000],
    ] as const) {
      const { clock, frame } = create();
      let off = 0;
      for (let i = 0; i < 40_000; i += 1) {
        const setByMs = Math.max(0, Math.min(pieces, Math.floor((i - 1_000) / 25))) * byMs;
        off = frame(i * 40, i * 40 + (i % 7) * 10, setByMs) - (i * 40 + setByMs);
      }
      assert.ok(Math.abs(off) < 1_100, `${off} ms after ${pieces} times ${byMs}`);
      assert.ok(clock.steps >= 1);
    }
  });

  test('a clock that was set by little, and was followed, lets wall time step for nothing else', () => {
    const { clock, frame } = create();
    const setByMs = (i: number): number => (i < 3_000 ? 0 : 10_000) + (i < 13_000 ? 0 : 6_000);
    for (let i = 0; i < 20_000; i += 1) frame(i * 40, i * 40, setByMs(i));
    // 18 s ahead at once, as media time may be.
    for (let i = 20_000; i < 23_000; i += 1) frame(i * 40 + 18_000, i * 40, setByMs(i));
    assert.equal(clock.steps, 0);
  });

  test('a clock that was set, and is followed by what the camera reports, lets wall time step for nothing else', () => {
    const { clock, frame, report } = create();
    let last = Number.NEGATIVE_INFINITY;
    for (let atMs = 0; atMs < 30 * MINUTE_MS; atMs += 40) {
      const setByMs = atMs < 10 * MINUTE_MS ? 8_000 : -8_000;
      // In four seconds media time is twenty ahead; it comes back by 5 %.
      const runMs = atMs - 20 * MINUTE_MS;
      const aheadMs =
        runMs < 0 ? 0 : runMs < 4_000 ? runMs * 5 : Math.max(0, 20_000 - (runMs - 4_000) * 0.05);
      const mediaMs = atMs + aheadMs;
      if (atMs % 5_000 === 0) report(mediaMs, atMs, atMs, setByMs);
      const wallMs = frame(mediaMs, atMs, setByMs);
      assert.ok(wallMs > last);
      last = wallMs;
    }
    assert.equal(clock.steps, 0);
  });

  test('a clock that was set by more than a camera is believed is followed at once', () => {
    const { clock, frame, report } = create();
    let last = 0;
    for (let atMs = 0; atMs < 20 * MINUTE_MS; atMs += 40) {
      const setByMs = atMs < 10 * MINUTE_MS ? 0 : -60_000;
      if (atMs % 5_000 === 2_000) report(atMs, atMs, atMs, setByMs);
      last = frame(atMs, atMs, setByMs);
      if (atMs > 10 * MINUTE_MS + 6_000) assert.ok(Math.abs(last - (atMs + setByMs)) < 1_100);
    }
    assert.equal(clock.steps, 1);
  });

  test('so is one that was set twice, by which the camera was still believed the first time', () => {
    for (const byMs of [9_000, -9_000]) {
      const { clock, frame, report } = create();
      for (let atMs = 0; atMs < 20 * MINUTE_MS; atMs += 40) {
        const setByMs = atMs < 5 * MINUTE_MS ? 0 : atMs < 10 * MINUTE_MS ? byMs : 2 * byMs;
        if (atMs % 5_000 === 2_000) report(atMs, atMs, atMs, setByMs);
        const off = frame(atMs, atMs, setByMs) - (atMs + setByMs);
        if (atMs > 10 * MINUTE_MS + 6_000) assert.ok(Math.abs(off) < 1_100, `${off} ms at ${atMs}`);
      }
      assert.equal(clock.steps, 1);
    }
  });

  test('one that was set twice, and is followed to where it is in the end', () => {
    const { frame, report } = create();
    for (let atMs = 0; atMs < 20 * MINUTE_MS; atMs += 40) {
      const setByMs = (atMs < 5 * MINUTE_MS ? 0 : 20_000) + (atMs < 5 * MINUTE_MS + 3_000 ? 0 : 3_600_000);
      // Its camera, five seconds fast, follows the host, the second time not at once.
      const isSet = atMs > 5 * MINUTE_MS + 1_000;
      const cameraMs = atMs + 5_000 + (isSet ? 20_000 : 0) + (atMs < 5 * MINUTE_MS + 20_000 ? 0 : 3_600_000);
      if (atMs % 5_000 === 2_000) report(atMs, cameraMs, atMs, setByMs);
      const off = frame(atMs, atMs, setByMs) - (atMs + setByMs);
      if (atMs > 6 * MINUTE_MS) assert.ok(Math.abs(off) < 10_000, `${off} ms at ${atMs}`);
    }
  });

  test('one that was set as its camera was, which is far off but believed', () => {
    const { frame, report } = create();
    for (let atMs = 0; atMs < 10 * MINUTE_MS; atMs += 40) {
      const setByMs = atMs < 5 * MINUTE_MS ? 0 : 24_000;
      const cameraMs = atMs + 9_000 + (atMs < 5 * MINUTE_MS + 3_000 ? 0 : 24_000);
      if (atMs % 5_000 === 1_000) report(atMs, cameraMs, atMs, setByMs);
      const off = frame(atMs, atMs, setByMs) - (atMs + setByMs);
      if (atMs > 5 * MINUTE_MS + 10_000) assert.ok(Math.abs(off) < 11_000, `${off} ms at ${atMs}`);
    }
  });

  test('one that was set as its camera was, which had told of itself but once', () => {
    const { clock, frame, report } = create();
    for (let atMs = 0; atMs < 10 * MINUTE_MS; atMs += 40) {
      const setByMs = atMs < 4 * MINUTE_MS ? 0 : -14_000;
      if (atMs === 0) report(0, 5_000, 0);
      const off = frame(atMs, atMs, setByMs) - (atMs + setByMs);
      if (atMs > 4 * MINUTE_MS + 1_000) assert.ok(Math.abs(off) < 1_100, `${off} ms at ${atMs}`);
    }
    assert.equal(clock.steps, 1);
  });

  test('a clock that is set back while it still is followed ahead', () => {
    for (const [firstMs, afterMs, secondMs] of [
      [12_000, 195_000, -24_000],
      [14_900, 270_000, -29_800],
      [-12_000, 195_000, 24_000],
    ] as const) {
      const { clock, frame } = create();
      for (let atMs = 0; atMs < 15 * MINUTE_MS; atMs += 40) {
        const isSetBack = atMs >= 2 * MINUTE_MS + afterMs;
        const setByMs = (atMs < 2 * MINUTE_MS ? 0 : firstMs) + (isSetBack ? secondMs : 0);
        const off = frame(atMs, atMs, setByMs) - (atMs + setByMs);
        assert.ok(Math.abs(off) < 15_100, `${off} ms at ${atMs}`);
      }
      assert.equal(clock.steps, 1);
    }
  });

  test('one that is set while wall time still is on its way to that of a camera that is far off', () => {
    const { frame, report } = create();
    for (let atMs = 0; atMs < 5 * MINUTE_MS; atMs += 40) {
      const setByMs = atMs < 20_000 ? 0 : 14_000;
      const cameraMs = atMs - 9_000;
      if (atMs % 60_000 === 1_000) report(atMs, cameraMs, atMs, setByMs);
      const off = frame(atMs, atMs, setByMs) - (atMs + setByMs);
      assert.ok(Math.abs(off) < 15_100, `${off} ms at ${atMs}`);
    }
  });

  test('one that was set twice at once, of which its camera, still believed, followed but the first', () => {
    const { clock, frame, report } = create();
    for (let atMs = 0; atMs < 10 * MINUTE_MS; atMs += 40) {
      const firstMs = atMs < 57_000 ? 0 : -11_600;
      const setByMs = firstMs + (atMs < 62_000 ? 0 : -12_300);
      if (atMs % 5_000 === 0) report(atMs, atMs + firstMs - 4_600, atMs, setByMs);
      const off = frame(atMs, atMs, setByMs) - (atMs + setByMs);
      assert.ok(Math.abs(off) < 15_100, `${off} ms at ${atMs}`);
    }
    assert.equal(clock.steps, 1);
  });

  test('one that was set past its camera, which is believed still, lets wall time step once', () => {
    const { clock, frame, report } = create();
    for (let atMs = 0; atMs < 10 * MINUTE_MS; atMs += 40) {
      const setByMs = atMs < 241_000 ? 0 : -18_000;
      // A moment later media time is ten seconds ahead.
      const runMs = atMs - 243_000;
      const aheadMs = runMs < 0 ? 0 : runMs < 2_000 ? runMs * 5 : Math.max(0, 10_100 - runMs * 0.05);
      if (atMs === 2_000) report(atMs, atMs - 9_000, atMs);
      frame(atMs + aheadMs, atMs, setByMs);
    }
    assert.ok(clock.steps <= 1, `${clock.steps} steps`);
  });

  test('one that was set alike with its camera, which says so before its next frame', () => {
    const { clock, frame, report } = create();
    for (let atMs = 0; atMs < 5 * MINUTE_MS; atMs += 40) {
      const setByMs = atMs < 2 * MINUTE_MS ? 0 : 14_000;
      const cameraMs = atMs + setByMs + 2_000;
      if (atMs % 60_000 === 0) report(atMs, cameraMs, atMs, setByMs);
      frame(atMs, atMs, setByMs);
      assert.ok(clock.isFromSender, `at ${atMs}`);
    }
  });

  test('a camera that is hardly near enough is believed, or is not, but not by turns', () => {
    const { clock, frame, report } = create();
    let [turns, isBelieved] = [0, true];
    for (let atMs = 0; atMs < 60 * MINUTE_MS; atMs += 40) {
      // It runs away, by a millisecond each second, and back; reports take a while more, or less.
      const apartMs = 10_800 - Math.abs(atMs - 30 * MINUTE_MS) / 1_000 + (atMs % 7) * 40;
      if (atMs % 5_000 === 0) report(atMs, atMs + apartMs, atMs);
      frame(atMs, atMs);
      if (clock.isFromSender !== isBelieved) turns += 1;
      isBelieved = clock.isFromSender;
    }
    assert.equal(turns, 1);
  });

  test('of a clock that was not set nothing adds up, however late frames are handled', () => {
    const random = seededRandom(1);
    const { clock, frame, report } = create();
    const hours = 30;
    for (let second = 0; second < hours * 3_600; second += 1) {
      const atMs = second * 1_000;
      const cameraMs = atMs + (second % 10 === 0 ? 3_000 : -3_000);
      if (second % 5 === 0) report(atMs, cameraMs, atMs);
      frame(atMs, atMs, random() * 450);
    }
    // 18 s ahead at once, as media time may be.
    for (let second = hours * 3_600; second < hours * 3_600 + 60; second += 1)
      frame(second * 1_000 + 18_000, second * 1_000, random() * 450);
    assert.equal(clock.steps, 0);
  });

  test('a first frame that was handled late counts no longer than until the next', () => {
    const { clock, frame } = create();
    for (let i = 0; i < 3_000; i += 1) {
      const off = frame(i * 40, i * 40, [900, 450][i] ?? 0) - i * 40;
      if (i > 250) assert.ok(Math.abs(off) < 5, `frame ${i}: ${off} ms`);
    }
    assert.equal(clock.steps, 0);
  });

  test('how late frames are handled moves nothing: the least delay counts', () => {
    for (const lateMs of [
      (i: number) => (i * 37) % 100,
      (i: number) => (i % 25 === 0 ? 0 : 400),
      // A thread that stood still hands out what came meanwhile at once.
      (i: number) => (i % 250 < 25 ? (i % 250) * 40 : 0),
    ]) {
      const { clock, frame } = create();
      for (let i = 0; i < 10_000; i += 1) {
        const off = frame(i * 40, i * 40, lateMs(i)) - i * 40;
        if (i > 2_000) assert.ok(Math.abs(off) < 5, `frame ${i}: ${off} ms`);
      }
      assert.equal(clock.steps, 0);
    }
  });

  test('a clock that is set bit by bit is followed as it goes', () => {
    for (const ppm of [-500, 500]) {
      const { frame } = create();
      for (let i = 0; i < 100_000; i += 1) {
        const setByMs = (i * 40 * ppm) / 1e6;
        const off = frame(i * 40, i * 40, setByMs) - i * 40 - setByMs;
        assert.ok(Math.abs(off) < 40, `frame ${i}: ${off} ms`);
      }
    }
  });

  test('where media time ran ahead, and goes back, wall time goes along, and never steps', () => {
    const { clock, frame } = create();
    let [mediaMs, last, off] = [0, 0, 0];
    for (let atMs = 0; atMs < 20 * 60_000; atMs += 40) {
      // In four seconds it is twenty ahead; it comes back by 5 %.
      const isRunningAway = atMs >= 120_000 && atMs < 124_000;
      const aheadMs = mediaMs - atMs;
      mediaMs += isRunningAway ? 240 : 40 - (aheadMs > 0 ? 2 : 0);
      const wallMs = frame(mediaMs, atMs + 40);
      assert.ok(wallMs > last);
      last = wallMs;
      if (atMs > 11 * 60_000) off = Math.max(off, Math.abs(wallMs - (atMs + 40)));
    }
    assert.equal(clock.steps, 0);
    assert.ok(off < 1_100, `${off} ms`);
  });

  test('starts over after an interruption', () => {
    const { clock, frame } = create();
    frame(0, 0);
    clock.restart();
    assert.equal(frame(10_000, 70_000), 70_000);
    assert.equal(clock.steps, 0);
  });

  test('wall times grow with pts, whatever the arrival, unless the clock had to step', () => {
    const arrivals = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 500 }), fc.nat({ max: 5_000 }), fc.boolean()),
      {
        minLength: 2,
        maxLength: 200,
      },
    );
    fc.assert(
      fc.property(arrivals, (list) => {
        const { clock, frame, report } = create();
        let mediaMs = 0;
        let last = Number.NEGATIVE_INFINITY;
        for (const [stepMs, delayMs, isReport] of list) {
          mediaMs += stepMs;
          if (isReport) report(mediaMs, mediaMs + delayMs, mediaMs);
          const at = frame(mediaMs, mediaMs + delayMs);
          assert.ok(at > last);
          last = at;
        }
        assert.equal(clock.steps, 0);
      }),
    );
  });
});
