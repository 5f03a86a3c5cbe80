import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '../support/seeded-random.js';
import { SimulatedCamera, type SimulatedCameraOptions } from './simulated-camera.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const AUDIO_FRAME_TICKS = 320;

/** What was seen of audio and video of the same moment, since it was last asked. */
class Seen {
  /** How far audio was off, at most. */
  apartMs = 0;
  minStep = Number.POSITIVE_INFINITY;
  maxStep = 0;
  #videoMs = 0;
  #lastAudio = Number.NaN;

  constructor(camera: SimulatedCamera) {
    camera.onVideo = ({ madeMs, ticks }) => {
      this.#videoMs = ticks / 90 - madeMs;
    };
    camera.onAudio = ({ madeMs, ticks }) => {
      this.apartMs = Math.max(this.apartMs, Math.abs(ticks / 8 - madeMs - this.#videoMs));
      if (!Number.isNaN(this.#lastAudio)) {
        this.minStep = Math.min(this.minStep, ticks - this.#lastAudio);
        this.maxStep = Math.max(this.maxStep, ticks - this.#lastAudio);
      }
      this.#lastAudio = ticks;
    };
  }

  forget(): void {
    this.apartMs = 0;
    this.minStep = Number.POSITIVE_INFINITY;
    this.maxStep = 0;
  }

  assertNothingHeard(): void {
    const steps = `${this.minStep} to ${this.maxStep} ticks`;
    assert.ok(this.minStep >= AUDIO_FRAME_TICKS * 0.97 && this.maxStep <= AUDIO_FRAME_TICKS * 1.03, steps);
  }
}

const noise = (mostMs: number, seed = 7): (() => number) => {
  const random = seededRandom(seed);
  return () => mostMs * random() ** 4;
};

describe('over a day, sound and picture stay within 40 ms, and no step is heard', () => {
  const cameras: Readonly<Record<string, SimulatedCameraOptions>> = {
    'audio 50 ppm slow': { audioRate: 1 - 50e-6, audioDelayMs: 300 },
    'audio 50 ppm fast, reports a few ms off': { audioRate: 1 + 50e-6, reportErrorMs: noise(20) },
    'video 80 ppm fast, audio 80 ppm slow, jitter': {
      ...{ videoRate: 1 + 80e-6, audioRate: 1 - 80e-6, delayMs: noise(200) },
      ...{ reportErrorMs: noise(10, 8) },
    },
    'both 560 ppm slow': { videoRate: 1 - 560e-6, audioRate: 1 - 560e-6, delayMs: noise(100) },
    'without reports, audio 50 ppm slow': { hasReports: false, audioRate: 1 - 50e-6, delayMs: noise(50) },
    'without reports, video 200 ppm fast': { hasReports: false, videoRate: 1 + 200e-6, delayMs: noise(50) },
    'without reports, both 560 ppm fast': {
      ...{ hasReports: false, videoRate: 1 + 560e-6, audioRate: 1 + 560e-6, delayMs: noise(50) },
    },
  };
  for (const [name, options] of Object.entries(cameras)) {
    test(name, () => {
      const camera = new SimulatedCamera({ fps: 5, ...options });
      const seen = new Seen(camera);
      camera.playTo(10_000);
      seen.forget();
      camera.playTo(DAY_MS);
      assert.ok(seen.apartMs < 40, `${seen.apartMs} ms apart`);
      seen.assertNothingHeard();
    });
  }
});

test('tracks with one clock are brought together at the start, and then left exactly as they are', () => {
  const camera = new SimulatedCamera({ audioDelayMs: 200, delayMs: noise(300), reportErrorMs: noise(5) });
  const seen = new Seen(camera);
  camera.playTo(6_000);
  seen.forget();
  camera.playTo(20 * MINUTE_MS);
  assert.ok(seen.apartMs < 20, `${seen.apartMs} ms apart`);
  assert.deepEqual([seen.minStep, seen.maxStep], [AUDIO_FRAME_TICKS, AUDIO_FRAME_TICKS]);
});

test('a track whose time jumps, or that goes on beside the mark with another SSRC, meets the other again', () => {
  const restarts: Readonly<Record<string, (camera: SimulatedCamera) => void>> = {
    'audio jumps': (camera) => {
      camera.audioShift += 8_000 * 3_600;
    },
    'video jumps': (camera) => {
      camera.videoShift += 90_000 * 3_600;
    },
    'another SSRC of audio, 400 ms on': (camera) => {
      camera.audioShift += 3_200;
      camera.audio.sourceChanged();
    },
    'another SSRC of video, 400 ms back': (camera) => {
      camera.videoShift -= 36_000;
      camera.video.sourceChanged();
    },
  };
  for (const [name, restart] of Object.entries(restarts)) {
    const camera = new SimulatedCamera({ delayMs: noise(150), videoShift: 1e9 });
    const seen = new Seen(camera);
    camera.playTo(2 * MINUTE_MS);
    restart(camera);
    camera.playTo(2 * MINUTE_MS + 6_000);
    seen.forget();
    camera.playTo(2 * MINUTE_MS + 30_000);
    // A jump is bridged by the time that passed between two arrivals, which delays make longer or shorter.
    assert.ok(seen.apartMs < 100, `${name}: ${seen.apartMs} ms apart`);
    seen.forget();
    camera.playTo(4 * MINUTE_MS);
    assert.ok(seen.apartMs < 40, `${name}: ${seen.apartMs} ms apart, later`);
    seen.assertNothingHeard();
  }
});

test('a report that is wrong now and then, or a camera whose clock is set, moves nothing that is heard', () => {
  let reports = 0;
  const reportErrorMs = (): number => {
    reports += 1;
    return (reports > 50 ? 3_000 : 0) + (reports % 17 === 0 ? 4_000 : 0);
  };
  const camera = new SimulatedCamera({ reportErrorMs });
  const seen = new Seen(camera);
  camera.playTo(20 * MINUTE_MS);
  assert.ok(seen.apartMs < 40, `${seen.apartMs} ms apart`);
  seen.assertNothingHeard();
});

test('whatever two clocks do, audio times rise strictly and never in steps that are heard', () => {
  const anyCamera = fc.record({
    videoPpm: fc.integer({ min: -1000, max: 1000 }),
    audioPpm: fc.integer({ min: -1000, max: 1000 }),
    jitterMs: fc.nat({ max: 300 }),
    errorMs: fc.nat({ max: 30 }),
    seed: fc.nat(),
    hasReports: fc.boolean(),
  });
  fc.assert(
    fc.property(anyCamera, ({ videoPpm, audioPpm, jitterMs, errorMs, seed, hasReports }) => {
      const camera = new SimulatedCamera({
        ...{ videoRate: 1 + videoPpm / 1e6, audioRate: 1 + audioPpm / 1e6, hasReports },
        ...{ delayMs: noise(jitterMs, seed), reportErrorMs: noise(errorMs, seed + 1) },
      });
      const seen = new Seen(camera);
      camera.playTo(11_000);
      seen.forget();
      camera.playTo(30 * MINUTE_MS);
      seen.assertNothingHeard();
      // Beside reports that are off by their own error. By arrival: what delays hid at the start (300 ms), what the
      // clocks part in two windows (120 ms) and while that is drawn on, and what is too little to be.
      assert.ok(seen.apartMs < (hasReports ? 60 : 500), `${seen.apartMs} ms apart`);
    }),
    {
      numRuns: 30,
      examples: [
        [{ videoPpm: 672, audioPpm: -781, jitterMs: 287, errorMs: 0, seed: 809_568, hasReports: false }],
      ],
    },
  );
});
