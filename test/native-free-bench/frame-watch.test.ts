import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameWatch, Seen } from '../../native-free-bench/viewers/frame-watch.js';
import { RtpFrames } from '../../native-free-bench/viewers/rtp-frames.js';
import { systemClock } from '../../src/base/clock.js';
import {
  FRAME_NUMBERS,
  frameNumber,
  STAMP_BYTES,
  sendTimeMs,
  writeStamp,
} from '../support/frame-generator.js';

const frame = (number: number, sentMs: number = systemClock.monotonicMs()): Buffer => {
  const bytes = Buffer.alloc(STAMP_BYTES);
  writeStamp(bytes, bytes.length, number, sentMs);
  return bytes;
};

test('a stamp tells number and time, and has no byte that could end a NAL unit', () => {
  const numbers = fc.integer({ min: 0, max: FRAME_NUMBERS - 1 });
  fc.assert(
    fc.property(numbers, fc.double({ min: 1, max: 1e10, noNaN: true }), (number, sentMs) => {
      const bytes = frame(number, sentMs);
      assert.equal(frameNumber(bytes), number);
      assert.ok(Math.abs(sendTimeMs(bytes) - sentMs) < 1e-5);
      for (const byte of [...bytes.subarray(0, 4), bytes.at(-1)]) assert.notEqual(byte, 0);
    }),
  );
});

const watched = (): { seen: Seen; watch: FrameWatch } => {
  const seen = new Seen();
  const watch = new FrameWatch(seen, () => {});
  seen.begin();
  return { seen, watch };
};

test('as many frames are lost as were left out between the first and the last that came', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 0, max: 100 }),
      (came, before) => {
        const { seen, watch } = watched();
        const first = (FRAME_NUMBERS - before) % FRAME_NUMBERS;
        const whole = [true, ...came, true];
        for (const [index, isThere] of whole.entries())
          if (isThere) watch.onFrame(frame((first + index) % FRAME_NUMBERS), STAMP_BYTES);
        assert.equal(seen.lostFrames, whole.filter((isThere) => !isThere).length);
        assert.equal(seen.frames, whole.length - seen.lostFrames);
        assert.equal(seen.latencies.count, seen.frames);
      },
    ),
  );
});

test('a camera whose new session counts from zero has lost nothing by that', () => {
  const { seen, watch } = watched();
  for (const number of [500, 501, 0, 1]) watch.onFrame(frame(number), STAMP_BYTES);
  assert.deepEqual([seen.frames, seen.lostFrames], [4, 0]);
});

/** A packet that holds all of a frame, or a part without a stamp. */
const packet = (sequence: number, marker: boolean, payload: Buffer): Buffer => {
  const head = Buffer.alloc(12 + 3);
  head[1] = (marker ? 0x80 : 0) | 96;
  head.writeUInt16BE(sequence, 2);
  return Buffer.concat([head, payload]);
};

const play = (...packets: readonly Buffer[]): Seen => {
  const { seen, watch } = watched();
  const frames = new RtpFrames(seen, watch);
  for (const bytes of packets) if (frames.take(bytes, 0)) frames.finish(bytes, 0, bytes.length);
  return seen;
};

const body = Buffer.alloc(20, 1);

test('a frame that lacks a packet is lost though its end came, and an old packet is no loss', () => {
  const seen = play(
    packet(0xfffe, true, frame(7)),
    packet(0xffff, false, body),
    packet(1, true, frame(8)),
    packet(0xffff, false, body),
    packet(2, true, frame(9)),
  );
  assert.deepEqual([seen.lostPackets, seen.frames, seen.lostFrames], [1, 2, 1]);
});

test('a frame whose stamp is cut in two is there, but tells no time', () => {
  const seen = play(
    packet(1, true, frame(7)),
    packet(2, false, body),
    packet(3, true, Buffer.alloc(3)),
    packet(4, true, frame(9)),
  );
  assert.deepEqual([seen.lostPackets, seen.frames, seen.lostFrames, seen.latencies.count], [0, 3, 0, 2]);
});
