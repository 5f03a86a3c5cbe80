import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs, WallMs } from '../../src/base/clock.js';
import { AvAlignment } from '../../src/rtp/av-alignment.js';
import { TimeAxis } from '../../src/rtp/timeline.js';
import { seededRandom } from '../support/seeded-random.js';
import { AUDIO_HZ, VIDEO_HZ } from './simulated-camera.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const REPORT_PERIOD_MS = 5_000;
const CAMERA_WALL_MS = Date.UTC(2026, 10, 21, 8, 30);

/** Pictures a second, for so long. */
type Part = { readonly fps: number; readonly durationMs: number };
/** How far the time of a picture, or of sound, is ahead of when it was made. */
type See = { readonly picture?: (aheadMs: number, atMs: number) => void; readonly sound?: See['picture'] };

type Options = {
  /** How much later than it was made something arrives. */
  readonly delayMs?: (madeMs: number) => number;
  readonly soundMs?: number;
  /** From then on sender reports tell when what was sent was made. */
  readonly reportsFromMs?: number | undefined;
  /** A picture says that it lasts as long as one of so many a second, however long it takes; null: the truth. */
  readonly countedFps?: number | null;
  /** When it is connected anew. */
  readonly reconnectsMs?: readonly number[];
};

/** A camera that takes so many pictures; its sound runs right. */
const play = (parts: readonly Part[], see: See, options: Options = {}): void => {
  const {
    delayMs = () => 0,
    soundMs = 40,
    reportsFromMs = Number.POSITIVE_INFINITY,
    countedFps = 25,
    reconnectsMs = [],
  } = options;
  const axis = new TimeAxis(0 as MonotonicMs);
  const video = axis.addTrack({ clockRateHz: VIDEO_HZ, isOrdered: false });
  const audio = axis.addTrack({ clockRateHz: AUDIO_HZ, isOrdered: true });
  const alignment = new AvAlignment(video, audio);
  let [pictureMs, heardMs, endMs, lastTicks, arrivalMs, reports, reconnects] = [0, 0, 0, -1, 0, 0, 0];
  let [videoRtp, audioRtp] = [4_294_000_000, 77];
  const arrive = (madeMs: number): MonotonicMs => {
    arrivalMs = Math.max(arrivalMs, madeMs + delayMs(madeMs));
    return arrivalMs as MonotonicMs;
  };
  for (const { fps, durationMs } of parts) {
    endMs += durationMs;
    for (; pictureMs < endMs; pictureMs += 1_000 / fps) {
      if (pictureMs >= (reconnectsMs[reconnects] ?? Number.POSITIVE_INFINITY)) {
        reconnects += 1;
        axis.restart(arrivalMs as MonotonicMs);
      }
      for (; heardMs <= pictureMs; heardMs += soundMs) {
        const ticks = audio.place(audioRtp >>> 0, arrive(heardMs));
        see.sound?.((1_000 * ticks) / AUDIO_HZ - heardMs, heardMs);
        audioRtp += (soundMs * AUDIO_HZ) / 1_000;
      }
      const ticks = video.place(Math.round(videoRtp) >>> 0, arrive(pictureMs));
      assert.ok(ticks > lastTicks, `time stands still at ${pictureMs} ms`);
      lastTicks = ticks;
      see.picture?.((1_000 * ticks) / VIDEO_HZ - pictureMs, pictureMs);
      if (pictureMs >= reportsFromMs + reports * REPORT_PERIOD_MS) {
        reports += 1;
        const soundTicks = ((heardMs - pictureMs) * AUDIO_HZ) / 1_000;
        alignment.onVideoReport((CAMERA_WALL_MS + pictureMs) as WallMs, Math.round(videoRtp) >>> 0);
        alignment.onAudioReport(
          (CAMERA_WALL_MS + pictureMs) as WallMs,
          Math.round(audioRtp - soundTicks) >>> 0,
        );
      }
      videoRtp += VIDEO_HZ / (countedFps ?? fps);
    }
  }
};

/** A link that carries only this share of what is sent, for so long; what was held up then comes so many times as fast. */
const congestion =
  (fromMs: number, forMs: number, share: number, speed: number, mostMs = Number.POSITIVE_INFINITY) =>
  (madeMs: number): number => {
    if (madeMs < fromMs) return 0;
    if (madeMs < fromMs + forMs) return Math.min(mostMs, (madeMs - fromMs) * (1 / share - 1));
    const heldMs = Math.min(mostMs, forMs * (1 / share - 1));
    return Math.max(0, heldMs - (madeMs - fromMs - forMs) * (1 - 1 / speed));
  };

