import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs, Ticks, WallMs } from '../../src/base/clock.js';
import { WallClock } from '../../src/rtp/wall-clock.js';
import { seededRandom } from '../support/seeded-random.js';
import { type Placed, SimulatedCamera, type SimulatedCameraOptions } from './simulated-camera.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Plays a camera without sound; `see` is told how far media time is behind the time when frames were made. */
const play = (
  options: SimulatedCameraOptions,
  durationMs: number,
  see: (lagMs: number, frame: Placed, stepTicks: number) => void,
): SimulatedCamera => {
  const camera = new SimulatedCamera({ hasAudio: false, hasReports: false, ...options });
  let last = Number.NEGATIVE_INFINITY;
  camera.onVideo = (frame) => {
    const step = frame.ticks - last;
    assert.ok(step > 0 || options.order !== undefined, `time stands still at ${frame.madeMs} ms`);
    see(frame.madeMs - frame.ticks / 90, frame, step);
    last = frame.ticks;
  };
  camera.playTo(durationMs);
  return camera;
};

/** Delays as of Wi-Fi: mostly small, now and then large; the same in each run. */
const jitter = (mostMs: number, seed = 1): (() => number) => {
  const random = seededRandom(seed);
  return () => mostMs * random() ** 8;
};

describe('a camera whose clock runs right is left exactly as it is', () => {
  const delays: Readonly<Record<string, (madeMs: number) => number>> = {
    'by a steady path': () => 0,
    'through jitter': jitter(400),
    'where the first minute is late': (madeMs) => (madeMs < 50_000 ? 300 : 0) + 20 * Math.sin(madeMs),
    'through stalls of up to 30 s': (madeMs) => {
      const inMinute = madeMs % (3 * MINUTE_MS);
      return inMinute < 30_000 ? 0 : Math.max(0, 60_000 - inMinute);
    },
    'where a minute of backlog is worked off': (madeMs) =>
      madeMs < HOUR_MS / 2 ? 0 : Math.max(0, 20_000 - (madeMs - HOUR_MS / 2) / 2),
    'that begins with stored pictures': (madeMs) => Math.max(0, 6_000 - madeMs),
    'that begins with stored pictures on a slow line': (madeMs) => Math.max(0, 6_000 - madeMs / 2),
    'where the path is congested for half a minute now and then': (madeMs) =>
      madeMs % (4 * MINUTE_MS) < 30_000 ? 250 : 0,
  };
  for (const [name, delayMs] of Object.entries(delays)) {
    test(name, () => {
      let first: Placed | null = null;
      play({ delayMs }, HOUR_MS, (_lag, frame) => {
        first ??= frame;
        const expected = first.ticks + Math.round((frame.madeMs - first.madeMs) * 90);
        assert.equal(frame.ticks, expected, `at ${frame.madeMs} ms`);
      });
    });
  }
});

