import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MonotonicMs } from '../../src/base/clock.js';
import { TimeAxis } from '../../src/rtp/timeline.js';

const MINUTE_MS = 60_000;

describe('a clock of which a grossly wrong rate was found', () => {
  /** How far the picture is ahead of its arrival, and which of its frames are flagged, from 40 minutes on. */
  const watch = (fps: number, stampMs: (atMs: number, index: number) => number) => {
    const track = new TimeAxis(0 as MonotonicMs).addTrack({ clockRateHz: 90_000, isOrdered: false });
    let [most, least, flags] = [0, 0, 0];
    for (let index = 0; (index * 1_000) / fps < 60 * MINUTE_MS; index += 1) {
      const atMs = (index * 1_000) / fps;
      const stamp = stampMs(atMs, index);
      if (Number.isNaN(stamp)) continue;
      const aheadMs = track.place(Math.round(stamp * 90) >>> 0, atMs as MonotonicMs) / 90 - atMs;
      if (atMs < 40 * MINUTE_MS) continue;
      [most, least] = [Math.max(most, aheadMs), Math.min(least, aheadMs)];
      if (track.discontinuity) flags += 1;
    }
    return { most, least, flags };
  };

  for (const fps of [1, 2, 5, 8])
    for (const nudgeMs of [-1_900, -500, 2_900, 5_000, 9_900])
      test(`${fps} pictures a second, stamped as 25, by a clock that is nudged by ${nudgeMs} ms`, () => {
        const { most, least, flags } = watch(
          fps,
          (atMs, index) => index * 40 + (atMs < 45 * MINUTE_MS ? 0 : nudgeMs),
        );
        assert.ok(most < 11_000 && least > -3_500, `${least} to ${most} ms ahead`);
        assert.ok(flags <= 1);
      });

  for (const [name, fps, stampMs] of [
    ['counts milliseconds', 25, (atMs) => atMs / 90],
    ['counts pictures', 25, (_, index) => index / 90],
    ['counts pictures, one a second', 1, (_, index) => index / 90],
    ['is 40 times too slow', 25, (atMs) => atMs / 40],
  ] as [string, number, (atMs: number, index: number) => number][])
    test(`that ${name}: it is where it comes`, () => {
      const { most, least, flags } = watch(fps, stampMs);
      assert.ok(most < 100 && least > -100, `${least} to ${most} ms ahead`);
      assert.equal(flags, 0);
    });

  for (const [speed, lostMs] of [
    [5, 3_000],
    [8, 1_500],
    [25, 600],
  ] as const)
    test(`${speed} times too fast: what is lost for ${lostMs} ms now and then is no jump`, () => {
      const { flags } = watch(25, (atMs) => (atMs % MINUTE_MS < lostMs ? Number.NaN : atMs * speed));
      assert.equal(flags, 0);
    });
});

