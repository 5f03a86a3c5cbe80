import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { opusTrack } from '../../src/codec/audio-track.js';
import { FragmentBuilder } from '../../src/fmp4/fragment.js';
import { AUDIO_TRACK_ID, buildInitSegment, VIDEO_TRACK_ID } from '../../src/fmp4/init-segment.js';
import { fixtures } from '../support/fixtures.js';
import { scanFile, streamInfoOf } from './fragmented-file.js';

const init = buildInitSegment(streamInfoOf(fixtures.h264High(), opusTrack()));

const builderFrom = (videoOriginTicks: number, audioOriginTicks: number): FragmentBuilder =>
  new FragmentBuilder([
    { trackId: VIDEO_TRACK_ID, kind: 'video', originTicks: videoOriginTicks, usualDurationTicks: 3600 },
    { trackId: AUDIO_TRACK_ID, kind: 'audio', originTicks: audioOriginTicks, usualDurationTicks: 960 },
  ]);

const steps = fc.array(
  fc.record({
    track: fc.constantFrom(0, 1),
    stepTicks: fc.oneof(fc.integer({ min: 1, max: 9000 }), fc.integer({ min: 1, max: 0xffff_ffff })),
    compositionTicks: fc.integer({ min: -0x7fff_ffff, max: 0x7fff_ffff }),
    sizeBytes: fc.integer({ min: 1, max: 300 }),
    isKey: fc.boolean(),
    isCutBefore: fc.boolean(),
    /** Up to 2103, beyond the wrap of NTP's seconds. */
    wallMs: fc.option(fc.integer({ min: 0, max: 4_200_000_000_000 })),
  }),
  { minLength: 1, maxLength: 80 },
);

/** Any time that the unwrapped RTP clock can reach in a century. */
const origin = fc.integer({ min: 0, max: 2 ** 48 });

test('whatever is built is read back the same, with durations up to the next frame', () => {
  fc.assert(
    fc.property(steps, origin, origin, (samples, videoOrigin, audioOrigin) => {
      const origins = [videoOrigin, audioOrigin] as const;
      const builder = builderFrom(videoOrigin, audioOrigin);
      const pieces: Buffer[] = [init];
      const dts = [videoOrigin - 1, audioOrigin - 1];
      const expected: { ticks: number; composition: number; size: number; isKey: boolean }[][] = [[], []];
      const walls: (number | null)[] = [];
      let wallMs: number | null = null;
      const finish = (endTicks: readonly number[]): void => {
        const head = Buffer.alloc(builder.headBytes + 10);
        const { dataBytes } = builder;
        assert.equal(builder.finish(head, 5, endTicks), head.length - 5);
        pieces.push(head.subarray(5, -5), Buffer.alloc(dataBytes));
        walls.push(wallMs);
        wallMs = null;
      };
      for (const [index, sample] of samples.entries()) {
        if (sample.isCutBefore && builder.sampleCount > 0) {
          const next = [0, 1].map((track) => {
            const coming = samples.slice(index).find((other) => other.track === track);
            return coming === undefined ? Number.NaN : dts[track]! + coming.stepTicks;
          });
          finish(next);
        }
        const dtsTicks = dts[sample.track]! + sample.stepTicks;
        dts[sample.track] = dtsTicks;
        const composition = sample.track === 0 ? sample.compositionTicks : 0;
        const { track, sizeBytes, isKey } = sample;
        assert.ok(builder.add(track, dtsTicks, dtsTicks + composition, sizeBytes, isKey));
        if (track === 0 && sample.wallMs !== null) {
          builder.setWall(sample.wallMs, dtsTicks);
          wallMs = sample.wallMs;
        }
        const ticks = dtsTicks - origins[track]!;
        expected[track]!.push({ ticks, composition, size: sizeBytes, isKey: isKey || track === 1 });
      }
      finish([]);
      const file = Buffer.concat(pieces);
      const { scanner } = scanFile(file);
      assert.equal(scanner.fault, null);
      assert.equal(scanner.wholeBytes, file.length);
      assert.deepEqual(
        scanner.fragments.map(({ wall }) => wall?.wallMs ?? null),
        walls,
      );
      for (const track of [0, 1]) {
        const columns = scanner.columns[track]!;
        const read = Array.from({ length: columns.count }, (_, at) => ({
          ticks: columns.dtsTicks[at]!,
          composition: columns.compositionTicks[at]!,
          size: columns.sizeBytes[at]!,
          isKey: columns.isKey[at] === 1,
        }));
        assert.deepEqual(read, expected[track]);
        for (let at = 1; at < read.length; at += 1) {
          assert.equal(columns.durationTicks[at - 1], read[at]!.ticks - read[at - 1]!.ticks);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('a sample that the file cannot hold is refused and leaves no trace', () => {
  const builder = builderFrom(1000, 0);
  assert.equal(builder.add(0, 999, 999, 10, true), false, 'before the origin');
  assert.equal(builder.add(0, Number.NaN, 0, 10, true), false, 'no time');
  assert.equal(builder.add(0, 1000, 1000, 10, true), true);
  assert.equal(builder.add(0, 1000, 1000, 10, false), false, 'no time has gone by');
  assert.equal(builder.add(0, 500, 1000, 10, false), false, 'back in time');
  assert.equal(builder.add(0, 2 ** 33, 2 ** 33, 10, false), false, 'too far ahead');
  assert.equal(builder.add(0, 2000, 2 ** 33, 10, false), false, 'composition too far ahead');
  assert.equal(builder.add(0, 2000, 2000, 2 ** 31, false), false, 'too large');
  assert.equal(builder.add(0, 2000, 2000, 0, false), false, 'empty');
  assert.equal(builder.sampleCount, 1);
  assert.equal(builder.dataBytes, 10);
  builder.finish(Buffer.alloc(builder.headBytes), 0, [2000]);
  assert.equal(builder.add(0, 1000, 1000, 10, true), false, 'no time has gone by since the last fragment');
  assert.equal(builder.add(0, 2000, 2000, 10, true), true);
});

test('a head that does not fit its target is not begun', () => {
  const builder = builderFrom(0, 0);
  builder.add(0, 0, 0, 10, true);
  assert.throws(() => builder.finish(Buffer.alloc(builder.headBytes), 1, []), RangeError);
  assert.equal(builder.sampleCount, 1);
});

test('without a next frame the last sample lasts as long as the one before it', () => {
  const builder = builderFrom(0, 0);
  builder.add(0, 0, 0, 10, true);
  builder.add(0, 4000, 4000, 10, false);
  builder.add(1, 0, 0, 5, true);
  const head = Buffer.alloc(builder.headBytes);
  builder.finish(head, 0, [Number.NaN, Number.NaN]);
  const { scanner } = scanFile(Buffer.concat([init, head, Buffer.alloc(25)]));
  assert.deepEqual([...scanner.columns[0]!.durationTicks.subarray(0, 2)], [4000, 4000]);
  assert.equal(scanner.columns[1]!.durationTicks[0], 960);
});
