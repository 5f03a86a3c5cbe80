import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ParameterSets } from '../../src/codec/parameter-sets.js';
import type { VideoCodec } from '../../src/codec/track.js';
import { encodedSets } from './encoded-sets.js';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const collect = (codec: VideoCodec, nals: readonly Buffer[]): ParameterSets => {
  const sets = new ParameterSets(codec);
  for (const nal of nals) sets.offer(nal, 0, nal.length);
  return sets;
};

for (const { name, codec, nals, ...facts } of encodedSets) {
  test(`${name}: facts as ffprobe tells them`, () => {
    const info = collect(codec, nals.map(hex)).toVideoTrackInfo();
    assert.ok(info);
    assert.deepEqual(
      [...info.vps, ...info.sps, ...info.pps].map((nal) => Buffer.from(nal).toString('hex')),
      nals,
    );
    const { vps: _vps, sps: _sps, pps: _pps, ...rest } = info;
    assert.deepEqual(rest, { codec, ...facts });
  });
}

test('nothing is new the second time, nor with zeros behind it, wherever it lies', () => {
  for (const { codec, nals } of encodedSets) {
    const sets = collect(codec, nals.map(hex));
    const before = sets.toVideoTrackInfo();
    for (const nal of nals) {
      const framed = hex(`0000000001${nal}0000`);
      assert.equal(sets.offer(framed, 5, framed.length), false);
    }
    assert.equal(sets.toVideoTrackInfo(), before);
  }
});

test('a changed SPS of the same id replaces the old one', () => {
  const [big, small] = [encodedSets[0]!, encodedSets[10]!];
  const sets = collect('h264', big.nals.map(hex));
  const sps = hex(small.nals[0]!);
  assert.equal(sets.offer(sps, 0, sps.length), true);
  const info = sets.toVideoTrackInfo();
  assert.equal(info?.width, 1280);
  assert.equal(info?.sps.length, 1);
});

test('incomplete sets make no track', () => {
  for (const { codec, nals } of encodedSets) {
    for (let missing = 0; missing < nals.length; missing += 1) {
      const some = nals.filter((_, index) => index !== missing).map(hex);
      assert.equal(collect(codec, some).toVideoTrackInfo(), null);
    }
  }
});

test('what a stream brings wins over junk and over another id in the SDP', () => {
  const { nals } = encodedSets[0]!;
  const sets = new ParameterSets('h264');
  assert.equal(sets.offer(hex('67640028'), 0, 4), false);
  assert.equal(sets.rejected, 1);
  assert.match(sets.lack(), /^the SPS can't be read \(4 bytes: cut short/);
  for (const nal of nals.map(hex)) assert.equal(sets.offer(nal, 0, nal.length), true);
  assert.equal(sets.toVideoTrackInfo()?.width, 1920);
});

test('what is missing is told by its kind, and why it was kept out', () => {
  const { nals } = encodedSets.find(({ codec }) => codec === 'h265')!;
  const sets = new ParameterSets('h265');
  assert.equal(sets.lack(), 'no VPS came');
  for (const [nal, lack] of [
    [nals[0]!, 'no SPS came'],
    [nals[1]!, 'no PPS came'],
    ['4401', 'no PPS came'],
    [nals[2]!, ''],
  ] as const) {
    const bytes = hex(nal);
    sets.offer(bytes, 0, bytes.length);
    assert.equal(sets.lack(), lack);
  }
});

test('an oversized set is counted and kept out', () => {
  const sets = new ParameterSets('h264');
  const big = Buffer.alloc(5000, 0xff);
  hex(encodedSets[0]!.nals[0]!).copy(big);
  assert.equal(sets.offer(big, 0, big.length), false);
  assert.equal(sets.lack(), "the SPS can't be read (5000 bytes: over 2048 bytes)");
});

test('slices, SEI, delimiters and sets of an enhancement layer are nobody here', () => {
  const sets = collect('h264', [hex('6588840000ff'), hex('0605ffff'), hex('09f0f0')]);
  assert.equal(sets.rejected, 0);
  const hevc = encodedSets.find(({ codec }) => codec === 'h265')!;
  const upper = hevc.nals.map((nal) => hex(`${nal.slice(0, 2)}09${nal.slice(4)}`));
  assert.equal(collect('h265', upper).toVideoTrackInfo(), null);
});

test('a camera that numbers its sets anew each time stays within bounds', () => {
  const sets = new ParameterSets('h264');
  const offerPps = (id: number): void => {
    const bits = `${'0'.repeat((id + 1).toString(2).length - 1)}${(id + 1).toString(2)}1`.padEnd(24, '1');
    const pps = Buffer.from([0x68, ...[0, 8, 16].map((at) => Number.parseInt(bits.slice(at, at + 8), 2))]);
    sets.offer(pps, 0, pps.length);
  };
  const sps = hex(encodedSets[0]!.nals[0]!);
  sets.offer(sps, 0, sps.length);
  for (let id = 0; id < 255; id += 1) offerPps(id);
  assert.equal(sets.toVideoTrackInfo()?.pps.length, 32);
});

test('property: a set cut short or with bytes behind it keeps its resolution or is refused', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...encodedSets),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.uint8Array({ maxLength: 4 }),
      ({ codec, nals, width, height }, part, tail) => {
        const whole = nals.map(hex);
        const at = codec === 'h264' ? 0 : 1;
        const sps = whole[at]!;
        // What the resolution takes is in the first half of all of these; the rest is tools and VUI.
        whole[at] = Buffer.concat([sps.subarray(0, Math.ceil(sps.length * (0.7 + 0.3 * part))), tail]);
        const info = collect(codec, whole).toVideoTrackInfo();
        assert.deepEqual([info?.width, info?.height], [width, height]);
      },
    ),
  );
});

test('property: any bytes are taken in without throwing or reading outside', () => {
  const headers = { h264: [0x67, 0x68, 0x27, 0x28], h265: [0x40, 0x42, 0x44] };
  fc.assert(
    fc.property(
      fc.constantFrom<VideoCodec>('h264', 'h265'),
      fc.array(fc.tuple(fc.nat(3), fc.uint8Array({ maxLength: 120 })), { maxLength: 6 }),
      (codec, units) => {
        const sets = new ParameterSets(codec);
        for (const [kind, body] of units) {
          const header = headers[codec][kind % headers[codec].length]!;
          const nal = Buffer.from([header, codec === 'h265' ? 1 : 0x64, ...body]);
          sets.offer(nal, 0, nal.length);
        }
        const info = sets.toVideoTrackInfo();
        if (info === null) return;
        assert.ok(info.width >= 1 && info.width <= 16_384 && info.height >= 1 && info.height <= 16_384);
        assert.ok(info.frameRateHz === null || (info.frameRateHz > 0 && info.frameRateHz <= 480));
        assert.ok(info.reorderDepth === null || info.reorderDepth <= 16);
      },
    ),
    { numRuns: 2000 },
  );
});