describe('a rate that no longer is one', () => {
  /** What each picture is stamped as, and when it comes. */
  type Stamp = readonly [atMs: number, stampMs: number];

  const watch = (pictures: Iterable<Stamp>, fromMs = 0) => {
    const track = new TimeAxis(0 as MonotonicMs).addTrack({ clockRateHz: 90_000, isOrdered: false });
    const seen = { most: 0, least: 0, flags: 0, lastMs: 0 };
    for (const [atMs, stampMs] of pictures) {
      seen.lastMs = track.place(Math.round(stampMs * 90) >>> 0, atMs as MonotonicMs) / 90 - atMs;
      if (atMs < fromMs) continue;
      [seen.most, seen.least] = [Math.max(seen.most, seen.lastMs), Math.min(seen.least, seen.lastMs)];
      if (track.discontinuity) seen.flags += 1;
    }
    return { ...seen, text: JSON.stringify(seen) };
  };

  /** Parts of so many pictures a second, stamped as so far apart. */
  function* inParts(
    ...parts: (readonly [seconds: number, fps: number, stampMs: number])[]
  ): Generator<Stamp> {
    let [atMs, stampMs] = [0, 0];
    for (const [seconds, fps, stepMs] of parts)
      for (let left = seconds * fps; left > 0; left -= 1) {
        yield [atMs, stampMs];
        atMs += 1_000 / fps;
        stampMs += stepMs;
      }
  }

  for (const [name, parts] of [
    [
      'one a second as 25, then stamped as it is',
      [
        [120, 25, 40],
        [600, 1, 40],
        [1_800, 1, 1_000],
      ],
    ],
    [
      'two a second as 50, then stamped as it is',
      [
        [120, 25, 40],
        [600, 2, 20],
        [1_800, 2, 500],
      ],
    ],
    [
      'a clock that creeps for six seconds',
      [
        [120, 25, 40],
        [6, 25, 0.1],
        [600, 25, 40],
      ],
    ],
    [
      'a clock that counts pictures for a minute',
      [
        [120, 25, 40],
        [60, 25, 1 / 90],
        [600, 25, 40],
      ],
    ],
    [
      'a slow second hand',
      [
        [120, 1, 1_000],
        [15, 1, 10],
        [600, 1, 1_000],
      ],
    ],
  ] as [string, [number, number, number][]][])
    test(`${name}: one jump at most, and time is where it comes`, () => {
      const { flags, most, lastMs, text } = watch(inParts(...parts));
      assert.ok(flags <= 2 && most < 5_000 && Math.abs(lastMs) < 1_000, text);
    });

  test('each picture as two frames of one timestamp, one a second as 25, then as it is: no jump after the other', () => {
    const pictures = [...inParts([120, 25, 40], [600, 1, 40], [600, 1, 1_000])];
    const halves = pictures.flatMap(([atMs, stampMs]): Stamp[] => [
      [atMs, stampMs],
      [atMs + 5, stampMs],
    ]);
    const { flags, lastMs, text } = watch(halves);
    assert.ok(flags <= 2 && Math.abs(lastMs) < 1_000, text);
  });

  test('one wild timestamp now and then takes no rate away that is right', () => {
    for (const [fps, stampMs] of [
      [8, 40],
      [25, 1_000],
    ] as const) {
      const pictures = [...inParts([3_600, fps, stampMs])].map(
        ([atMs, ms], at): Stamp => [atMs, at > 1_800 * fps && at % (300 * fps) === 0 ? ms + 3_600_000 : ms],
      );
      const { most, least, flags, text } = watch(pictures, 1_800_000);
      assert.ok(flags <= 10 && most < 1_000 && least > -1_000, text);
    }
  });

  test('one timestamp that is off by little, at a rate that was found, holds no picture back', () => {
    for (const [fps, stampMs] of [
      [0.5, 40],
      [1, 40],
      [1, 20],
      [2, 40],
      [8, 40],
      [25, 1 / 90],
    ] as const)
      for (const wildMs of [300, 500, 1_000, 1_900, 5_000, -3_000, -5_000, -9_000]) {
        let isDone = false;
        const pictures = [...inParts([120, 25, 40], [1_800, fps, stampMs])].map(([atMs, ms]): Stamp => {
          const isWild = !isDone && atMs >= 900_000;
          isDone ||= isWild;
          return [atMs, isWild ? ms + wildMs : ms];
        });
        const { most, least, lastMs, flags, text } = watch(pictures, 890_000);
        const isWell = most < 10_000 && least > -3_500 && Math.abs(lastMs) < 50 && flags <= 2;
        assert.ok(isWell, `${fps} as ${stampMs}, ${wildMs}: ${text}`);
        // There and back: what was found stays.
        if (flags === 2) assert.ok(most < 100 && least > -100, `${fps} as ${stampMs}, ${wildMs}: ${text}`);
      }
  });

  test('a clock of milliseconds that is set right amid B-frames: jumps are few, and time is where it comes', () => {
    for (const fps of [10, 12, 15, 25]) {
      const pictures = [...inParts([1_200, fps, 1_000 / fps / 90], [600, fps, 1_000 / fps])];
      // As I P b b are sent.
      const inDecodeOrder = pictures.map(([atMs, ms], at): Stamp => {
        const from = 1_200 * fps;
        if (at < from) return [atMs, ms];
        const shown = [0, 3, 1, 2][(at - from) % 4]! + at - ((at - from) % 4);
        return [atMs, pictures[Math.min(shown, pictures.length - 1)]![1]];
      });
      const { flags, most, least, text } = watch(inDecodeOrder, 1_190_000);
      assert.ok(flags <= 6 && most < 2_000 && least > -2_000, `${fps}: ${text}`);
    }
  });

  test('a clock that crept, and leaps to where it would be: time is where it comes', () => {
    const pictures = [...inParts([120, 25, 40], [6, 25, 1], [600, 25, 40])].map(
      ([atMs, stampMs]): Stamp => [atMs, atMs < 126_000 ? stampMs : atMs],
    );
    const { flags, most, lastMs, text } = watch(pictures);
    assert.ok(flags <= 2 && most < 5_000 && Math.abs(lastMs) < 1_000, text);
  });

  test('few pictures with B-frames, stamped as 25 a second, are no jumps', () => {
    const pictures = [...inParts([120, 25, 40], [1_200, 1, 40])];
    const inDecodeOrder = pictures.map(
      ([atMs], at): Stamp => [
        atMs,
        pictures[at % 4 === 0 ? Math.min(at + 3, pictures.length - 1) : at - 1]![1],
      ],
    );
    const { flags, most, text } = watch(inDecodeOrder);
    assert.ok(flags === 0 && most < 4_000, text);
  });

  test('a line that carries too little of a camera with B-frames for half a minute is found out', () => {
    // Five pictures a second; a tenth of what is needed from the second minute on.
    let freeMs = 0;
    const pictures = Array.from({ length: 5 * 900 }, (_, at): Stamp => {
      const madeMs = at * 200;
      let leftMs = 20;
      let atMs = Math.max(madeMs, freeMs);
      while (leftMs > 0.001) {
        const isThin = atMs >= 120_000 && atMs < 150_000;
        const share = isThin ? 0.01 : 1;
        const untilMs = isThin ? 150_000 : atMs < 120_000 ? 120_000 : Number.POSITIVE_INFINITY;
        const sentMs = Math.min(leftMs, (untilMs - atMs) * share);
        atMs += sentMs / share;
        leftMs -= sentMs;
      }
      freeMs = atMs;
      return [atMs, (at % 3 === 0 ? at + 2 : at - 1) * 200];
    });
    const { flags, most, lastMs, text } = watch(pictures);
    assert.ok(flags === 0 && most < 30_000 && Math.abs(lastMs) < 2_000, text);
  });
});
