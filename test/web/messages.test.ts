import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readMessage, shownUs, streamOf } from '../../src/web/player/messages.js';
import { soundConfigMessage, videoConfigMessage } from '../../src/wire/config-message.js';
import { FRAME_FLAG, FRAME_HEAD_BYTES, FrameHead, writeFrameHead } from '../../src/wire/frame-head.js';
import { gapMessage } from '../../src/wire/gap-message.js';

/** As a page gets it: in memory of its own. */
const asPage = (message: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(message);

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const timeUs = fc.integer({ min: 0, max: 2 ** 52 });

test('what the service writes of a frame is what the page reads of it', () => {
  const frames = fc.record({
    stream: u32,
    index: u32,
    flags: fc.constantFrom(0, FRAME_FLAG.key, FRAME_FLAG.brokeOff, FRAME_FLAG.key | FRAME_FLAG.brokeOff),
    compositionUs: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    decodeUs: timeUs,
    wallUs: timeUs,
    data: fc.uint8Array({ maxLength: 64 }),
  });
  fc.assert(
    fc.property(frames, ({ data, ...given }) => {
      const message = Buffer.alloc(FRAME_HEAD_BYTES + data.length);
      message.set(data, writeFrameHead(message, 0, Object.assign(new FrameHead(), given)));
      const read = readMessage(asPage(message));
      assert.ok(read?.kind === 'frame');
      const { stream, index, compositionUs, decodeUs, wallUs } = given;
      assert.deepEqual(
        { ...read, data: [...read.data] },
        {
          ...{ kind: 'frame', stream, index, compositionUs, decodeUs, wallUs },
          isKey: (given.flags & FRAME_FLAG.key) !== 0,
          brokeOff: (given.flags & FRAME_FLAG.brokeOff) !== 0,
          data: [...data],
        },
      );
      assert.equal(shownUs(read), Math.max(0, decodeUs + compositionUs));
      assert.equal(streamOf(asPage(message)), stream);
    }),
  );
});

test('descriptions of pictures and of sound, and gaps, say what the service said', () => {
  const sets = { vps: [], sps: [Buffer.from([0x67, 1])], pps: [Buffer.from([0x68, 2])] };
  const picture = {
    kind: 'video',
    codec: 'h264',
    codecString: 'avc1.640028',
    width: 640,
    height: 360,
    ...sets,
  };
  const video = videoConfigMessage(7, { ...picture, frameRateHz: 12.5, reorderDepth: null } as never);
  const read = readMessage(asPage(video));
  assert.ok(read?.kind === 'config');
  const { stream, codec, width, height, rateHz, reorderDepth } = read;
  assert.deepEqual(
    [stream, codec, width, height, rateHz, reorderDepth],
    [7, 'avc1.640028', 640, 360, 12.5, null],
  );
  assert.deepEqual([...read.sets], [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2]);

  const aac = {
    channels: 2,
    clockRateHz: 48_000,
    codecString: 'mp4a.40.2',
    config: Buffer.from([0x11, 0x90]),
  };
  const sound = readMessage(asPage(soundConfigMessage(8, aac as never)));
  assert.ok(sound?.kind === 'config');
  assert.deepEqual([sound.width, sound.height, sound.rateHz, [...sound.sets]], [2, 0, 48_000, [0x11, 0x90]]);

  const gap = readMessage(asPage(gapMessage(9, 1_000, 2_000, 'camera_away')));
  assert.deepEqual(gap, { kind: 'gap', stream: 9, fromUs: 1_000, toUs: 2_000, reason: 'camera_away' });
});

test('whatever else comes is read within its own bytes, or is nothing', () => {
  const known = fc.constantFrom(0x11, 0x12, 0x13);
  const bytes = fc.tuple(known, fc.uint8Array({ maxLength: 80 })).map(([type, rest]) => [type, ...rest]);
  fc.assert(
    fc.property(fc.oneof(bytes, fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 40 })), (given) => {
      const message = new Uint8Array(given);
      const read = readMessage(message);
      if (read === null || read.kind === 'gap') return;
      const view = read.kind === 'frame' ? read.data : read.sets;
      assert.ok(view.byteOffset + view.byteLength <= message.byteLength);
      assert.equal(view.buffer, message.buffer);
    }),
    { numRuns: 500 },
  );
});
