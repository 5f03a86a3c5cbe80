import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MAX_NALS_PER_ACCESS_UNIT } from '../../src/rtp/access-unit.js';
import { H264Depacketizer } from '../../src/rtp/depacketize-h264.js';
import { CollectingSink, packetOf } from './collect.js';

// First slices have the top bit of the byte behind the header set, other slices don't.
const IDR = '6588aa01';
const IDR_2 = '6508aa02';
const P = '4188bb01';
const P_2 = '4108bb02';
const SPS = '6742c01e';
const PPS = '68ce3c80';
const SEI = '0605ee80';
const AUD = '09f0';

type Step = [payload: string, timestamp: number, marker: 'm' | '', lostBefore?: number];

const END_TIMESTAMP = 999_999;

/** Pushes the packets and, to end whatever is waiting for its end, one more frame, which isn't shown. */
const run = (
  steps: readonly Step[],
  limitBytes?: number,
): { sink: CollectingSink; depacketizer: H264Depacketizer } => {
  const sink = new CollectingSink(limitBytes);
  const depacketizer = new H264Depacketizer(sink);
  sink.damaged = () => depacketizer.damagedSinceLastCommit;
  for (const [payload, timestamp, marker, lostBefore] of steps) {
    depacketizer.push(packetOf(payload, { timestamp, marker: marker === 'm' }), lostBefore ?? 0);
  }
  depacketizer.push(packetOf(P, { timestamp: END_TIMESTAMP, marker: true }), 0);
  if (sink.frames.at(-1)?.timestamp === END_TIMESTAMP) sink.frames.pop();
  return { sink, depacketizer };
};

const framesOf = (steps: readonly Step[]): [number, ...string[]][] =>
  run(steps).sink.frames.map((frame) => [frame.timestamp, ...frame.nals]);

describe('H.264 payloads', () => {
  test('single NAL units, STAP-A and STAP-B', () => {
    const { sink } = run([
      [`78${'0004'}${SPS}0004${PPS}`, 0, ''],
      [`79${'abcd'}0004${SEI}0004${IDR}`, 0, 'm'],
      [P, 3000, 'm'],
      [P, 6000, 'm'],
    ]);
    assert.deepEqual(sink.parameterSets, [SPS, PPS]);
    assert.deepEqual(sink.frames, [
      { timestamp: 0, isKey: true, nals: [SEI, IDR], isAfterDamage: false },
      { timestamp: 3000, isKey: false, nals: [P], isAfterDamage: false },
      { timestamp: 6000, isKey: false, nals: [P], isAfterDamage: false },
    ]);
  });

  test('a broken packet behind a unit without its end costs its own picture, not the one before', () => {
    const broken = ['78ffff4188', '7c'];
    for (const payload of broken)
      assert.deepEqual(
        framesOf([
          [IDR, 0, 'm'],
          ['5c8188bb', 3000, ''],
          ['5c01cc', 3000, ''],
          [payload, 6000, ''],
          ['5c01dd', 6000, 'm'],
          [IDR_2.replace('6508', '6588'), 9000, 'm'],
        ]),
        [
          [0, IDR],
          [3000, '4188bbcc'],
          [9000, IDR_2.replace('6508', '6588')],
        ],
        payload,
      );
  });

  test('FU-A and FU-B', () => {
    const steps: Step[] = [
      ['7c8588aa', 0, ''],
      ['7c05bbcc', 0, ''],
      ['7c45dd', 0, 'm'],
      ['5d8100018811', 3000, ''],
      ['5c4122', 3000, 'm'],
    ];
    assert.deepEqual(framesOf(steps), [
      [0, '6588aabbccdd'],
      [3000, '41881122'],
    ]);
  });

  test('MTAPs and unknown types are counted and passed over', () => {
    const { sink, depacketizer } = run([
      [IDR, 0, ''],
      ['7a000004', 0, ''],
      ['1f', 0, 'm'],
    ]);
    assert.equal(depacketizer.counters.malformedPackets, 2);
    assert.deepEqual(sink.frames[0]?.nals, [IDR]);
  });

  test('data partitions, which no decoder takes, are no pictures', () => {
    const steps: Step[] = [
      [IDR, 0, 'm'],
      ['4288bb', 3000, 'm'],
      ['5c8288bb', 6000, ''],
      ['5c42cc', 6000, 'm'],
      [P, 9000, 'm'],
    ];
    assert.deepEqual(framesOf(steps), [
      [0, IDR],
      [9000, P],
    ]);
  });

  test('delimiter, filler, end of sequence and of stream stay out, parameter sets take their own way', () => {
    const { sink } = run([
      [AUD, 0, ''],
      [SPS, 0, ''],
      ['0cffff80', 0, ''],
      [IDR, 0, ''],
      ['0a', 0, ''],
      ['0b', 0, 'm'],
    ]);
    assert.deepEqual(sink.frames[0]?.nals, [IDR]);
    assert.deepEqual(sink.parameterSets, [SPS]);
  });

  test('parameter sets and SEI in fragments come out whole', () => {
    const { sink } = run([
      ['7c8742', 0, ''],
      ['7c47c01e', 0, ''],
      ['1c8605', 0, ''],
      ['1c46ee80', 0, ''],
      [IDR, 0, 'm'],
    ]);
    assert.deepEqual(sink.parameterSets, [SPS]);
    assert.deepEqual(sink.frames[0]?.nals, [SEI, IDR]);
  });
});

