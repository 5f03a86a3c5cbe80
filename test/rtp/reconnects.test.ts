import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MonotonicMs, WallMs } from '../../src/base/clock.js';
import { AvAlignment } from '../../src/rtp/av-alignment.js';
import { TimeAxis } from '../../src/rtp/timeline.js';

const VIDEO_HZ = 90_000;
const AUDIO_HZ = 8_000;
const FRAME_MS = 40;
const SOUND_MS = 20;
const CAMERA_WALL_MS = 1_800_000_000_000;
const SESSIONS = 60;

type Camera = {
  readonly pictureDelayMs?: number;
  readonly soundDelayMs?: number;
  readonly hasReports?: boolean;
  /** How many times too fast the clock of each is. */
  readonly pictureSpeed?: number;
  readonly soundSpeed?: number;
  /** Stored frames that each session begins with. */
  readonly storedMs?: number;
};

type Ahead = { picture: number; sound: number };

/** Sessions of so long, with nothing between for so long; how far both are ahead of when they come at the end of each. */
const connect = (camera: Camera, sessionMs: number, gapMs: number): Ahead[] => {
  const { pictureDelayMs = 0, soundDelayMs = 0, hasReports = false, storedMs = 0 } = camera;
  const { pictureSpeed = 1, soundSpeed = 1 } = camera;
  const axis = new TimeAxis(0 as MonotonicMs);
  const video = axis.addTrack({ clockRateHz: VIDEO_HZ, isOrdered: false });
  const audio = axis.addTrack({ clockRateHz: AUDIO_HZ, isOrdered: true });
  const pictureRtp = (madeMs: number): number => Math.round((madeMs * pictureSpeed * VIDEO_HZ) / 1_000) >>> 0;
  const soundRtp = (madeMs: number): number => Math.round((madeMs * soundSpeed * AUDIO_HZ) / 1_000) >>> 0;
  const ahead: Ahead[] = [];
  let [lastPicture, lastSound] = [-1, -1];
  for (let session = 0; session < SESSIONS; session += 1) {
    const fromMs = session * (sessionMs + gapMs) + 10_000;
    axis.restart(fromMs as MonotonicMs);
    const alignment = new AvAlignment(video, audio);
    const now = { picture: 0, sound: 0 };
    for (let atMs = fromMs; atMs < fromMs + sessionMs; atMs += SOUND_MS) {
      const picture = (madeMs: number): void => {
        const ticks = video.place(pictureRtp(madeMs), atMs as MonotonicMs);
        assert.ok(ticks > lastPicture);
        lastPicture = ticks;
        now.picture = (ticks * 1_000) / VIDEO_HZ - atMs;
      };
      if (atMs === fromMs)
        for (let ms = storedMs; ms > 0; ms -= FRAME_MS) picture(atMs - pictureDelayMs - ms);
      if ((atMs - fromMs) % FRAME_MS === 0) picture(atMs - pictureDelayMs);
      const ticks = audio.place(soundRtp(atMs - soundDelayMs), atMs as MonotonicMs);
      assert.ok(ticks > lastSound);
      lastSound = ticks;
      now.sound = (ticks * 1_000) / AUDIO_HZ - atMs;
      if (!hasReports || (atMs - fromMs) % 5_000 !== 1_000) continue;
      const madeMs = atMs - 1_000;
      alignment.onVideoReport((CAMERA_WALL_MS + madeMs) as WallMs, pictureRtp(madeMs));
      alignment.onAudioReport((CAMERA_WALL_MS + madeMs) as WallMs, soundRtp(madeMs));
    }
    ahead.push(now);
  }
  return ahead;
};

const most = (ahead: readonly Ahead[], of: keyof Ahead): number =>
  Math.max(...ahead.map((one) => Math.abs(one[of])));

describe('a camera that is connected anew, again and again', () => {
  const healthy: Readonly<Record<string, Camera>> = {
    'picture and sound alike': {},
    'picture later': { pictureDelayMs: 550, soundDelayMs: 50, hasReports: true },
    'sound later': { pictureDelayMs: 50, soundDelayMs: 550, hasReports: true },
    'picture later, no reports': { pictureDelayMs: 550, soundDelayMs: 50 },
    'two seconds stored': { storedMs: 2_000 },
    'two seconds stored, reports': { storedMs: 2_000, hasReports: true },
  };
  for (const [name, camera] of Object.entries(healthy))
    test(`${name}: time goes on by what passed`, () => {
      const ahead = connect(camera, 30_000, 3_000);
      assert.ok(most(ahead, 'picture') < 2_100 && most(ahead, 'sound') < 2_100, JSON.stringify(ahead.at(-1)));
    });

  test('at once, with sound some milliseconds later: it does not add up to seconds', () => {
    const ahead = connect({ soundDelayMs: 20, hasReports: true }, 10_000, 0);
    assert.ok(most(ahead, 'picture') < 1_500 && most(ahead, 'sound') < 1_500, JSON.stringify(ahead.at(-1)));
  });

  test('with pictures that count too slowly: neither is left behind, nor sound ahead', () => {
    for (const pictureSpeed of [0.3, 0.6, 0.9]) {
      const ahead = connect({ pictureSpeed }, 10_000, 500);
      const text = JSON.stringify(ahead.at(-1));
      assert.ok(most(ahead, 'picture') < 10_000 && most(ahead, 'sound') < 100, text);
    }
  });

  test('with sound that is a little fast: the picture is where it comes', () => {
    const ahead = connect({ soundSpeed: 1.05 }, 60_000, 3_000);
    assert.ok(most(ahead, 'picture') < 100 && most(ahead, 'sound') < 4_000, JSON.stringify(ahead.at(-1)));
  });

  test('with sound that is far too fast: they stay together, and no time is used twice', () => {
    const ahead = connect({ soundSpeed: 2 }, 60_000, 2_000);
    const apartMs = Math.max(...ahead.map(({ picture, sound }) => Math.abs(picture - sound)));
    assert.ok(apartMs < 20_000, `${apartMs}`);
  });
});
