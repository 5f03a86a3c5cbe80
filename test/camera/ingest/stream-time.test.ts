import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonotonicMs } from '../../../src/base/clock.js';
import { collectGarbage } from '../../../src/base/collect-garbage.js';
import { AudioTrack } from '../../../src/camera/ingest/audio-track.js';
import { StreamTime } from '../../../src/camera/ingest/stream-time.js';
import { g711Track, l16Track } from '../../../src/codec/audio-track.js';
import { lastFramesOf } from '../../../src/ring/counters.js';
import { FakeClock } from '../../support/fake-clock.js';
import { makeRing, nalOf, streamInfo, writeFrame } from '../../support/ring.js';

/** Sessions of one camera, each with sound of the rate given and a second of frames; which audio tracks are still kept. */
const play = (ratesHz: readonly number[]) => {
  const clock = new FakeClock();
  const time = new StreamTime(null, clock);
  const tracks: WeakRef<object>[] = [];
  let lastPts = -1;
  for (const rateHz of ratesHz) {
    const audio = time.audio(rateHz);
    tracks.push(new WeakRef(audio.timeline));
    time.beginSession(audio);
    for (let frame = 0; frame < 10; frame += 1) {
      const arrivalMs = clock.monotonicMs() as MonotonicMs;
      const pts = time.video.timeline.place(frame * 9_000, arrivalMs);
      assert.ok(pts > lastPts, 'time goes on');
      lastPts = pts;
      const apartMs = (audio.timeline.place((frame * rateHz) / 10, arrivalMs) * 1000) / rateHz - pts / 90;
      assert.ok(Math.abs(apartMs) <= 2, `sound is ${apartMs} ms beside the picture`);
      clock.advance(100);
    }
  }
  return { time, tracks };
};

test('a camera that announces another clock rate each time leaves one audio track in memory', async () => {
  const { time, tracks } = play(Array.from({ length: 100 }, (_, session) => 8_000 + 10 * session));
  // A WeakRef holds on until the job that made it has ended.
  await new Promise(setImmediate);
  collectGarbage();
  assert.equal(tracks.filter((track) => track.deref() !== undefined).length, 1);
  assert.equal(time.audio(8_990).timeline, tracks.at(-1)?.deref());
});

test('sound of the same clock rate goes on over sessions, also over those without any, and one that comes back begins anew beside the picture', () => {
  const { time } = play([8_000, 48_000, 8_000]);
  const audio = time.audio(8_000);
  time.beginSession(null);
  assert.equal(time.audio(8_000), audio);
});

test('a ring that is taken over goes on behind all that is in it, also behind sound that lies ahead of the picture', () => {
  for (const soundAheadMs of [-200, 0, 500, 3_000]) {
    const clock = new FakeClock();
    const last = { ptsTicks: 900_000, arrivalMs: clock.monotonicMs() };
    const furthestMs = 10_000 + Math.max(0, soundAheadMs);
    const time = new StreamTime({ ...last, furthestMs }, clock);
    clock.advance(300);
    const audio = time.audio(8_000);
    time.beginSession(audio);
    const arrivalMs = clock.monotonicMs();
    const soundMs = audio.timeline.place(1, arrivalMs) / 8;
    const pictureMs = time.video.timeline.place(1, arrivalMs) / 90;
    assert.ok(
      soundMs >= furthestMs && pictureMs >= furthestMs,
      `${soundMs}, ${pictureMs} after ${furthestMs}`,
    );
    assert.ok(Math.abs(soundMs - pictureMs) < 1);
    assert.ok(soundAheadMs > 300 || Math.abs(pictureMs - 10_300) < 1, 'time goes on by what passed');
  }
});

test('sound that comes back with another rate, before any picture, is told as far as it is', () => {
  const clock = new FakeClock();
  const { writer: ring } = makeRing();
  const time = new StreamTime(null, clock);
  clock.advance(10 * 3_600_000);
  ring.setStreamInfo({ ...streamInfo(1), audio: g711Track('pcmu', 8_000, 1) });
  for (const info of [g711Track('pcmu', 8_000, 1), l16Track(44_100, 1)]) {
    const track = time.audio(info.clockRateHz);
    time.beginSession(track);
    const audio = new AudioTrack(info, { clock, ring, time: track });
    clock.advance(100);
    audio.arrivalMs = clock.monotonicMs();
    audio.frame(Buffer.alloc(160), 0, 160, 7);
    writeFrame(ring, nalOf(1, 50), { dts: 90_000 });
    const { furthestMs } = lastFramesOf(ring.ring)!;
    assert.ok(Math.abs(furthestMs - clock.monotonicMs() + 1_000) < 1, `${furthestMs}`);
  }
});
