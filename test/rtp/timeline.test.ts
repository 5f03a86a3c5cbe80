import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs, WallMs } from '../../src/base/clock.js';
import { AvAlignment } from '../../src/rtp/av-alignment.js';
import type { Timeline } from '../../src/rtp/timeline.js';
import { EQUAL_RUN_FRAMES, MAX_APART_MS, TimeAxis } from '../../src/rtp/timeline.js';

const VIDEO = { clockRateHz: 90_000, isOrdered: false };
const AUDIO = { clockRateHz: 8000, isOrdered: true };
const ZERO_MS = 5_000;
/** Frames are placed by whole ticks. */
const ROUNDING_MS = 10;

/** A clock that was found to run five times too slow leaps, steps back for long, and stops. */
const STOPS_WHILE_CORRECTED: [number, number, string, number][] = [
  [1, 6, 'frame', 40],
  [3600, 87, 'frame', 40],
  [3600, 69, 'frame', 20],
  [1, 100, 'frame', 59],
  [9 * 90_000, 66, 'frame', 6],
  [-1.9 * 90_000, 45, 'frame', 22],
  [0, 8, 'frame', 5],
];
/** It goes back to where it was while another rate is found, and then steps back in front of both. */
const STEPS_BACK_OVER_TURNS: [number, number, string, number][] = [
  [9 * 90_000, 0, 'frame', 9],
  [1, 48, 'frame', 57],
  [1, 35, 'frame', 37],
  [-1.9 * 90_000, 77, 'frame', 13],
  [9 * 90_000, 0, 'frame', 1],
  [-1.9 * 90_000, 0, 'frame', 25],
];
/** It is held behind, in front of a turn of its rate, and leaps on. */
const LEAPS_WHILE_HELD: [number, number, string, number][] = [
  [1, 72, 'frame', 56],
  [-1.9 * 90_000, 30, 'frame', 35],
  [90_001, 0, 'source', 2],
  [0, 31, 'frame', 36],
  [-30_039, 42, 'frame', 38],
  [9 * 90_000, 21, 'frame', 1],
];

const ms = (value: number): MonotonicMs => value as MonotonicMs;

const video = (): { axis: TimeAxis; track: Timeline; place: (rtp: number, arrivalMs: number) => number } => {
  const axis = new TimeAxis(ms(ZERO_MS));
  const track = axis.addTrack(VIDEO);
  return { axis, track, place: (rtp, arrivalMs) => track.place(rtp >>> 0, ms(arrivalMs)) };
};

