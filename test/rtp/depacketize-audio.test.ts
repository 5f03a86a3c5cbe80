import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AacDepacketizer } from '../../src/rtp/depacketize-aac.js';
import { AudioFrameDepacketizer } from '../../src/rtp/depacketize-audio.js';
import { CollectingAudioSink, packetOf } from './collect.js';

const HBR = { sizeLength: 13, indexLength: 3, indexDeltaLength: 3, ticksPerFrame: 1024 };

type Step = [payload: string, timestamp: number, marker: 'm' | '', lostBefore?: number];

const run = (
  steps: readonly Step[],
  options = HBR,
): { frames: [number, string][]; counters: AacDepacketizer['counters'] } => {
  const sink = new CollectingAudioSink();
  const depacketizer = new AacDepacketizer(options, sink);
  for (const [payload, timestamp, marker, lostBefore] of steps) {
    depacketizer.push(packetOf(payload, { timestamp, marker: marker === 'm' }), lostBefore ?? 0);
  }
  const frames = sink.frames.map(({ timestamp, data }): [number, string] => [timestamp, data]);
  return { frames, counters: depacketizer.counters };
};

test('AAC-hbr: several access units in a packet, a frame length apart, over the wrap too', () => {
  const { frames } = run([['0030001000180008aabbcccccc0d', 0xffff_ff00, 'm']]);
  assert.deepEqual(frames, [
    [0xffff_ff00, 'aabb'],
    [0x300, 'cccccc'],
    [0x700, '0d'],
  ]);
});

test('AAC with frames of 960 samples, AAC-lbr, and sizes of odd widths', () => {
  assert.deepEqual(run([['002000080008aabb', 0, 'm']], { ...HBR, ticksPerFrame: 960 }).frames, [
    [0, 'aa'],
    [960, 'bb'],
  ]);
  const lbr = { sizeLength: 6, indexLength: 2, indexDeltaLength: 2, ticksPerFrame: 1024 };
  assert.deepEqual(run([['00100804aabbcc', 0, 'm']], lbr).frames, [
    [0, 'aabb'],
    [1024, 'cc'],
  ]);
  const odd = { sizeLength: 10, indexLength: 0, indexDeltaLength: 1, ticksPerFrame: 1024 };
  // 0000000010 | 0000000001 0 -> 21 bits, in 3 bytes.
  assert.deepEqual(run([['0015008010aabbcc', 0, 'm']], odd).frames, [
    [0, 'aabb'],
    [1024, 'cc'],
  ]);
});

test('no AU headers at all: the payload is one access unit', () => {
  const none = { sizeLength: 0, indexLength: 0, indexDeltaLength: 0, ticksPerFrame: 1024 };
  assert.deepEqual(run([['aabbcc', 5, 'm']], none).frames, [[5, 'aabbcc']]);
});

test('index deltas of interleaved access units count as time', () => {
  assert.deepEqual(run([['00200008000aaabb', 0, 'm']]).frames, [
    [0, 'aa'],
    [3072, 'bb'],
  ]);
});

test('one access unit over several packets; a loss in it costs just that one', () => {
  const whole: Step[] = [
    ['00100030aabb', 0, ''],
    ['00100030ccdd', 0, ''],
    ['00100030eeff', 0, 'm'],
  ];
  assert.deepEqual(run(whole).frames, [[0, 'aabbccddeeff']]);
  const { frames, counters } = run([
    ...whole.slice(0, 1),
    ['00100030eeff', 0, 'm', 1],
    ['0010000811', 1024, 'm'],
  ]);
  assert.deepEqual(frames, [[1024, '11']]);
  assert.equal(counters.damagedFrames + counters.malformedPackets >= 1, true);
});

test('a sender that gives the size of each piece is understood', () => {
  const { frames } = run([
    ['00100020aabb', 0, ''],
    ['00100010ccdd', 0, 'm'],
  ]);
  assert.deepEqual(frames, [[0, 'aabbccdd']]);
});

test('an ADTS header inside is stripped, with checksum or without; what merely looks like one is left', () => {
  const { frames } = run([
    ['00100050fff15080014000aabbcc', 0, 'm'],
    ['00100060fff0508001800012340aabbc', 1024, 'm'],
    ['00100050fff15080030000aabbcc', 2048, 'm'],
  ]);
  assert.deepEqual(frames, [
    [0, 'aabbcc'],
    [1024, '0aabbc'],
    [2048, 'fff15080030000aabbcc'],
  ]);
});

test('broken headers are counted, and what was whole before is kept', () => {
  assert.equal(run([['00', 0, 'm']]).counters.malformedPackets, 1);
  assert.equal(run([['ffff0000', 0, 'm']]).counters.malformedPackets, 1);
  assert.equal(run([['00000000', 0, 'm']]).counters.malformedPackets, 1);
  const { frames, counters } = run([['002000080050aabb', 0, 'm']]);
  assert.deepEqual(frames, [[0, 'aa']]);
  assert.equal(counters.malformedPackets, 1);
});

test('Opus and G.711: a packet is a frame, an empty one is nothing', () => {
  const sink = new CollectingAudioSink();
  const depacketizer = new AudioFrameDepacketizer(sink);
  depacketizer.push(packetOf('d5d5d5', { timestamp: 160 }));
  depacketizer.push(packetOf('', { timestamp: 320 }));
  depacketizer.reset();
  assert.deepEqual(sink.frames, [{ timestamp: 160, data: 'd5d5d5' }]);
});
