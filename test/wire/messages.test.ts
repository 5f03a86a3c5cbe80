import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AnnexBCursor } from '../../src/codec/nal-cursor.js';
import { soundConfigMessage, videoConfigMessage } from '../../src/wire/config-message.js';
import { FRAME_FLAG, FRAME_HEAD_BYTES, FrameHead, writeFrameHead } from '../../src/wire/frame-head.js';
import { gapMessage } from '../../src/wire/gap-message.js';
import { type ConfigMessage, type FrameMessage, parseMessage } from '../support/frame-messages.js';

const u32 = fc.nat(0xffff_ffff);
const timeUs = fc.maxSafeNat();
const codecString = fc.string({
  unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789.'),
  maxLength: 40,
});
const bytes = (max: number) => fc.uint8Array({ maxLength: max }).map((array) => Buffer.from(array));
/** A NAL unit holds no start code, and doesn't end in zeros. */
const nal = fc.array(fc.integer({ min: 2, max: 255 }), { minLength: 1, maxLength: 40 }).map(Buffer.from);
const nals = fc.array(nal, { maxLength: 4 });

test('a frame is read as it was written, wherever it stands, and nothing beside it is touched', () => {
  const head = new FrameHead();
  fc.assert(
    fc.property(
      fc.nat(20),
      fc.nat(3),
      fc.tuple(u32, u32, timeUs, timeUs),
      fc.integer({ min: -0x7fff_ffff, max: 0x7fff_ffff }),
      bytes(60),
      (at, flags, [stream, index, decodeUs, wallUs], compositionUs, frame) => {
        Object.assign(head, { flags, stream, index, compositionUs, decodeUs, wallUs });
        const target = Buffer.alloc(at + FRAME_HEAD_BYTES + frame.length + 3, 0x55);
        const start = writeFrameHead(target, at, head);
        assert.equal(start, at + FRAME_HEAD_BYTES);
        frame.copy(target, start);
        assert.deepEqual(parseMessage(target.subarray(at, start + frame.length)), {
          type: 'frame',
          isKey: (flags & FRAME_FLAG.key) !== 0,
          brokeOff: (flags & FRAME_FLAG.brokeOff) !== 0,
          ...{ stream, index, compositionUs, decodeUs, wallUs },
          bytes: frame,
        });
        assert.ok([...target.subarray(0, at), ...target.subarray(-3)].every((byte) => byte === 0x55));
      },
    ),
  );
});

test('times are whole microseconds; what is out of all bounds is the nearest that can be said', () => {
  const head = new FrameHead();
  const said = (times: Partial<FrameHead>) => {
    Object.assign(head, { index: -1, compositionUs: 0, decodeUs: 0, wallUs: 0, ...times });
    const target = Buffer.alloc(FRAME_HEAD_BYTES);
    writeFrameHead(target, 0, head);
    return parseMessage(target);
  };
  const { index, decodeUs, compositionUs } = said({ decodeUs: 1.6, compositionUs: -1.6 }) as FrameMessage;
  assert.deepEqual([index, decodeUs, compositionUs], [0xffff_ffff, 2, -2]);
  fc.assert(
    fc.property(fc.double(), fc.double(), fc.double(), (decode, wall, composition) => {
      const near = (value: number): number => Math.min(Math.max(value, -(2 ** 50)), 2 ** 50);
      said({ decodeUs: near(decode), wallUs: near(wall), compositionUs: composition });
    }),
  );
});

test('a config of pictures brings their parameter sets, VPS first', () => {
  const videos = fc.record({
    codec: fc.constantFrom('h264', 'h265'),
    ...{ vps: nals, sps: nals, pps: nals, codecString },
    ...{ width: fc.nat(16_384), height: fc.nat(16_384) },
    frameRateHz: fc.option(fc.double({ min: 0.05, max: 480, noNaN: true })),
    reorderDepth: fc.option(fc.nat(16)),
  });
  fc.assert(
    fc.property(u32, videos, (stream, video) => {
      const config = parseMessage(videoConfigMessage(stream, video)) as ConfigMessage;
      const { description, ...said } = config;
      assert.deepEqual(said, {
        type: 'config',
        reorderDepth: video.reorderDepth ?? 255,
        ...{ stream, width: video.width, height: video.height, codec: video.codecString },
        rate: Math.round((video.frameRateHz ?? 0) * 1000),
      });
      const cursor = new AnnexBCursor();
      cursor.open(description, 0, description.length);
      const found: Buffer[] = [];
      while (cursor.next()) found.push(description.subarray(cursor.offset, cursor.offset + cursor.length));
      assert.deepEqual(found, [...video.vps, ...video.sps, ...video.pps]);
    }),
  );
});

test('a config of sound has its rate, its channels and what its decoder wants', () => {
  const sounds = fc.record({
    codec: fc.constantFrom('aac', 'opus', 'pcma'),
    ...{ clockRateHz: u32, channels: fc.integer({ min: 1, max: 8 }), config: bytes(64), codecString },
  });
  fc.assert(
    fc.property(u32, sounds, (stream, sound) => {
      const { channels: width, clockRateHz: rate, codecString: codec, config: description } = sound;
      assert.deepEqual(parseMessage(soundConfigMessage(stream, sound)), {
        ...{ type: 'config', reorderDepth: 0, stream, width, height: 0, rate, codec, description },
      });
    }),
  );
});

test('a gap says from when to when, and why', () => {
  fc.assert(
    fc.property(u32, timeUs, timeUs, codecString, (stream, fromUs, toUs, reason) => {
      const gap = parseMessage(gapMessage(stream, fromUs, toUs, reason));
      assert.deepEqual(gap, { type: 'gap', stream, fromUs, toUs, reason });
    }),
  );
  const long = parseMessage(gapMessage(1, 0, 1, 'x'.repeat(300)));
  assert.deepEqual(long, { type: 'gap', stream: 1, fromUs: 0, toUs: 1, reason: 'x'.repeat(255) });
});
