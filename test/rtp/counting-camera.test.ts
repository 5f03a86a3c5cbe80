import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs } from '../../src/base/clock.js';
import { AvAlignment } from '../../src/rtp/av-alignment.js';
import { TimeAxis } from '../../src/rtp/timeline.js';
import { AUDIO_HZ, VIDEO_HZ } from './simulated-camera.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const SOUND_MS = 40;
const TICKS_A_FRAME = VIDEO_HZ / 25;

/** Pictures a second, for so long. */
type Part = { readonly fps: number; readonly durationMs: number };
/** How far the time of a picture, or of sound, is ahead of when it was made. */
type See = { readonly picture?: (aheadMs: number, atMs: number) => void; readonly sound?: See['picture'] };

/**
 * A camera that counts its pictures and says that each lasts 40 ms, however many it takes; its sound runs right, and no
 * sender report tells of either. `delayMs`: how much later than it was made something arrives.
 */
const play = (parts: readonly Part[], see: See, delayMs: (madeMs: number) => number = () => 0): void => {
  const axis = new TimeAxis(0 as MonotonicMs);
  const video = axis.addTrack({ clockRateHz: VIDEO_HZ, isOrdered: false });
  const audio = axis.addTrack({ clockRateHz: AUDIO_HZ, isOrdered: true });
  new AvAlignment(video, audio);
  let [pictureMs, soundMs, endMs, lastTicks, arrivalMs] = [0, 0, 0, -1, 0];
  let [videoRtp, audioRtp] = [4_294_000_000, 77];
  const arrive = (madeMs: number): MonotonicMs => {
    arrivalMs = Math.max(arrivalMs, madeMs + delayMs(madeMs));
    return arrivalMs as MonotonicMs;
  };
  for (const { fps, durationMs } of parts) {
    endMs += durationMs;
    for (; pictureMs < endMs; pictureMs += 1_000 / fps) {
      for (; soundMs <= pictureMs; soundMs += SOUND_MS) {
        const ticks = audio.place(audioRtp >>> 0, arrive(soundMs));
        see.sound?.((1_000 * ticks) / AUDIO_HZ - soundMs, soundMs);
        audioRtp += (SOUND_MS * AUDIO_HZ) / 1_000;
      }
      const ticks = video.place(videoRtp >>> 0, arrive(pictureMs));
      assert.ok(ticks > lastTicks, `time stands still at ${pictureMs} ms`);
      lastTicks = ticks;
      see.picture?.((1_000 * ticks) / VIDEO_HZ - pictureMs, pictureMs);
      videoRtp += TICKS_A_FRAME;
    }
  }
};

describe('a camera that counts its pictures, fewer at night', () => {
  for (const nightFps of [5.5, 8, 10, 12, 12.5, 15, 20]) {
    test(`${nightFps} at night: evening and morning are found, and sound stays where it is`, () => {
      const [day, night] = [
        { fps: 25, durationMs: 20 * MINUTE_MS },
        { fps: nightFps, durationMs: 20 * MINUTE_MS },
      ];
      let [most, least, off, soundOff] = [0, 0, 0, 0];
      const picture = (aheadMs: number, atMs: number): void => {
        most = Math.max(most, aheadMs);
        least = Math.min(least, aheadMs);
        // Five minutes after each change all is as if there had been none.
        if (atMs % (20 * MINUTE_MS) > 5 * MINUTE_MS) off = Math.max(off, Math.abs(aheadMs));
      };
      const sound = (aheadMs: number): void => {
        soundOff = Math.max(soundOff, Math.abs(aheadMs));
      };
      play([day, night, day, night, day], { picture, sound });
      const range = `${least} to ${most} ms, in the end ${off}, sound ${soundOff}`;
      // Four seconds of each other rate are seen, and some more pass until then.
      assert.ok(least > -4_500 && most < 4_500 * (25 / nightFps - 1) + 2_000, range);
      assert.ok(off < 150 && soundOff < 200, range);
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
        play([{ fps: 8, durationMs: 20 * MINUTE_MS }], { picture }, delayMs);
        assert.ok(off < 150, `${off} ms`);
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