describe('a camera that counts its pictures, fewer at night', () => {
  for (const nightFps of [1, 2, 4, 5.5, 6, 7, 8, 10, 12, 12.5, 15, 20]) {
    test(`${nightFps} at night: evening and morning are found, and sound stays where it is`, () => {
      const [day, night] = [
        { fps: 25, durationMs: 20 * MINUTE_MS },
        { fps: nightFps, durationMs: 20 * MINUTE_MS },
      ];
      const range = { most: 0, least: 0, off: 0, soundOff: 0 };
      const picture = (aheadMs: number, atMs: number): void => {
        range.most = Math.max(range.most, aheadMs);
        range.least = Math.min(range.least, aheadMs);
        // A while after each change all is as if there had been none.
        if (atMs % (20 * MINUTE_MS) > 15 * MINUTE_MS) range.off = Math.max(range.off, Math.abs(aheadMs));
      };
      const sound = (aheadMs: number): void => {
        range.soundOff = Math.max(range.soundOff, Math.abs(aheadMs));
      };
      // At whichever moment of what is watched it becomes night.
      for (let laterMs = 0; laterMs < 30 * SECOND_MS; laterMs += 4 * SECOND_MS)
        play([{ ...day, durationMs: day.durationMs + laterMs }, night, day], { picture, sound });
      // Four or five seconds of each other rate are seen until it is sure; never more than all that is taken.
      const mostMs = Math.min(5_500 * (25 / nightFps - 1) + 1_000, 70_100);
      const text = JSON.stringify(range);
      assert.ok(range.least > -6_500 && range.most < mostMs, text);
      assert.ok(range.soundOff < 300 && (range.off < 100 || range.most > 40_000), text);
    });
  }

  for (const stallMs of [2_000, 10_000, 30_000])
    for (const speed of stallMs < 30_000 ? [1.2, 1.5, 2, 3, 10] : [2, 3, 10])
      test(`a stall of ${stallMs} ms that is made up for at ${speed} times the speed is no other clock`, () => {
        const stallAtMs = 10 * MINUTE_MS;
        const delayMs = (madeMs: number): number =>
          madeMs < stallAtMs ? 0 : Math.max(0, stallMs - (madeMs - stallAtMs) * (1 - 1 / speed));
        let off = 0;
        const picture = (aheadMs: number, atMs: number): void => {
          if (atMs > 5 * MINUTE_MS) off = Math.max(off, Math.abs(aheadMs));
        };
        play([{ fps: 8, durationMs: 20 * MINUTE_MS }], { picture }, { delayMs });
        assert.ok(off < 150, `${off} ms`);
      });

  test('what was held up for minutes, and comes at last, is no other clock', () => {
    for (const speed of [2, 3, 5])
      for (const heldMs of [4_000, 12_000, 20_000]) {
        const [fromMs, toMs] = [10 * MINUTE_MS, 14 * MINUTE_MS];
        const delayMs = (madeMs: number): number => {
          if (madeMs < toMs) return madeMs < fromMs ? 0 : heldMs;
          return Math.max(0, heldMs - (madeMs - toMs) * (1 - 1 / speed));
        };
        const off = { picture: 0, sound: 0 };
        const picture = (aheadMs: number, atMs: number): void => {
          if (atMs > 20 * MINUTE_MS) off.picture = Math.max(off.picture, Math.abs(aheadMs));
        };
        const sound = (aheadMs: number, atMs: number): void => {
          if (atMs > 20 * MINUTE_MS) off.sound = Math.max(off.sound, Math.abs(aheadMs));
        };
        play([{ fps: 8, durationMs: 40 * MINUTE_MS }], { picture, sound }, { delayMs });
        const text = `${heldMs} ms at ${speed}: ${JSON.stringify(off)}`;
        assert.ok(off.picture < 300 && off.sound < 300, text);
      }
  });

  for (const hasReports of [false, true])
    test(`headlights at night, ${hasReports ? 'with' : 'without'} reports: pictures and sound stay near`, () => {
      const random = seededRandom(7);
      const parts: Part[] = [];
      for (let n = 0; n < 20; n += 1) {
        parts.push({ fps: 8, durationMs: MINUTE_MS + random() * 4 * MINUTE_MS });
        parts.push({ fps: 25, durationMs: SECOND_MS + random() * 2 * SECOND_MS });
      }
      let off = 0;
      const see = (aheadMs: number): void => {
        off = Math.max(off, Math.abs(aheadMs));
      };
      play(parts, { picture: see, sound: see }, { reportsFromMs: hasReports ? 0 : undefined, soundMs: 64 });
      assert.ok(off < 10_000, `${off} ms`);
    });

  for (const fps of [8, 12.5])
    for (const darkMs of [20_000, 60_000, 110_000])
      test(`a lamp that goes out for ${darkMs / 1_000} s in every five minutes, ${fps} then: soon all is as before`, () => {
        const round = [
          { fps, durationMs: darkMs },
          { fps: 25, durationMs: 5 * MINUTE_MS - darkMs },
        ];
        const off = { most: 0, picture: 0, sound: 0 };
        const picture = (aheadMs: number, atMs: number): void => {
          off.most = Math.max(off.most, Math.abs(aheadMs));
          if (atMs % (5 * MINUTE_MS) > 4.5 * MINUTE_MS)
            off.picture = Math.max(off.picture, Math.abs(aheadMs));
        };
        const sound = (aheadMs: number): void => {
          off.sound = Math.max(off.sound, Math.abs(aheadMs));
        };
        const day = { fps: 25, durationMs: 5 * MINUTE_MS };
        play([day, ...Array.from({ length: 12 }, () => round).flat()], { picture, sound });
        assert.ok(off.most < 5_000 && off.picture < 400 && off.sound < 400, JSON.stringify(off));
      });

  test('a lamp that goes out for a minute, on a line whose delays vary', () => {
    for (const fps of [1, 2, 4])
      for (const seed of [1, 2, 3, 4, 5, 6, 7, 8])
        for (const mostMs of [600, 1_200]) {
          const random = seededRandom(seed);
          const parts = [
            { fps: 25, durationMs: 1.5 * MINUTE_MS },
            { fps, durationMs: MINUTE_MS },
            { fps: 25, durationMs: 5 * MINUTE_MS },
          ];
          let off = 0;
          const picture = (aheadMs: number, atMs: number): void => {
            if (atMs > 7 * MINUTE_MS) off = Math.max(off, Math.abs(aheadMs));
          };
          play(parts, { picture }, { delayMs: () => mostMs * random() });
          assert.ok(off < 1_500, `${fps}, ${seed}, ${mostMs}: ${off} ms`);
        }
  });

  test('a line that is late for a moment soon after the lamp is on again changes nothing', () => {
    for (const fps of [5, 8, 12.5]) {
      const parts = [
        { fps: 25, durationMs: 5 * MINUTE_MS },
        { fps, durationMs: MINUTE_MS },
        { fps: 25, durationMs: 10 * MINUTE_MS },
      ];
      const late = congestion(370_000, 5_000, 0.2, 1e9, 1_200);
      const off = { picture: 0, sound: 0 };
      const picture = (aheadMs: number, atMs: number): void => {
        if (atMs > 8 * MINUTE_MS) off.picture = Math.max(off.picture, Math.abs(aheadMs));
      };
      const sound = (aheadMs: number): void => {
        off.sound = Math.max(off.sound, Math.abs(aheadMs));
      };
      play(parts, { picture, sound }, { delayMs: late });
      assert.ok(off.picture < 300 && off.sound < 300, `${fps}: ${JSON.stringify(off)}`);
    }
  });

  for (const speed of [2.3, 3, 4, 8])
    test(`what was stored is sent ${speed} times as fast until time is held: it comes back`, () => {
      const forMs = 60 * SECOND_MS * speed;
      const delayMs = (madeMs: number): number => Math.max(0, (forMs - madeMs) * (1 - 1 / speed));
      const off = { picture: 0, sound: 0 };
      const picture = (aheadMs: number, atMs: number): void => {
        if (atMs > 45 * MINUTE_MS) off.picture = Math.max(off.picture, Math.abs(aheadMs));
      };
      const sound = (aheadMs: number, atMs: number): void => {
        if (atMs > 45 * MINUTE_MS) off.sound = Math.max(off.sound, Math.abs(aheadMs));
      };
      play([{ fps: 25, durationMs: 60 * MINUTE_MS }], { picture, sound }, { delayMs });
      assert.ok(off.picture < 300 && off.sound < 300, JSON.stringify(off));
    });

  test('a camera whose slow clock was followed for hours, and whose time is held once, is where it was', () => {
    const off = { picture: 0, sound: 0 };
    const slow = 1 - 0.0005;
    const parts = [
      { fps: 8 / slow, durationMs: 150 * MINUTE_MS },
      { fps: 25, durationMs: 10 * MINUTE_MS },
      { fps: 8 / slow, durationMs: 80 * MINUTE_MS },
    ];
    const picture = (aheadMs: number, atMs: number): void => {
      if (atMs > 230 * MINUTE_MS) off.picture = Math.max(off.picture, Math.abs(aheadMs));
    };
    play(parts, { picture }, { countedFps: 8, soundMs: 2_000 });
    assert.ok(off.picture < 500, JSON.stringify(off));
  });

  for (const burstMs of [500, 1_000, 1_500, 2_000])
    test(`pictures that come all together every ${burstMs} ms`, () => {
      const delayMs = (madeMs: number): number => Math.ceil(madeMs / burstMs) * burstMs - madeMs;
      for (const fps of [5, 8, 12.5, 15]) {
        const off = { most: 0, picture: 0 };
        const picture = (aheadMs: number, atMs: number): void => {
          off.most = Math.max(off.most, Math.abs(aheadMs));
          if (atMs > 15 * MINUTE_MS) off.picture = Math.max(off.picture, Math.abs(aheadMs));
        };
        const day = { fps: 25, durationMs: 5 * MINUTE_MS };
        play([day, { fps, durationMs: 15 * MINUTE_MS }], { picture }, { delayMs });
        const text = `${fps}: ${JSON.stringify(off)}`;
        assert.ok(off.most < 6_000 + burstMs && off.picture < 500, text);
      }
    });

  for (const fps of [6, 8, 10, 12.5, 20])
    test(`${fps} from the start: what reports tell once its rate is found moves it no farther than they say`, () => {
      for (let fromMs = 2_500; fromMs < 12_000; fromMs += 1_250) {
        const apart = { picture: 0, sound: 0 };
        // Both are to be where they belong soon after.
        const picture = (aheadMs: number, atMs: number): void => {
          if (atMs > fromMs + 5 * MINUTE_MS) apart.picture = Math.max(apart.picture, Math.abs(aheadMs));
        };
        const sound = (aheadMs: number, atMs: number): void => {
          if (atMs > fromMs + 5 * MINUTE_MS) apart.sound = Math.max(apart.sound, Math.abs(aheadMs));
        };
        let most = 0;
        const see = (aheadMs: number, atMs: number): void => {
          picture(aheadMs, atMs);
          most = Math.max(most, aheadMs);
        };
        const parts = [{ fps, durationMs: 15 * MINUTE_MS }];
        play(parts, { picture: see, sound }, { reportsFromMs: fromMs, soundMs: 64 });
        const text = `${fromMs}: ${most} ${JSON.stringify(apart)}`;
        assert.ok(most < 1_200 && apart.picture < 300 && apart.sound < 300, text);
      }
    });

  for (const [nightFps, dayFps] of [
    [12, 25],
    [10, 25],
    [8, 20],
    [10, 30],
    [8, 25],
    [5, 25],
    [4, 25],
    [1, 25],
  ] as const)
    test(`${dayFps} by day, and still stamped as ${nightFps}: time comes back, and sound stays where it is`, () => {
      const random = seededRandom(nightFps);
      const off = { picture: 0, sound: 0 };
      const picture = (aheadMs: number, atMs: number): void => {
        if (atMs > 45 * MINUTE_MS) off.picture = Math.max(off.picture, Math.abs(aheadMs));
      };
      let most = 0;
      const sound = (aheadMs: number, atMs: number): void => {
        most = Math.max(most, Math.abs(aheadMs));
        if (atMs > 45 * MINUTE_MS) off.sound = Math.max(off.sound, Math.abs(aheadMs));
      };
      const parts = [
        { fps: nightFps, durationMs: 5 * MINUTE_MS },
        { fps: dayFps, durationMs: 55 * MINUTE_MS },
      ];
      play(parts, { picture, sound }, { countedFps: nightFps, delayMs: () => 30 * random(), soundMs: 64 });
      // Until it is held picture may draw sound along for one window.
      assert.ok(off.picture < 300 && off.sound < 300 && most < 3_000, `${most} ${JSON.stringify(off)}`);
    });

  for (const reportsFromMs of [undefined, 0])
    for (const everyMs of [10 * SECOND_MS, 20 * SECOND_MS, 40 * SECOND_MS])
      test(`connected anew each ${everyMs} ms, ${reportsFromMs === undefined ? 'without' : 'with'} reports: picture and sound stay together`, () => {
        const reconnectsMs = Array.from({ length: 60 }, (_, index) => index * everyMs + 250);
        const last = { picture: 0, sound: 0, apart: 0 };
        const apart = (): void => {
          last.apart = Math.max(last.apart, Math.abs(last.picture - last.sound));
        };
        const picture = (aheadMs: number): void => {
          last.picture = aheadMs;
          apart();
        };
        const sound = (aheadMs: number): void => {
          last.sound = aheadMs;
        };
        const parts = [{ fps: 8, durationMs: 60 * everyMs + 10 * MINUTE_MS }];
        play(parts, { picture, sound }, { reconnectsMs, reportsFromMs, soundMs: 64 });
        assert.ok(last.apart < 8_000, JSON.stringify(last));
      });

  test('hardly a picture for a while: time never runs back', () => {
    for (let seed = 0; seed < 12; seed += 1) {
      const random = seededRandom(seed);
      const parts = [
        { fps: 25, durationMs: 5 * MINUTE_MS },
        { fps: 8, durationMs: 10 * SECOND_MS },
        { fps: 0.3, durationMs: 90 * SECOND_MS },
        { fps: 25, durationMs: 8 * MINUTE_MS },
      ];
      // Whoever plays sees to it.
      play(parts, {}, { delayMs: () => 20 * random(), reportsFromMs: seed % 2 ? 0 : undefined, soundMs: 64 });
    }
  });

  test('whatever it takes, by day and night: it is near its arrival, and its sound with it', () => {
    const part = fc.record({
      fps: fc.double({ min: 5.1, max: 30, noNaN: true }),
      durationMs: fc.integer({ min: 3 * MINUTE_MS, max: 15 * MINUTE_MS }),
    });
    fc.assert(
      fc.property(fc.array(part, { minLength: 2, maxLength: 5 }), (parts) => {
        let [most, least, soundOff] = [0, 0, 0];
        const picture = (aheadMs: number): void => {
          most = Math.max(most, aheadMs);
          least = Math.min(least, aheadMs);
        };
        const sound = (aheadMs: number): void => {
          soundOff = Math.max(soundOff, Math.abs(aheadMs));
        };
        play(parts, { picture, sound });
        const range = `${least} to ${most} ms, sound ${soundOff}`;
        assert.ok(least > -7_000 && most < 30_000 && soundOff < 3_000, range);
      }),
      { numRuns: 30 },
    );
  });
});