describe('where an access unit ends', () => {
  test('no marker at all (FLIR M400): at the next timestamp', () => {
    assert.deepEqual(
      framesOf([
        [IDR, 0, ''],
        [IDR_2, 0, ''],
        [P, 3000, ''],
        [P_2, 3000, ''],
        [P, 6000, ''],
      ]),
      [
        [0, IDR, IDR_2],
        [3000, P, P_2],
        [6000, P],
      ],
    );
  });

  test('a marker on SPS, PPS and SEI (Tapo TC70, Reolink Duo 2) ends nothing', () => {
    const steps: Step[] = [
      [SPS, 0, 'm'],
      [PPS, 0, 'm'],
      [SEI, 0, 'm'],
      [IDR, 0, 'm'],
      [P, 3000, 'm'],
    ];
    assert.deepEqual(framesOf(steps), [
      [0, SEI, IDR],
      [3000, P],
    ]);
  });

  test('the timestamp changes before the picture: the newest is the frame`s', () => {
    assert.deepEqual(
      framesOf([
        [SPS, 0, ''],
        [SEI, 10, ''],
        [IDR, 3000, 'm'],
      ]),
      [[3000, SEI, IDR]],
    );
  });

  test('the timestamp changes between slices of one picture: they stay together', () => {
    assert.deepEqual(
      framesOf([
        [IDR, 0, ''],
        [IDR_2, 7, ''],
        ['6504cc', 9, ''],
        [P, 3000, 'm'],
        [P, 6000, 'm'],
      ]),
      [
        [0, IDR, IDR_2, '6504cc'],
        [3000, P],
        [6000, P],
      ],
    );
  });

  test('a marker on every slice: none is believed, from the first frame on', () => {
    const steps: Step[] = [];
    for (let i = 0; i < 4; i += 1) steps.push([P, i * 3000, 'm'], [P_2, i * 3000, 'm']);
    assert.deepEqual(framesOf(steps), [
      [0, P, P_2],
      [3000, P, P_2],
      [6000, P, P_2],
      [9000, P, P_2],
    ]);
  });

  test('a marker on every slice, discovered late: that frame is damaged, the others whole', () => {
    const steps: Step[] = [
      [IDR, 0, 'm'],
      [P, 3000, 'm'],
      [P, 6000, 'm'],
      [P_2, 6000, 'm'],
    ];
    for (let i = 3; i < 6; i += 1) steps.push([P, i * 3000, 'm'], [P_2, i * 3000, 'm']);
    const { sink, depacketizer } = run(steps);
    assert.deepEqual(
      sink.frames.map((frame) => [frame.timestamp, ...frame.nals]),
      [
        [0, IDR],
        [3000, P],
        [6000, P],
        [9000, P, P_2],
        [12_000, P, P_2],
        [15_000, P, P_2],
      ],
    );
    assert.equal(depacketizer.counters.damagedFrames, 1);
    assert.equal(sink.frames[3]?.isAfterDamage, true);
  });

  test('one timestamp for ever and a marker on every slice: first slices tell frames apart', () => {
    const steps: Step[] = [];
    for (let i = 0; i < 3; i += 1) steps.push([P, 0, 'm'], [P_2, 0, 'm']);
    steps.push([P, 0, 'm', 1], [P_2, 0, 'm'], [P, 0, 'm'], [P_2, 0, 'm'], [P, 0, 'm']);
    assert.deepEqual(
      framesOf(steps).map((frame) => frame.slice(1)),
      [[P, P_2], [P, P_2], [P, P_2], [P]],
    );
  });

  test('two fields of one time and one marker are one frame', () => {
    assert.deepEqual(
      framesOf([
        [P, 0, ''],
        [P, 0, 'm'],
      ]),
      [[0, P, P]],
    );
  });

  test('an IDR without SPS and PPS is a frame like any other', () => {
    const { sink } = run([[IDR, 0, 'm']]);
    assert.equal(sink.frames[0]?.isKey, true);
  });
});

