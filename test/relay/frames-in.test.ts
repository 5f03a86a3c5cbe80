import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonotonicMs } from '../../src/base/clock.js';
import { FramesIn, nothingPulled, type Pulled } from '../../src/relay/receive/frames-in.js';
import { frameFlag } from '../../src/ring/frame-flag.js';
import { RingReader } from '../../src/ring/reader.js';
import { makeRing, nalOf, streamInfo, type TestRing, writeFrame } from '../support/ring.js';

const FRAME_MS = 100;
const FRAMES_A_GOP = 10;
const HOUR_MS = 3_600_000;

/** What one box sends, from its newest keyframe on. */
type Sender = {
  readonly ring: number;
  /** Its wall clock beside this box's. */
  readonly aheadMs: number;
  /** How long its first frame has been there when it is sent. */
  readonly firstAgeMs: number;
};

const send = (
  { writer }: TestRing,
  pulled: Pulled,
  { ring, aheadMs, firstAgeMs }: Sender,
  times: { readonly fromMs: number; readonly frames: number },
): void => {
  const into = new FramesIn(writer, pulled);
  into.onDescribed({ ring, awaitsSound: false, info: { ...streamInfo(1), audio: null } });
  for (let index = 0; index < times.frames; index++) {
    const arrivedMs = times.fromMs - firstAgeMs + index * FRAME_MS;
    into.nowMs = Math.max(times.fromMs, arrivedMs) as MonotonicMs;
    const ticks = index * FRAME_MS * 90;
    const nal = nalOf(index, 40);
    const bytes = Buffer.alloc(4 + nal.length);
    bytes.writeUInt32BE(nal.length);
    nal.copy(bytes, 4);
    into.onFrame({
      ...{ isVideo: true, sequence: index, ptsTicks: ticks, dtsTicks: ticks, lengthBytes: bytes.length },
      flags: index % FRAMES_A_GOP === 0 ? frameFlag.key : 0,
      ...{ wallMs: HOUR_MS * 1_000 + arrivedMs + aheadMs, ageMs: into.nowMs - arrivedMs },
    });
    into.onBytes(bytes, 0, bytes.length);
    into.onFrameEnd();
  }
};

const arrivals = (reader: RingReader): number[] => {
  const seen: number[] = [];
  while (reader.next()) seen.push(reader.arrivalMs);
  return seen;
};

for (const aheadMs of [-HOUR_MS, -8_000, 0, 8_000, HOUR_MS])
  test(`a camera that goes to a box whose clock is ${aheadMs / 1_000} s ahead goes on with its next keyframe`, () => {
    const ring = makeRing();
    const reader = new RingReader(ring.writer.ring, { start: 'next' });
    const pulled = nothingPulled();
    send(ring, pulled, { ring: 1, aheadMs: 0, firstAgeMs: 0 }, { fromMs: 10_000, frames: 25 });
    // Its newest keyframe is from before what is here already.
    send(ring, pulled, { ring: 2, aheadMs, firstAgeMs: 900 }, { fromMs: 12_600, frames: 30 });
    const seen = arrivals(reader);
    assert.deepEqual(seen.slice(24, 27), [12_400, 12_700, 12_800]);
    assert.ok(
      seen.every((ms, at) => at === 0 || ms > seen[at - 1]!),
      'nothing of the past',
    );
  });

test('what comes from another box goes on behind all that is here, also behind sound that lies ahead', () => {
  const ring = makeRing();
  const { writer } = ring;
  writeFrame(writer, nalOf(1, 40), { dts: 9_000_000, arrivalMs: 100_000, flags: frameFlag.key });
  writer.reach(103_000);
  const reader = new RingReader(writer.ring, { start: 'next' });
  send(ring, nothingPulled(), { ring: 7, aheadMs: 0, firstAgeMs: 0 }, { fromMs: 101_000, frames: 1 });
  assert.ok(reader.next());
  assert.ok(reader.ptsTicks > 103_000 * 90, `${reader.ptsTicks / 90}`);
});
