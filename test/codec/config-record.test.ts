import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildAvcc, parseAvcc } from '../../src/codec/avcc.js';
import { buildHvcc, parseHvcc } from '../../src/codec/hvcc.js';
import { ParameterSets } from '../../src/codec/parameter-sets.js';
import type { VideoTrackInfo } from '../../src/codec/track.js';
import { encodedSets } from './encoded-sets.js';

const trackOf = (name: string): VideoTrackInfo => {
  const { codec, nals } = encodedSets.find((sets) => sets.name === name)!;
  const sets = new ParameterSets(codec);
  for (const nal of nals) sets.offer(Buffer.from(nal, 'hex'), 0, nal.length / 2);
  return sets.toVideoTrackInfo()!;
};

/** What FFmpeg's MP4 muxer writes for the same parameter sets. */
const ffmpegAvcc: Readonly<Record<string, string>> = {
  'h264 1080p high':
    '01640028ffe1001b67640028acd940780227e5c044000003000400000300c83c60c65801000668ebe3cb22c0fdf8f800',
  'h264 1366x768 main':
    '014d4020ffe1001a674d4020eca02b030f378088000003000800000301e078c18cb001000568ebe3cb20',
  'h264 4:2:2 high422 854x480':
    '017a001fffe10019677a001fbcd940d83de6f01100000303e90000ea600f18319601000668ebe3cb22c0fef8f800',
  'h264 10 bit':
    '016e001effe1001a676e001ea6cd940a03db011000000300100000030320f162d96001000668ebe3cb22c0fdfafa00',
};

const ffmpegHvcc: Readonly<Record<string, string>> = {
  'h265 10 bit':
    '0102200000009000000000003ff000fcfdfafa00000f03a00001001840010c01ffff02200000030090000003000003003f959809a10001002942010102200000030090000003000003003fa005020169365959a4932bc05a02000007d20000ea6010a2000100074401c172b46240',
  'h265 4:2:2':
    '0104080000009d08000000005af000fcfefafa00000f03a00001001740010c01ffff0408000003009d0800000300005a959809a10001002b4201010408000003009d0800000300005ab006b201e1d6d96566924caf016808000003000800000300c840a2000100074401c172b46240',
  'h265 hrd temporal':
    '0101600000009000000000005af000fcfdf8f800001303a00001001c40010c02ffff01600000030090000003000003005a00009598acc048a10001004042010201600000030090000003000003005a0000a0058200905965662b349272bc05a0200000030020000003018c029289c001e848003d09f0007a12000f4264a2000100074401c172b46240',
};

for (const [name, expected] of Object.entries(ffmpegAvcc)) {
  test(`avcC as FFmpeg writes it: ${name}`, () => {
    assert.equal(buildAvcc(trackOf(name)).toString('hex'), expected);
  });
}

for (const [name, expected] of Object.entries(ffmpegHvcc)) {
  test(`hvcC as FFmpeg writes it: ${name}`, () => {
    assert.equal(buildHvcc(trackOf(name)).toString('hex'), expected);
  });
}

test('records read back, and not a byte less of them does', () => {
  for (const { name, codec } of encodedSets) {
    const track = trackOf(name);
    if (codec === 'h264') {
      const record = buildAvcc(track);
      const { sps, pps, lengthBytes } = parseAvcc(record)!;
      assert.deepEqual({ sps, pps, lengthBytes }, { sps: track.sps, pps: track.pps, lengthBytes: 4 });
      const endOfSets = record.length - ((record.at(-4)! & 0xfc) === 0xfc ? 4 : 0);
      assert.equal(parseAvcc(record.subarray(0, endOfSets - 1)), null);
    } else {
      const record = buildHvcc(track);
      const { vps, sps, pps, lengthBytes } = parseHvcc(record)!;
      const { vps: v, sps: s, pps: p } = track;
      assert.deepEqual({ vps, sps, pps, lengthBytes }, { vps: v, sps: s, pps: p, lengthBytes: 4 });
      assert.equal(parseHvcc(record.subarray(0, -1)), null);
    }
  }
});

test('several SPS: the record speaks of the one that the size comes from', () => {
  const big = trackOf('h264 1080p high');
  const small = trackOf('h264 640x360 baseline');
  const record = buildAvcc({ ...big, sps: [...small.sps, ...big.sps] });
  assert.equal(record[1], 100);
  assert.deepEqual(parseAvcc(record)?.sps, [...small.sps, ...big.sps]);
});

test('a track without a sound SPS is a programming error', () => {
  const { codec: _codec, ...rest } = trackOf('h264 1080p high');
  assert.throws(() => buildAvcc({ ...rest, codec: 'h264', sps: [] }), TypeError);
  assert.throws(() => buildHvcc({ ...rest, codec: 'h265', sps: [new Uint8Array([0x42, 1])] }), TypeError);
});

test('property: any bytes are a record or none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const record = Uint8Array.of(1, ...bytes);
      for (const parsed of [parseAvcc(record), parseHvcc(record)]) {
        const nals = parsed === null ? [] : [...parsed.sps, ...parsed.pps];
        assert.ok(nals.reduce((sum, nal) => sum + nal.length, 0) <= record.length);
      }
    }),
  );
});
