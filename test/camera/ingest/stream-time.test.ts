import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonotonicMs } from '../../../src/base/clock.js';
import { collectGarbage } from '../../../src/base/collect-garbage.js';
import { StreamTime } from '../../../src/camera/ingest/stream-time.js';
import { FakeClock } from '../../support/fake-clock.js';

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
