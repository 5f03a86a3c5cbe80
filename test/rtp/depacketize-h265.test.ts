import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { H265Depacketizer } from '../../src/rtp/depacketize-h265.js';
import { CollectingSink, packetOf } from './collect.js';

const VPS = '40010c01';
const SPS = '42010101';
const PPS = '4401c172';
const IDR = '2601af01';
const IDR_2 = '26012f02';
const CRA = '2a01af01';
const P = '0201d001';
const P_2 = '02015002';
const SEI = '4e010580';
const SUFFIX_SEI = '50018480';

type Step = [payload: string, timestamp: number, marker: 'm' | ''];

const run = (
  steps: readonly Step[],
  donl = false,
): { sink: CollectingSink; depacketizer: H265Depacketizer } => {
  const sink = new CollectingSink();
  const depacketizer = new H265Depacketizer({ donl }, sink);
  const end = donl ? `${P.slice(0, 4)}0000${P.slice(4)}` : P;
  for (const [payload, timestamp, marker] of [...steps, [end, 99, ''] as Step]) {
    depacketizer.push(packetOf(payload, { timestamp, marker: marker === 'm' }), 0);
  }
  return { sink, depacketizer };
};

const nalsOf = (steps: readonly Step[], donl = false): string[][] =>
  run(steps, donl).sink.frames.map((frame) => frame.nals);

describe('H.265 payloads', () => {
  test('single units, aggregation, fragments; parameter sets and delimiters take their own way', () => {
    const { sink } = run([
      [`60010004${VPS}0004${SPS}0004${PPS}`, 0, ''],
      ['460150', 0, ''],
      [SEI, 0, ''],
      ['620193af', 0, ''],
      ['62011301', 0, ''],
      ['62015302', 0, 'm'],
    ]);
    assert.deepEqual(sink.parameterSets, [VPS, SPS, PPS]);
    assert.deepEqual(sink.frames, [
      { timestamp: 0, isKey: true, nals: [SEI, `${IDR}02`], isAfterDamage: false },
    ]);
  });

  test('decoding order numbers, where the SDP announces them', () => {
    const { sink } = run(
      [
        [`600100070004${VPS}000004${SPS}`, 0, ''],
        ['44010009c172', 0, ''],
        ['620193000aaf', 0, ''],
        ['62015301', 0, 'm'],
      ],
      true,
    );
    assert.deepEqual(sink.parameterSets, [VPS, SPS, PPS]);
    assert.deepEqual(sink.frames[0]?.nals, [IDR]);
  });

  test('CRA starts a GOP too', () => {
    const { sink } = run([[CRA, 0, 'm']]);
    assert.equal(sink.frames[0]?.isKey, true);
  });

  test('SEI behind the picture stays with it, also behind the marker', () => {
    assert.deepEqual(
      nalsOf([
        [P, 0, ''],
        [SUFFIX_SEI, 0, 'm'],
        [P, 1, 'm'],
      ])[0],
      [P, SUFFIX_SEI],
    );
    assert.deepEqual(
      nalsOf([
        [P, 0, 'm'],
        [SUFFIX_SEI, 0, ''],
        [P, 1, 'm'],
      ])[0],
      [P, SUFFIX_SEI],
    );
  });

  test('end of sequence, two bytes long, is nothing malformed; layers above the base are left out', () => {
    const { sink, depacketizer } = run([
      [IDR, 0, ''],
      ['2609af03', 0, ''],
      ['4801', 0, 'm'],
    ]);
    assert.deepEqual(sink.frames[0]?.nals, [IDR]);
    assert.equal(depacketizer.counters.malformedPackets, 0);
  });

  test('PACI, broken headers and packets cut short are counted', () => {
    const { depacketizer } = run([
      ['6401aabb', 0, ''],
      ['0200aa', 0, ''],
      ['6201', 0, ''],
      ['82018000', 0, ''],
    ]);
    assert.equal(depacketizer.counters.malformedPackets, 4);
  });
});

describe('H.265 cameras', () => {
  test('zeros behind a NAL unit (ffmpeg) are no part of it', () => {
    assert.deepEqual(nalsOf([[`${IDR}0000`, 0, 'm']])[0], [IDR]);
    assert.deepEqual(
      nalsOf([
        ['620193af', 0, ''],
        ['620153010000', 0, 'm'],
      ])[0],
      [IDR],
    );
    assert.deepEqual(nalsOf([['26010000af0100', 0, 'm']], true)[0], [IDR]);
  });

  test('start and end in one fragment (OpenIPC) is a whole NAL unit', () => {
    assert.deepEqual(nalsOf([['6201d3af01', 0, 'm']])[0], [IDR]);
  });

  test('a marker on every slice', () => {
    const steps: Step[] = [
      [IDR, 0, 'm'],
      [IDR_2, 0, 'm'],
      [P, 1, 'm'],
      [P_2, 1, 'm'],
    ];
    assert.deepEqual(nalsOf(steps), [
      [IDR, IDR_2],
      [P, P_2],
    ]);
  });

  test('Annex B inside RTP, whole and in fragments', () => {
    const { sink } = run([
      [`${VPS}00000001${SPS}00000001${PPS}000001${IDR}`, 0, 'm'],
      [`00000001${P}`, 1, 'm'],
      ['620081d0', 2, ''],
    ]);
    assert.deepEqual(sink.parameterSets, [VPS, SPS, PPS]);
    assert.deepEqual(
      sink.frames.map((frame) => frame.nals),
      [[IDR], [P]],
    );
    const fragmented = nalsOf([
      ['620080000126', 0, ''],
      ['62004001af01', 0, 'm'],
    ]);
    assert.deepEqual(fragmented[0], [IDR]);
  });
});