describe('fragments of odd making', () => {
  test('start and end in one (CostarHD) is a whole NAL unit', () => {
    assert.deepEqual(framesOf([['7cc588aa01', 0, 'm']])[0], [0, IDR]);
  });

  test('types that differ (Tiandy): the first counts', () => {
    assert.deepEqual(
      framesOf([
        ['7c8588', 0, ''],
        ['7c01aa', 0, ''],
        ['7c4101', 0, 'm'],
      ])[0],
      [0, IDR],
    );
  });

  test('empty fragments are passed over', () => {
    assert.deepEqual(
      framesOf([
        ['7c85', 0, ''],
        ['7c0588aa', 0, ''],
        ['7c05', 0, ''],
        ['7c0501', 0, ''],
        ['7c45', 0, 'm'],
      ])[0],
      [0, IDR],
    );
  });

  test('a marker inside a NAL unit means nothing', () => {
    assert.deepEqual(
      framesOf([
        ['7c8588', 0, 'm'],
        ['7c05aa', 0, 'm'],
        ['7c4501', 0, 'm'],
      ])[0],
      [0, IDR],
    );
  });

  test('a missing end bit costs nothing but a count', () => {
    const { sink, depacketizer } = run([
      ['7c8588', 0, ''],
      ['7c05aa01', 0, 'm'],
      [P, 3000, 'm'],
    ]);
    assert.deepEqual(sink.frames[0]?.nals, [IDR]);
    assert.equal(depacketizer.counters.malformedPackets, 1);
  });

  test('STAP-A padded with zeros', () => {
    assert.deepEqual(framesOf([[`780004${IDR}0000000000`, 0, 'm']])[0], [0, IDR]);
    assert.deepEqual(framesOf([[`780004${IDR}00`, 0, 'm']])[0], [0, IDR]);
  });

  test('STAP-A that breaks off damages its access unit', () => {
    const { sink, depacketizer } = run([
      [IDR, 0, ''],
      [`780004${IDR_2}0009aa`, 0, 'm'],
      [P, 3000, 'm'],
    ]);
    assert.deepEqual(sink.frames[0]?.nals, [P]);
    assert.equal(sink.frames[0]?.isAfterDamage, true);
    assert.equal(depacketizer.counters.malformedPackets, 1);
    assert.equal(depacketizer.counters.damagedFrames, 1);
  });
});

describe('Annex B inside RTP (V380)', () => {
  test('a unit that starts with a start code', () => {
    assert.deepEqual(
      framesOf([
        [`00000001${IDR}`, 0, 'm'],
        [`000001${P}`, 3000, 'm'],
      ]),
      [
        [0, IDR],
        [3000, P],
      ],
    );
  });

  test('SPS, PPS and IDR as one unit', () => {
    const { sink } = run([[`${SPS}00000001${PPS}00000001${IDR}`, 0, 'm']]);
    assert.deepEqual(sink.parameterSets, [SPS, PPS]);
    assert.deepEqual(sink.frames[0], { timestamp: 0, isKey: true, nals: [IDR], isAfterDamage: false });
  });

  test('SPS, PPS and IDR as one FU-A, start codes across fragments; then pictures in FU-A', () => {
    const { sink } = run([
      ['7c8742c01e00', 0, ''],
      [`7c07000001${PPS}0000`, 0, ''],
      ['7c47016588aa01', 0, 'm'],
      ['5c8188bb0100', 3000, ''],
      ['5c410000014108bb02', 3000, 'm'],
    ]);
    assert.deepEqual(sink.parameterSets, [SPS, PPS]);
    assert.deepEqual(
      sink.frames.map((frame) => frame.nals),
      [[IDR], [P, P_2]],
    );
  });

  test('a start code as FU-A of type 0', () => {
    assert.deepEqual(
      framesOf([
        ['1c8000000165', 0, ''],
        ['1c4088aa01', 0, 'm'],
      ])[0],
      [0, IDR],
    );
  });

  test('slices of a healthy stream are never searched', () => {
    const slice = '4188000001ff';
    assert.deepEqual(
      framesOf([
        [SPS, 0, ''],
        [slice, 0, 'm'],
      ])[0],
      [0, slice],
    );
  });
});

