import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AAC_SAMPLE_RATES_HZ, buildAacConfig, parseAacConfig } from '../../src/codec/aac.js';
import { aacTrack } from '../../src/codec/audio-track.js';
import { adtsHeaderBytes } from '../support/adts.js';
import { BitWriter } from './bit-writer.js';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const cases = [
  { name: 'LC 48 kHz mono', config: '1188', facts: [2, 2, 48_000, 1, 1024] },
  { name: 'LC 12 kHz stereo', config: '1490', facts: [2, 2, 12_000, 2, 1024] },
  { name: 'with an SBR tail', config: '119056e500', facts: [2, 2, 48_000, 2, 1024] },
  { name: 'SBR in front', config: '2b098800', facts: [2, 5, 24_000, 1, 1024] },
  { name: 'PS in front, cut off', config: 'eb09', facts: [2, 29, 24_000, 1, 1024] },
  { name: '960 samples', config: '118c', facts: [2, 2, 48_000, 1, 960] },
  { name: '7.1', config: '11b8', facts: [2, 2, 48_000, 8, 1024] },
];

for (const { name, config, facts } of cases) {
  test(`AudioSpecificConfig: ${name}`, () => {
    const parsed = parseAacConfig(hex(config));
    assert.deepEqual(parsed && Object.values(parsed), facts);
  });
}

test('AudioSpecificConfig: an escaped object type and an explicit rate', () => {
  const config = new BitWriter().u(5, 31).u(6, 7).u(4, 15).u(24, 44_056).u(4, 2).u(1, 0).plain();
  assert.deepEqual(Object.values(parseAacConfig(config) ?? {}), [39, 39, 44_056, 2, 512]);
});

test('AudioSpecificConfig: what names no codec or rate is refused', () => {
  for (const config of ['', '11', '0000', '1680', '17ffffffffff'])
    assert.equal(parseAacConfig(hex(config)), null);
});

test('property: a config that was built reads back', () => {
  const rates = fc.oneof(fc.constantFrom(...AAC_SAMPLE_RATES_HZ), fc.integer({ min: 1, max: 192_000 }));
  fc.assert(
    fc.property(rates, fc.constantFrom(1, 2, 3, 4, 5, 6, 8), (sampleRateHz, channels) => {
      const config = buildAacConfig(sampleRateHz, channels);
      assert.deepEqual(parseAacConfig(config), {
        objectType: 2,
        signalledObjectType: 2,
        sampleRateHz,
        channels,
        samplesPerFrame: 1024,
      });
    }),
  );
});

test('property: any bytes are a config or none', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), fc.integer({ min: 1, max: 200_000 }), (bytes, rateHz) => {
      const track = aacTrack(bytes, rateHz, 1);
      assert.ok(track.channels >= 1 && track.config.length <= 64);
    }),
  );
});

/** An ADTS frame of AAC-LC, 16 kHz, mono, with a body of that many bytes. */
const adtsFrame = (bodyBytes: number, hasCrc: boolean): Buffer => {
  const headerBytes = hasCrc ? 9 : 7;
  const header = new BitWriter()
    .u(12, 0xfff)
    .u(3, 0)
    .u(1, hasCrc ? 0 : 1)
    .u(2, 1)
    .u(4, 8)
    .u(1, 0)
    .u(3, 1)
    .u(4, 0)
    .u(13, headerBytes + bodyBytes)
    .u(11, 0x7ff)
    .u(2, 0);
  return Buffer.concat([header.plain(), Buffer.alloc(headerBytes - 7 + bodyBytes, 0x21)]);
};

test('an ADTS header is seen only where it frames exactly these bytes', () => {
  for (const [hasCrc, headerBytes] of [
    [false, 7],
    [true, 9],
  ] as const) {
    const frame = adtsFrame(100, hasCrc);
    const around = Buffer.concat([hex('ff'), frame, hex('ff')]);
    assert.equal(adtsHeaderBytes(around, 1, 1 + frame.length), headerBytes);
    assert.equal(adtsHeaderBytes(around, 1, frame.length), 0);
    assert.equal(adtsHeaderBytes(around, 0, frame.length), 0);
  }
  assert.equal(adtsHeaderBytes(adtsFrame(0, false), 0, 7), 0);
  assert.equal(adtsHeaderBytes(adtsFrame(100, false), 0, 3000), 0);
});