describe('a track on its axis', () => {
  test('the first frame is anchored by its arrival', () => {
    const { track, place } = video();
    assert.equal(place(0xabcdef, ZERO_MS + 1000), 90_000);
    assert.equal(track.discontinuity, false);
  });

  test('time is unwrapped over many wraps, whatever the frame rate', () => {
    fc.assert(
      fc.property(
        fc.nat(0xffff_ffff),
        fc.array(fc.integer({ min: 1, max: 9_000_000 }), { maxLength: 50 }),
        (base, unit) => {
          const { track, place } = video();
          // 100 times around the same steps: several wraps of 13.3 h.
          let rtp = base;
          let expected = place(rtp, ZERO_MS);
          let arrivalMs = ZERO_MS;
          for (let round = 0; round < 100; round += 1) {
            for (const step of unit) {
              rtp += step;
              expected += step;
              arrivalMs += step / 90;
              assert.equal(place(rtp % 0x1_0000_0000, arrivalMs), expected);
            }
          }
          assert.equal(track.jumps, 0);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('B-frames step back, also across the wrap', () => {
    const { track, place } = video();
    const order = [0, 3, 1, 2, 6, 4, 5];
    const placed = order.map((n, i) => place(0xffff_ffff - 7000 + n * 3600, ZERO_MS + i * 40));
    assert.deepEqual(
      placed,
      order.map((n) => n * 3600),
    );
    assert.equal(track.jumps, 0);
  });

  test('a burst at the start, a stall and its backlog are no jumps', () => {
    const { track, place } = video();
    for (let i = 0; i < 100; i += 1) assert.equal(place(i * 3600, ZERO_MS), i * 3600);
    // 30 s of silence; then all of it at once, the camera having dropped half of it.
    assert.equal(place(101 * 3600, ZERO_MS + 34_000), 101 * 3600);
    assert.equal(place(101 * 3600 + 15 * 90_000, ZERO_MS + 34_000), 101 * 3600 + 15 * 90_000);
    assert.equal(track.jumps, 0);
  });

  test('a jump, forward or back, goes on by the time that passed, and loses no frame', () => {
    for (const jump of [90_000 * 3600, -90_000 * 3, 0x7fff_0000, -0x7fff_0000]) {
      const { track, place } = video();
      place(1000, ZERO_MS);
      place(4600, ZERO_MS + 40);
      assert.equal(place(4600 + jump, ZERO_MS + 80), 7200);
      assert.deepEqual([track.discontinuity, track.jumps], [true, 1]);
      assert.equal(place(4600 + jump + 3600, ZERO_MS + 120), 10_800);
      assert.deepEqual([track.discontinuity, track.jumps], [false, 1]);
    }
  });

  test('a camera without a clock is timed by arrival', () => {
    const { track, place } = video();
    const placed = Array.from({ length: 20 }, (_, i) => place(77, ZERO_MS + i * 40));
    for (let i = 1; i < 20; i += 1) assert.ok(placed[i]! > placed[i - 1]!);
    for (let i = EQUAL_RUN_FRAMES + 1; i < 20; i += 1) {
      assert.ok(Math.abs(placed[i]! - i * 3600) < 10, `frame ${i}`);
    }
    assert.equal(track.jumps, 0);
    // The clock starts to run after all.
    assert.ok(Math.abs(place(77 + 3600, ZERO_MS + 800) - 72_000) < 10);
    assert.ok(Math.abs(place(77 + 7200, ZERO_MS + 840) - 75_600) < 10);
  });

  test('a clock that stops after it was found to run wrong: times are whole numbers still', () => {
    const { place } = video();
    // First it counts next to nothing, then 40 ms each 100; until it stands still.
    for (let i = 0; i < 50; i += 1) place(i, ZERO_MS + i * 4);
    for (let i = 1; i < 50; i += 1) place(50 + i * 3600, ZERO_MS + 200 + i * 100);
    for (let i = 0; i < 20; i += 1) {
      const pts = place(50 + 49 * 3600, ZERO_MS + 5_100 + i * 40);
      assert.ok(Number.isSafeInteger(pts), `${pts} ticks`);
    }
  });

  for (const [how, ticks] of [
    ['slow', 67],
    ['fast', 640],
  ] as const)
    test(`a clock that stops after it was found to run too ${how}: time is that of arrival, to the millisecond`, () => {
      const track = new TimeAxis(ms(ZERO_MS)).addTrack(AUDIO);
      let arrivalMs = ZERO_MS;
      let rtp = 0;
      const next = (step: number, passedMs: number): number => {
        arrivalMs += passedMs;
        rtp += step;
        return track.place(rtp, ms(arrivalMs));
      };
      // 320 passed each time; at first it is right, and in the end all is made up for that passed before it was found.
      for (let i = 0; i < 2_000; i += 1) next(320, 40);
      for (let i = 0; i < 6_000; i += 1) next(ticks, 40);
      assert.ok(
        Math.abs(track.clockErrorPpm / (1e6 * (ticks / 320 - 1)) - 1) < 0.01,
        `${track.clockErrorPpm} ppm`,
      );
      for (let i = 0; i < EQUAL_RUN_FRAMES; i += 1) next(0, 30);
      const fromPts = next(0, 30);
      const fromMs = arrivalMs;
      for (let i = 0; i < 1_000; i += 1) {
        const apartMs = (next(0, 30) - fromPts) / 8 - (arrivalMs - fromMs);
        assert.ok(Math.abs(apartMs) < 2, `${apartMs} ms apart after ${i} frames`);
      }
    });

  test('a pair of fields of one time gets two times, and no drift comes of it', () => {
    const { place } = video();
    const placed = Array.from({ length: 100 }, (_, i) => place((i >> 1) * 3600, ZERO_MS + i * 20));
    assert.deepEqual(placed.slice(-2), [49 * 3600, 49 * 3600 + 1]);
    assert.equal(new Set(placed).size, 100);
  });

  test('audio never goes back', () => {
    const track = new TimeAxis(ms(0)).addTrack(AUDIO);
    assert.equal(track.place(1000, ms(0)), 0);
    assert.equal(track.place(1160, ms(20)), 160);
    assert.equal(track.place(1100, ms(40)), 161);
    assert.equal(track.place(1100, ms(40)), 162);
    assert.equal(track.place(1320, ms(40)), 320);
  });

  test('whatever the camera says, frames get different times, near those of their arrival', () => {
    const step = fc.oneof(
      fc.constant(3600),
      fc.constant(0),
      fc.constant(1),
      fc.constantFrom(9 * 90_000, -1.9 * 90_000),
      fc.integer({ min: -200_000, max: 900_000 }),
      fc.nat(0xffff_ffff),
    );
    const event = fc.constantFrom('frame', 'frame', 'frame', 'source', 'restart');
    // The same again and again: what is within all bounds once adds up.
    const steps = fc.array(fc.tuple(step, fc.nat({ max: 100 }), event, fc.integer({ min: 1, max: 60 })), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const { axis, place, track } = video();
        const audio = axis.addTrack(AUDIO);
        let rtp = 0;
        let arrivalMs = ZERO_MS;
        let last = place(rtp, arrivalMs);
        let lastAudio = audio.place(0, ms(arrivalMs));
        // Each session goes on from the furthest that the one before had come to.
        let sessions = 1;
        const assertNear = (ticks: number, perMs: number, what: string): void => {
          const apartMs = ticks / perMs - (arrivalMs - ZERO_MS);
          const isNear =
            apartMs > -MAX_APART_MS - ROUNDING_MS && apartMs < sessions * MAX_APART_MS + ROUNDING_MS;
          assert.ok(isNear, `${what} is ${apartMs} ms from its arrival`);
        };
        for (const [stepTicks, passedMs, what, times] of list) {
          if (what === 'source') track.sourceChanged();
          if (what === 'restart') {
            sessions += 1;
            axis.restart(ms(arrivalMs));
          }
          for (let time = 0; time < times; time += 1) {
            rtp = (rtp + stepTicks) >>> 0;
            arrivalMs += passedMs;
            const pts = place(rtp, arrivalMs);
            assert.ok(Number.isSafeInteger(pts));
            assert.notEqual(pts, last);
            assertNear(pts, 90, 'a picture');
            last = pts;
            const audioPts = audio.place(rtp, ms(arrivalMs));
            assert.ok(audioPts > lastAudio);
            lastAudio = audioPts;
          }
        }
      }),
      { numRuns: 300, examples: [[STOPS_WHILE_CORRECTED], [STEPS_BACK_OVER_TURNS], [LEAPS_WHILE_HELD]] },
    );
  });

  const runaways: Readonly<Record<string, { step: (frame: number) => number; isOrdered: boolean }>> = {
    'leaps by 9 s a frame': { step: () => 9 * 90_000, isOrdered: true },
    'steps back by 1.9 s a frame': { step: () => -1.9 * 90_000, isOrdered: false },
    'leaps, and steps back': { step: (frame) => (frame % 2 ? -1.9 : 9) * 90_000, isOrdered: false },
    'counts five times too fast': { step: () => 5 * 3600, isOrdered: true },
    'counts milliseconds': { step: () => 40, isOrdered: true },
    'counts frames': { step: () => 1, isOrdered: true },
  };
  for (const [name, { step, isOrdered }] of Object.entries(runaways)) {
    test(`a camera that ${name} for an hour: media time stays near that of arrival`, () => {
      const { track, place } = video();
      let last = place(0, ZERO_MS);
      for (let [frame, rtp, arrivalMs] = [1, 0, ZERO_MS]; frame < 25 * 3600; frame += 1) {
        rtp = (rtp + step(frame)) >>> 0;
        arrivalMs += 40;
        const pts = place(rtp, arrivalMs);
        const apartMs = pts / 90 - (arrivalMs - ZERO_MS);
        assert.ok(
          Math.abs(apartMs) < MAX_APART_MS + ROUNDING_MS,
          `frame ${frame} is ${apartMs} ms from its arrival`,
        );
        assert.ok(isOrdered ? pts > last : pts !== last);
        last = pts;
      }
      assert.equal(track.jumps, 0, 'and no file begins for it');
    });
  }

  test('many frames at one moment, from a camera whose time has run away, keep rising times', () => {
    const { place } = video();
    for (let frame = 0; frame < 20; frame += 1) place(frame * 9 * 90_000, ZERO_MS + frame);
    const placed = Array.from({ length: 20 }, (_, i) => place((20 + i) * 9 * 90_000, ZERO_MS + 20));
    for (let i = 1; i < 20; i += 1) assert.ok(placed[i]! > placed[i - 1]!, placed.join());
  });
});

describe('changes of source and session', () => {
  test('a new SSRC that goes on (Uniview) is no discontinuity, one that does not is', () => {
    const { track, place } = video();
    place(0, ZERO_MS);
    track.sourceChanged();
    assert.equal(place(3600, ZERO_MS + 40), 3600);
    assert.equal(track.discontinuity, false);
    track.sourceChanged();
    assert.equal(place(3600 + 5 * 90_000, ZERO_MS + 80), 7200);
    assert.equal(track.discontinuity, true);
  });

  test('after a reconnect time goes on by what passed, the same for both tracks', () => {
    const { axis, track, place } = video();
    const audio = axis.addTrack(AUDIO);
    // The camera began with 2 s in a burst: they were made before.
    for (let i = 0; i <= 50; i += 1) place(i * 3600, ZERO_MS);
    audio.place(500, ms(ZERO_MS));
    axis.restart(ms(ZERO_MS + 9_000));
    assert.equal(place(99, ZERO_MS + 10_000), 10 * 90_000);
    assert.equal(track.discontinuity, true);
    assert.equal(audio.place(12_345, ms(ZERO_MS + 10_000)), 10 * 8000);
    assert.equal(audio.discontinuity, true);
    assert.equal(track.jumps, 0);
  });

  test('after a reconnect all go on from what the picture was given, wherever that is', () => {
    const { axis, place } = video();
    const audio = axis.addTrack(AUDIO);
    for (const [index, shown] of [0, 53, 51, 52].entries()) place(shown * 3600, ZERO_MS + index * 40);
    axis.restart(ms(ZERO_MS + 160));
    assert.equal(place(99, ZERO_MS + 260), 53 * 3600 + 100 * 90);
    assert.equal(audio.place(7, ms(ZERO_MS + 360)), (53 * 40 + 200) * 8);
  });

  test('sound that comes back at another rate goes on from where it had come to', () => {
    const { axis, place } = video();
    const audio = axis.addTrack(AUDIO);
    for (let atMs = 0; atMs <= 2_000; atMs += 40) {
      place(atMs * 90, ZERO_MS + atMs);
      // Half as fast again.
      audio.place(atMs * 12, ms(ZERO_MS + atMs));
    }
    const { furthestMs } = audio;
    assert.ok(furthestMs > 2_500);
    axis.removeTrack(audio);
    const again = axis.addTrack({ clockRateHz: 16_000, isOrdered: true });
    axis.restart(ms(ZERO_MS + 2_040));
    assert.ok(again.place(0, ms(ZERO_MS + 2_080)) / 16 > furthestMs);
  });

  test('sessions without a frame change nothing of when the next one begins', () => {
    for (const ppm of [300, -300]) {
      const { axis, place } = video();
      const hourMs = 3_600_000;
      for (let atMs = 0; atMs <= 2 * hourMs; atMs += 100)
        place(Math.round(atMs * 90 * (1 + ppm / 1e6)), ZERO_MS + atMs);
      for (const laterMs of [3_000, 6_000]) axis.restart(ms(ZERO_MS + 2 * hourMs + laterMs));
      assert.equal(place(99, ZERO_MS + 2 * hourMs + 10_000), 2 * hourMs * 90 + 900_000);
    }
  });
});

test('pictures from before the first one after a jump, or of a ring that is taken over, get no time that was given', () => {
  const leading = [0, -7_200, -10_800, -3_600, 3_600];
  const { place } = video();
  const before = Array.from({ length: 50 }, (_, nth) => place(nth * 3_600, ZERO_MS + nth * 40));
  const jumped = leading.map((rtp, nth) => place(3e9 + rtp, ZERO_MS + 2_000 + nth));
  const takenOver = Array.from({ length: 1_000 }, (_, nth) => {
    const furthest = 450_000 + nth;
    const axis = new TimeAxis(ms(0), (furthest * 1_000) / 90_000);
    const track = axis.addTrack(VIDEO);
    axis.restart(ms(1_000));
    return [leading.map((rtp, at) => track.place(1e6 + rtp, ms(1_000 + at))), furthest] as const;
  });
  for (const [given, furthest] of [[jumped, Math.max(...before)] as const, ...takenOver]) {
    assert.ok(Math.min(...given) > furthest, `${given} after ${furthest}`);
    assert.equal(new Set(given).size, given.length, `each its own: ${given}`);
  }
});

test('a session that begins with pictures from before its first one gives no time twice, and none before all time', () => {
  const { axis, place } = video();
  // Three frames of a group that is in display order 2, 0, 1, within a moment of the axis' beginning.
  const group = (atMs: number): number[] => [9_000, 1_800, 5_400].map((rtp, nth) => place(rtp, atMs + nth));
  const first = group(ZERO_MS + 10);
  axis.restart(ms(ZERO_MS + 40));
  const second = group(ZERO_MS + 41);
  assert.ok(Math.min(...first) >= 0, `${first}`);
  assert.ok(Math.min(...second) > Math.max(...first), `${first}, then ${second}`);
});

describe('video and audio', () => {
  const DAY_MS = 24 * 3_600_000;
  /** Picture and, where `sounds` says so, sound of a camera whose clock is so much too fast, once a second. */
  const playDay = (share: number, sounds: boolean) => {
    const axis = new TimeAxis(ms(0));
    const tracks = [axis.addTrack(VIDEO), axis.addTrack(AUDIO)] as const;
    const placeAt = (track: Timeline, atMs: number): number =>
      (track.place(Math.round((atMs * (1 + share) * track.clockRateHz) / 1_000) >>> 0, ms(atMs)) * 1_000) /
      track.clockRateHz;
    for (let atMs = 0; atMs <= DAY_MS; atMs += 1_000)
      for (const track of tracks.slice(0, sounds ? 2 : 1)) placeAt(track, atMs);
    return { axis, video: tracks[0], audio: tracks[1], placeAt };
  };

  test('a track that a camera no longer sends does not hold up the other one', () => {
    const { axis, video: track, placeAt } = playDay(0.005, true);
    axis.restart(ms(DAY_MS + 5_000));
    for (let atMs = DAY_MS + 5_000; atMs < DAY_MS + 2 * 3_600_000; atMs += 1_000) {
      const aheadMs = placeAt(track, atMs) - atMs;
      assert.ok(Math.abs(aheadMs) < 1_000, `${aheadMs} ms ahead after ${(atMs - DAY_MS) / 1_000} s`);
    }
  });

  test('sound that begins a day later begins where it comes', () => {
    const { audio, placeAt } = playDay(-0.005, false);
    const atMs = DAY_MS + 500;
    assert.ok(Math.abs(placeAt(audio, atMs) - atMs) < 1);
  });

  const bothStarted = (): { axis: TimeAxis; video: Timeline; audio: Timeline; alignment: AvAlignment } => {
    const axis = new TimeAxis(ms(0));
    const videoTrack = axis.addTrack(VIDEO);
    const audioTrack = axis.addTrack(AUDIO);
    videoTrack.place(0, ms(0));
    audioTrack.place(0, ms(0));
    return { axis, video: videoTrack, audio: audioTrack, alignment: new AvAlignment(videoTrack, audioTrack) };
  };

  test('are brought together at the start, by moving ahead the one that is behind', () => {
    const one = bothStarted();
    one.alignment.onVideoReport(1_000_000 as WallMs, 0);
    one.alignment.onAudioReport(1_000_300 as WallMs, 0);
    assert.equal(one.audio.place(160, ms(20)), 2400 + 160);
    assert.equal(one.video.place(3600, ms(40)), 3600);
    one.alignment.onAudioReport(1_002_000 as WallMs, 160);
    assert.equal(one.audio.place(320, ms(40)), 2400 + 320);

    const other = bothStarted();
    other.alignment.onAudioReport(1_000_000 as WallMs, 0);
    other.alignment.onVideoReport(1_000_100 as WallMs, 0);
    assert.equal(other.video.place(3600, ms(40)), 9000 + 3600);
    assert.equal(other.audio.place(160, ms(20)), 160);
  });

  test('are left alone where the offset is nothing, or no offset at all', () => {
    const one = bothStarted();
    one.alignment.onVideoReport(1_000_000 as WallMs, 0);
    one.alignment.onAudioReport(1_000_010 as WallMs, 0);
    assert.equal(one.audio.place(160, ms(20)), 160);
    const other = bothStarted();
    other.alignment.onVideoReport(1_000_000 as WallMs, 0);
    other.alignment.onAudioReport(1_009_000 as WallMs, 0);
    assert.equal(other.audio.place(160, ms(20)), 160);
    // A report of a time far from the frames is no use either.
    other.alignment.onAudioReport(1_000_300 as WallMs, 8000 * 60);
    assert.equal(other.audio.place(320, ms(40)), 320);
    other.alignment.onAudioReport(1_000_300 as WallMs, 0);
    assert.equal(other.audio.place(480, ms(60)), 2400 + 480);
  });
});