describe('loss', () => {
  const start: Step[] = [
    [IDR, 0, 'm'],
    [P, 3000, 'm'],
  ];

  test('inside an access unit: that one is given up, the next says so', () => {
    const { sink, depacketizer } = run([...start, [P, 6000, ''], ['4104', 6000, 'm', 1], [P, 9000, 'm']]);
    assert.deepEqual(
      sink.frames.map((frame) => [frame.timestamp, frame.isAfterDamage]),
      [
        [0, false],
        [3000, false],
        [9000, true],
      ],
    );
    assert.equal(depacketizer.counters.damagedFrames, 1);
  });

  test('between access units: both are whole', () => {
    const { sink, depacketizer } = run([...start, [P, 9000, 'm', 3]]);
    assert.deepEqual(
      sink.frames.map((frame) => [frame.timestamp, frame.isAfterDamage]),
      [
        [0, false],
        [3000, false],
        [9000, true],
      ],
    );
    assert.equal(depacketizer.counters.damagedFrames, 0);
  });

  test('of the end of one and the head of the next: both are given up', () => {
    const { sink, depacketizer } = run([...start, [P, 6000, ''], [P_2, 9000, 'm', 2], [P, 12_000, 'm']]);
    assert.deepEqual(
      sink.frames.map((frame) => frame.timestamp),
      [0, 3000, 12_000],
    );
    assert.ok(depacketizer.counters.damagedFrames >= 1);
  });

  test('of a middle fragment: what follows of the NAL unit is not a frame', () => {
    const { sink } = run([...start, ['5c8188', 6000, ''], ['5c01aa', 6000, '', 1], ['5c41bb', 6000, 'm']]);
    assert.deepEqual(
      sink.frames.map((frame) => frame.timestamp),
      [0, 3000],
    );
  });

  test('of SEI alone: the picture is whole', () => {
    const { sink } = run([...start, [SPS, 6000, ''], [IDR, 6000, 'm', 1]]);
    assert.deepEqual(sink.frames[2]?.nals, [IDR]);
  });

  test('a session that begins in the middle of a picture begins with the next one', () => {
    const { sink, depacketizer } = run([
      ['5c01aa', 0, ''],
      ['5c41bb', 0, 'm'],
      [IDR, 3000, 'm'],
    ]);
    assert.deepEqual(
      sink.frames.map((frame) => frame.timestamp),
      [3000],
    );
    assert.deepEqual(depacketizer.counters, { damagedFrames: 0, malformedPackets: 0, oversizedFrames: 0 });
  });
});

describe('limits', () => {
  test('a frame over the sink`s limit is given up, the next one is a frame again', () => {
    const steps: Step[] = [
      [IDR, 0, 'm'],
      ['5c8188', 3000, ''],
    ];
    for (let i = 0; i < 20; i += 1) steps.push(['5c01aabbccdd', 3000, '']);
    const { sink, depacketizer } = run([...steps, ['5c41ee', 3000, 'm'], [P, 6000, 'm']], 32);
    assert.deepEqual(
      sink.frames.map((frame) => frame.timestamp),
      [0, 6000],
    );
    assert.deepEqual(depacketizer.counters, { damagedFrames: 0, malformedPackets: 0, oversizedFrames: 1 });
  });

  test('so is one of too many NAL units', () => {
    const steps: Step[] = [[IDR, 0, '']];
    for (let i = 0; i < MAX_NALS_PER_ACCESS_UNIT; i += 1) steps.push([IDR_2, 0, '']);
    const { sink, depacketizer } = run([...steps, [P, 3000, 'm']]);
    assert.deepEqual(
      sink.frames.map((frame) => frame.timestamp),
      [3000],
    );
    assert.equal(depacketizer.counters.oversizedFrames, 1);
  });

  test('reset forgets what is half-assembled', () => {
    const sink = new CollectingSink();
    const depacketizer = new H264Depacketizer(sink);
    const push = (payload: string, timestamp: number): void =>
      depacketizer.push(packetOf(payload, { timestamp, marker: true }), 0);
    push(IDR, 0);
    push(P, 3000);
    push('5c8188', 6000);
    depacketizer.reset();
    push('5c41aa', 6000);
    push(IDR, 100);
    push(P, 3100);
    assert.deepEqual(
      sink.frames.map((frame) => frame.timestamp),
      [0, 3000, 100, 3100],
    );
  });
});
