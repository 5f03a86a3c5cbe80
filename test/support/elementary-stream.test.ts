import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nalTypeOf } from '../../src/codec/nal.js';
import { ParameterSets } from '../../src/codec/parameter-sets.js';
import { accessUnitHash, joinNals, normaliseAccessUnit, splitNals } from './access-units.js';
import { fixtures } from './fixtures.js';

const typesOf = (codec: 'h264' | 'h265', bytes: Buffer): number[] =>
  splitNals(bytes).map((nal) => nalTypeOf(codec, nal[0]!));

test('video files fall into whole pictures with a keyframe each second', () => {
  for (const name of ['h264High', 'h264Baseline', 'h264BFrames', 'h265Main'] as const) {
    const stream = fixtures[name]();
    assert.equal(stream.frames.length, 60, name);
    assert.equal(stream.durationTicks, 4 * 90_000, name);
    const keys = stream.frames.flatMap((frame, index) => (frame.isKey ? [index] : []));
    assert.deepEqual(keys, [0, 15, 30, 45], name);
    assert.equal(new Set(stream.frames.map((frame) => accessUnitHash(stream.codec, frame.bytes))).size, 60);
  }
  assert.equal(fixtures.h264Large().frames.length, 30);
});

test('what stands in the files is what their names say', () => {
  const baseline = fixtures.h264Baseline().frames;
  assert.deepEqual(typesOf('h264', baseline[1]!.bytes), [9, 1, 1]);
  assert.deepEqual(typesOf('h264', baseline[15]!.bytes), [9, 7, 8, 5, 5]);
  assert.deepEqual(typesOf('h264', fixtures.h264High().frames[0]!.bytes), [7, 8, 6, 5]);
  assert.deepEqual(typesOf('h265', fixtures.h265Main().frames[15]!.bytes), [32, 33, 34, 20]);
  const order = fixtures.h264BFrames().frames.map((frame) => frame.ptsTicks / 6000);
  assert.deepEqual(order.slice(0, 5), [0, 4, 2, 1, 3]);
  assert.deepEqual(
    order.toSorted((a, b) => a - b),
    order.map((_, index) => index),
  );
});

test('the parameter sets of a file describe it', () => {
  const seen = (['h264High', 'h264Large', 'h265Main'] as const).map((name) => {
    const stream = fixtures[name]();
    const sets = new ParameterSets(stream.codec);
    for (const nal of stream.parameterSets) sets.offer(nal, 0, nal.length);
    const info = sets.toVideoTrackInfo();
    return `${info?.width}x${info?.height} ${info?.codecString.slice(0, 4)}`;
  });
  assert.deepEqual(seen, ['320x180 avc1', '640x360 avc1', '320x180 hvc1']);
});

test('normalising leaves slices and SEI', () => {
  const whole = joinNals([
    Buffer.of(9, 1),
    Buffer.of(7, 1),
    Buffer.of(6, 5),
    Buffer.of(0x65, 1, 0),
    Buffer.of(12, 255),
  ]);
  assert.deepEqual(normaliseAccessUnit('h264', whole), joinNals([Buffer.of(6, 5), Buffer.of(0x65, 1)]));
});

test('audio files fall into frames of their codec', () => {
  const aac = fixtures.aac();
  assert.deepEqual(
    [aac.track.clockRateHz, aac.track.channels, aac.track.codecString],
    [48_000, 2, 'mp4a.40.2'],
  );
  assert.ok(Math.abs(aac.durationTicks - 4 * 48_000) <= 2048, `${aac.durationTicks}`);
  assert.equal(fixtures.pcmu().frames.length, 100);
  assert.equal(fixtures.pcma().track.codec, 'pcma');
});
