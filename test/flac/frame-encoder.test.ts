import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { FlacFrameEncoder } from '../../src/flac/frame-encoder.js';
import { blockSamplesAt, streamInfoBlock } from '../../src/flac/stream-info.js';
import { decodeFlacFrame } from './flac-decoder.js';

const MAX_SAMPLES = 4096;

const encode = (
  channels: readonly (readonly number[])[],
  sampleRateHz: number,
  firstSample: number,
): Buffer => {
  const encoder = new FlacFrameEncoder({ channels: channels.length, sampleRateHz }, MAX_SAMPLES);
  for (const [index, samples] of channels.entries()) encoder.channels[index]!.set(samples);
  const lengthBytes = encoder.encode(channels[0]!.length, firstSample);
  return Buffer.from(encoder.bytes.subarray(0, lengthBytes));
};

const extreme = fc.oneof(fc.constantFrom(-32_768, 32_767, 0), fc.integer({ min: -32_768, max: 32_767 }));
/** Silence, tones, noise, steps, and what companding leaves. */
const sound = fc.tuple(
  fc.integer({ min: 0, max: 4 }),
  fc.integer({ min: 0, max: 6 }),
  fc.array(extreme, { minLength: 16, maxLength: 700 }),
);
const samplesOf = ([kind, wastedBits, noise]: readonly [number, number, readonly number[]]): number[] => {
  const shapes = [
    () => 0,
    (at: number) => Math.round(30_000 * Math.sin(at / 20)),
    (at: number) => noise[at]!,
    (at: number) => (at % 200 < 100 ? 32_767 : -32_768),
    (at: number) => noise[at]! >> 9,
  ];
  return noise.map((_, at) => (shapes[kind]!(at) >> wastedBits) << wastedBits);
};

test('whatever is encoded is what comes out, with its number, rate and channels', () => {
  fc.assert(
    fc.property(
      fc.array(sound, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(8000, 8001, 11_025, 16_000, 44_100, 48_000, 65_535, 65_536, 96_000, 176_400),
      fc.maxSafeNat().map((value) => value % 2 ** 36),
      (sounds, sampleRateHz, firstSample) => {
        const count = Math.min(...sounds.map(([, , noise]) => noise.length));
        const channels = sounds.map((each) => samplesOf(each).slice(0, count));
        const frame = encode(channels, sampleRateHz, firstSample);
        const told = sampleRateHz === 65_536 || sampleRateHz === 176_400 ? null : sampleRateHz;
        assert.deepEqual(decodeFlacFrame(frame), { firstSample, sampleRateHz: told, channels });
        const plainBytes = channels.length * (count * 2 + 4) + 20;
        assert.ok(frame.length <= plainBytes, 'never larger than the samples themselves');
      },
    ),
    { numRuns: 500 },
  );
});

test('silence takes next to nothing, and companded sound less than what it was companded to', () => {
  assert.ok(encode([Array.from({ length: 512 }, () => 0)], 8000, 0).length < 16);
  const tone = Array.from({ length: 512 }, (_, at) => Math.round(1000 * Math.sin(at / 9)) << 3);
  assert.ok(encode([tone], 8000, 0).length < 512);
});

/** A FLAC file as programs know it. */
const fileOf = (frames: readonly Buffer[], channels: number, sampleRateHz: number): Buffer =>
  Buffer.concat([
    Buffer.from('fLaC'),
    Buffer.from([0x80, 0, 0, 34]),
    streamInfoBlock({ channels, sampleRateHz }),
    ...frames,
  ]);

test('FFmpeg reads the same samples out of a FLAC file of such frames', () => {
  for (const sampleRateHz of [8000, 16_000, 48_000]) {
    for (const channels of [1, 2]) {
      const size = blockSamplesAt(sampleRateHz);
      const frames: Buffer[] = [];
      const pcm: number[] = [];
      for (let block = 0; block < 40; block += 1) {
        // Another loudness each time, and now and then a block that ended early.
        const count = block % 7 === 6 ? 16 + block : size;
        const blockOf = (channel: number): number[] =>
          Array.from({ length: count }, (_, at) => {
            const loud = 2 ** (block % 16);
            return Math.round(loud * Math.sin((at + channel) / 11) + ((at * 7919 + block) % loud) / 3) >> 1;
          });
        const samples = Array.from({ length: channels }, (_, channel) => blockOf(channel));
        frames.push(encode(samples, sampleRateHz, pcm.length / channels));
        for (let at = 0; at < count; at += 1) for (const each of samples) pcm.push(each[at]!);
      }
      const { stdout, stderr, status } = spawnSync(
        'ffmpeg',
        [
          '-v',
          'error',
          '-xerror',
          '-f',
          'flac',
          '-err_detect',
          'crccheck+explode',
          '-i',
          '-',
          '-f',
          's16le',
          '-',
        ],
        { input: fileOf(frames, channels, sampleRateHz), maxBuffer: 1 << 26 },
      );
      assert.equal(`${stderr}`, '');
      assert.equal(status, 0);
      const expected = Buffer.from(Int16Array.from(pcm).buffer);
      assert.ok(stdout.equals(expected), `${sampleRateHz} Hz, ${channels} channels`);
    }
  }
});