describe('picture and sound that were held up on the way come together again', () => {
  const cases: readonly (readonly [string, number, number | null, (madeMs: number) => number])[] = [
    ['a right clock, a line that carries 70 %', 15, null, congestion(600_000, 45_000, 0.7, 4, 10_000)],
    ['a right clock, a line that carries half', 25, null, congestion(300_000, 20_000, 0.5, 4)],
    ['a counting camera, half of it for 30 s', 8, 25, congestion(200_000, 30_000, 0.5, 1e9)],
    ['a counting camera, half of it for 30 s, later', 8, 25, congestion(583_000, 30_000, 0.5, 1e9)],
    ['a counting camera, 70 % for a minute', 8, 25, congestion(583_000, 60_000, 0.7, 4)],
  ];
  for (const [name, fps, countedFps, delayMs] of cases)
    for (const hasReports of [false, true])
      test(`${name}, ${hasReports ? 'with' : 'without'} reports`, () => {
        const off = { most: 0, picture: 0, sound: 0 };
        const fromMs = 25 * MINUTE_MS;
        const picture = (aheadMs: number, atMs: number): void => {
          off.most = Math.max(off.most, aheadMs);
          if (atMs > fromMs) off.picture = Math.max(off.picture, Math.abs(aheadMs));
        };
        const sound = (aheadMs: number, atMs: number): void => {
          if (atMs > fromMs) off.sound = Math.max(off.sound, Math.abs(aheadMs));
        };
        const options = { delayMs, reportsFromMs: hasReports ? 0 : undefined, countedFps, soundMs: 64 };
        play([{ fps, durationMs: 30 * MINUTE_MS }], { picture, sound }, options);
        assert.ok(off.most < 32_000 && off.picture < 300 && off.sound < 300, JSON.stringify(off));
      });
});