describe('media time follows arrival', () => {
  /** Pictures a second, and what their stamps say. */
  const grosslyWrong: readonly (readonly [number, number])[] = [
    [20, 25],
    [12.5, 25],
    [15, 20],
    [25, 30],
    [24, 25],
    [25, 20],
    [30, 25],
    [25, 24],
  ];
  for (const [fps, stamped] of grosslyWrong) {
    test(`${fps} pictures a second, stamped as ${stamped}: right within seconds, and even`, () => {
      let [most, least, maxStep, minStep] = [0, 0, 0, Number.POSITIVE_INFINITY];
      const delayMs = jitter(100);
      const camera = play(
        { fps, videoRate: fps / stamped, delayMs },
        20 * MINUTE_MS,
        (lagMs, { madeMs }, step) => {
          most = Math.max(most, lagMs);
          least = Math.min(least, lagMs);
          if (madeMs < 60_000) return;
          maxStep = Math.max(maxStep, step);
          minStep = Math.min(minStep, step);
        },
      );
      const range = `${least} to ${most} ms`;
      // One that is ahead can't be told from one that begins with stored pictures, for a while.
      assert.ok(most < (fps < 15 ? 3_000 : 2_000) && least > -4_500, range);
      assert.ok(Math.abs(camera.video.clockErrorPpm / (1e6 * (fps / stamped - 1)) - 1) < 0.05);
      const frameTicks = 90_000 / fps;
      const steps = `${minStep} to ${maxStep} ticks, ${frameTicks} are right`;
      assert.ok(maxStep < frameTicks * 1.06 && minStep > frameTicks * 0.94, steps);
    });
  }

  for (const ppm of [560, -560, 3_000, -3_000, 50, -50]) {
    test(`a clock that is wrong by ${ppm} ppm is followed closely for six hours, in small steps`, () => {
      let [most, least, maxStep, minStep] = [0, 0, 0, Number.POSITIVE_INFINITY];
      const delayMs = jitter(100);
      const camera = play({ videoRate: 1 + ppm / 1e6, delayMs }, 6 * HOUR_MS, (lagMs, _frame, step) => {
        most = Math.max(most, lagMs);
        least = Math.min(least, lagMs);
        if (!Number.isFinite(step)) return;
        maxStep = Math.max(maxStep, step);
        minStep = Math.min(minStep, step);
      });
      const range = `${least} to ${most} ms`;
      assert.ok(most < 500 && least > -500, range);
      const { clockErrorPpm } = camera.video;
      const told = `${clockErrorPpm} ppm are told`;
      assert.ok(Math.abs(ppm) > 100 ? Math.abs(clockErrorPpm / ppm - 1) < 0.1 : clockErrorPpm === 0, told);
      assert.ok(maxStep <= 3600 * 1.01 && minStep >= 3600 * 0.99, `${minStep} to ${maxStep} ticks`);
    });
  }

  test('wall time goes beside media time, as near as a file wants it, whoever tells it', () => {
    for (const videoRate of [0.8, 0.75, 0.96, 1 - 560e-6, 1 + 560e-6, 1 - 3000e-6]) {
      for (const hasReports of [false, true]) {
        const wall = new WallClock({ clockRateHz: 90_000 });
        const base = Date.UTC(2026, 10, 21);
        let [first, off] = [Number.NaN, 0];
        let reports = 0;
        play({ videoRate, delayMs: jitter(100) }, 2 * HOUR_MS, (_lag, { ticks, madeMs, arrivalMs }) => {
          wall.onFrame(ticks as Ticks, arrivalMs as MonotonicMs, (base + arrivalMs) as WallMs);
          const offsetMs = wall.wallMsAt(ticks as Ticks) - ticks / 90;
          if (Number.isNaN(first)) first = offsetMs;
          off = Math.max(off, Math.abs(offsetMs - first));
          if (!hasReports || madeMs < reports * 5_000) return;
          reports += 1;
          wall.onSenderReport(
            ticks as Ticks,
            (base + madeMs) as WallMs,
            arrivalMs as MonotonicMs,
            (base + arrivalMs) as WallMs,
          );
        });
        assert.ok(off < 1_900, `${videoRate}, ${hasReports ? 'with' : 'without'} reports: ${off} ms`);
        assert.equal(wall.steps, 0);
      }
    }
  });

  test('a rate that changes, as where a camera takes fewer pictures at night, is found each time', () => {
    const camera = new SimulatedCamera({ hasAudio: false, hasReports: false });
    let last = -1;
    let [rtp, madeMs] = [0, 0];
    let most = 0;
    for (let hour = 0; hour < 24; hour += 1) {
      const frameMs = hour % 2 === 0 ? 40 : 50;
      for (let frame = 0; frame < HOUR_MS / 4 / frameMs; frame += 1) {
        const ticks = camera.video.place(rtp >>> 0, madeMs as MonotonicMs);
        assert.ok(ticks > last);
        most = Math.max(most, Math.abs(madeMs - ticks / 90));
        last = ticks;
        rtp += 3600;
        madeMs += frameMs;
      }
    }
    assert.ok(most < 3_000, `${most} ms`);
  });

  test('B-frames keep their order while time is corrected', () => {
    let window: Placed[] = [];
    const order = [0, 3, 1, 2];
    const options = { fps: 20, videoRate: 0.8, delayMs: jitter(30), order };
    play(options, 5 * MINUTE_MS, (_lag, frame) => {
      window = [...window.slice(-15), frame];
      const shown = [...window].sort((a, b) => a.madeMs - b.madeMs);
      for (let at = 1; at < shown.length; at += 1) {
        const step = shown[at]!.ticks - shown[at - 1]!.ticks;
        assert.ok(step > 0, `at ${frame.madeMs} ms a picture is shown ${step} ticks after the one before`);
      }
    });
  });

  for (const order of [
    [0, 2, 1],
    [0, 3, 1, 2],
  ])
    test(`few pictures, ${order.length - 2} of them in a row B-frames, stamped as 25 a second: found, and left so`, () => {
      for (const fps of [3, 4, 8]) {
        let [most, late] = [0, 0];
        play(
          { fps, videoRate: fps / 25, delayMs: jitter(30), order },
          20 * MINUTE_MS,
          (lagMs, { madeMs }) => {
            most = Math.max(most, Math.abs(lagMs));
            if (madeMs > 15 * MINUTE_MS) late = Math.max(late, Math.abs(lagMs));
          },
        );
        assert.ok(most < 10_000 && late < 2_500, `${fps}: ${most} ms, in the end ${late}`);
      }
    });

  test('whatever the rate, the path and the pictures a second: times rise, and stay near those of arrival', () => {
    const anyCamera = fc.record({
      fps: fc.constantFrom(5, 12.5, 25, 60),
      rate: fc.oneof(
        fc.double({ min: 0.6, max: 1.4, noNaN: true }),
        fc.double({ min: 0.997, max: 1.003, noNaN: true }),
      ),
      jitterMs: fc.nat({ max: 400 }),
      seed: fc.nat(),
      stallMs: fc.nat({ max: 8_000 }),
      burstMs: fc.nat({ max: 6_000 }),
    });
    fc.assert(
      fc.property(anyCamera, ({ fps, rate, jitterMs, seed, stallMs, burstMs }) => {
        const noise = jitter(jitterMs, seed);
        const delayMs = (madeMs: number): number =>
          noise() + Math.max(0, burstMs - madeMs) + Math.max(0, stallMs - (madeMs % 240_000));
        let [most, least] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
        let [lateMost, lateLeast] = [most, least];
        play({ fps, videoRate: rate, delayMs }, 20 * MINUTE_MS, (lagMs, { madeMs }) => {
          most = Math.max(most, lagMs);
          least = Math.min(least, lagMs);
          if (madeMs < 10 * MINUTE_MS) return;
          lateMost = Math.max(lateMost, lagMs);
          lateLeast = Math.min(lateLeast, lagMs);
        });
        const range = `${least} to ${most} ms; in the end ${lateLeast} to ${lateMost} ms`;
        // Media time begins where the first frame arrives, which is held up by the first stall and by the burst.
        assert.ok(most - least < burstMs + stallMs + 10_000, range);
        assert.ok(lateMost - lateLeast < 2_000, range);
      }),
      { numRuns: 60 },
    );
  });
});
