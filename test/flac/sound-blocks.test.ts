import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Ticks } from '../../src/base/clock.js';
import { g711Track, l16Track } from '../../src/codec/audio-track.js';
import { keptSound } from '../../src/flac/flac-track.js';
import { SoundBlocks } from '../../src/flac/sound-blocks.js';
import { decodeFlacFrame, type FlacFrame } from './flac-decoder.js';

type Block = FlacFrame & { readonly ptsTicks: number; readonly isDiscontinuity: boolean };

const opened = (codec: 'pcmu' | 'pcma' | 'l16', clockRateHz = 8000, channels = 1) => {
  const blocks: Block[] = [];
  const sink = {
    flacFrame: (bytes: Buffer, lengthBytes: number, ptsTicks: Ticks, isDiscontinuity: boolean): void => {
      blocks.push({ ...decodeFlacFrame(bytes.subarray(0, lengthBytes)), ptsTicks, isDiscontinuity });
    },
  };
  const track = codec === 'l16' ? l16Track(clockRateHz, channels) : g711Track(codec, clockRateHz, channels);
  const stage = SoundBlocks.of(track, sink)!;
  const add = (bytes: Buffer, ptsTicks: number, isDiscontinuity = false): void =>
    stage.add(bytes, 0, bytes.length, ptsTicks as Ticks, isDiscontinuity);
  return { blocks, stage, add };
};

const packet = (length: number, value: number): Buffer => Buffer.alloc(length, value);

test('all codes of both laws are what FFmpeg makes of them', () => {
  const codes = Buffer.from(Array.from({ length: 512 }, (_, at) => at & 0xff));
  for (const [codec, format] of [
    ['pcmu', 'mulaw'],
    ['pcma', 'alaw'],
  ] as const) {
    const { blocks, add } = opened(codec);
    add(codes, 0);
    const { stdout } = spawnSync(
      'ffmpeg',
      ['-v', 'error', '-f', format, '-ar', '8000', '-i', '-', '-f', 's16le', '-'],
      { input: codes },
    );
    const expected = [...new Int16Array(stdout.buffer, stdout.byteOffset, 512)];
    assert.deepEqual(blocks[0]!.channels, [expected], format);
  }
});

test('packets of 20 ms become blocks of 64 ms, at the time of their first sample', () => {
  const { blocks, add } = opened('pcma');
  for (let index = 0; index < 16; index += 1) add(packet(160, index), 1000 + index * 160);
  assert.deepEqual(
    blocks.map(({ ptsTicks, firstSample, channels }) => [ptsTicks, firstSample, channels[0]!.length]),
    [0, 512, 1024, 1536, 2048].map((at) => [1000 + at, at, 512]),
  );
});

test('a lost packet ends a block, and what follows is where its packet says', () => {
  const { blocks, add, stage } = opened('pcmu');
  add(packet(160, 1), 0);
  add(packet(160, 2), 320);
  add(packet(160, 3), 480, true);
  stage.flush();
  assert.deepEqual(
    blocks.map(({ ptsTicks, isDiscontinuity, channels }) => [ptsTicks, isDiscontinuity, channels[0]!.length]),
    [
      [0, false, 160],
      [320, false, 160],
      [480, true, 160],
    ],
  );
});

test('a clock that is drawn along by a tick or two breaks nothing, and each block is where its packet is', () => {
  const { blocks, add } = opened('pcmu');
  for (let index = 0; index < 320; index += 1) add(packet(160, 9), Math.round(index * 160.8));
  assert.equal(blocks.length, 100);
  for (const [index, { ptsTicks, channels }] of blocks.entries()) {
    assert.equal(channels[0]!.length, 512);
    assert.ok(Math.abs(ptsTicks - index * 512 * 1.005) <= 2, `block ${index} at ${ptsTicks}`);
  }
});

test('channels stay apart, and what is left of a sample is left out', () => {
  const { blocks, add, stage } = opened('pcma', 16_000, 2);
  const bytes = Buffer.from(Array.from({ length: 65 }, (_, at) => (at % 2 === 0 ? 0xd5 : 0x55)));
  add(bytes, 0);
  stage.flush();
  const [block] = blocks;
  assert.deepEqual(
    block!.channels.map((samples) => [samples.length, ...new Set(samples)]),
    [
      [32, 8],
      [32, -8],
    ],
  );
});

test('PCM of 16 bits is read with the higher byte first', () => {
  const { blocks, add, stage } = opened('l16', 16_000);
  const samples = Array.from({ length: 40 }, (_, at) => (at - 20) * 1638);
  const bytes = Buffer.alloc(80);
  for (const [at, sample] of samples.entries()) bytes.writeInt16BE(sample, at * 2);
  add(bytes, 0);
  stage.flush();
  assert.deepEqual(blocks[0]!.channels, [samples]);
});

test('whatever packets come, no sample is lost or made up, and times rise', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          length: fc.integer({ min: 0, max: 1500 }),
          stepTicks: fc.integer({ min: -400, max: 4000 }),
          isDiscontinuity: fc.boolean(),
        }),
        { maxLength: 30 },
      ),
      (packets) => {
        const { blocks, add, stage } = opened('pcmu');
        let ptsTicks = 0;
        let sent = 0;
        for (const [index, { length, stepTicks, isDiscontinuity }] of packets.entries()) {
          add(packet(length, index), ptsTicks, isDiscontinuity);
          ptsTicks = Math.max(ptsTicks + 1, ptsTicks + length + stepTicks);
          sent += length;
        }
        stage.flush();
        const kept = blocks.reduce((sum, { channels }) => sum + channels[0]!.length, 0);
        // A block that ends early has 16 samples at least.
        assert.ok(kept >= sent && kept <= sent + 15 * packets.length);
        for (const [index, block] of blocks.entries())
          assert.ok(index === 0 || block.ptsTicks > blocks[index - 1]!.ptsTicks);
      },
    ),
  );
});

test('what MP4 carries as it is stays what it is; what FLAC can not carry is left out', () => {
  const aac = {
    codec: 'aac',
    clockRateHz: 8000,
    channels: 1,
    config: new Uint8Array(2),
    codecString: '',
  } as const;
  assert.equal(keptSound(aac), aac);
  assert.equal(keptSound(null), null);
  const kept = keptSound(g711Track('pcma', 8000, 1))!;
  assert.deepEqual(
    [kept.codec, kept.codecString, kept.clockRateHz, kept.config.length],
    ['flac', 'fLaC', 8000, 34],
  );
  assert.equal(keptSound(g711Track('pcma', 90_000_000, 1)), null);
});
