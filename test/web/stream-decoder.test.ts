import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { KeptFrames } from '../../src/web/player/kept-frames.js';
import type { ConfigMessage, FrameMessage } from '../../src/web/player/messages.js';
import { StreamDecoder } from '../../src/web/player/stream-decoder.js';

const FRAME_MS = 40;
const GOP_FRAMES = 10;
const config: ConfigMessage = {
  ...{ kind: 'config', stream: 1, reorderDepth: 0, width: 640, height: 360, rateHz: 25 },
  ...{ codec: 'avc1.42c01e', sets: new Uint8Array() },
};

const frameOf = (index: number, isKey = index % GOP_FRAMES === 0, bytes = 10): FrameMessage => ({
  ...{ kind: 'frame', stream: 1, index, isKey, brokeOff: false, compositionUs: 0 },
  ...{ decodeUs: index * FRAME_MS * 1_000, wallUs: index * FRAME_MS * 1_000, data: new Uint8Array(bytes) },
});

type Chunk = { readonly type: 'key' | 'delta'; readonly timestamp: number };
let made: BrowserDecoder[] = [];
/** As a browser's: a picture for each frame, later than it is given, unless it gives up at one of them. */
class BrowserDecoder {
  static deadlyUs = -1;
  static swallowedUs = -1;
  /** Takes all and is never through with it. */
  static isSlow = false;
  readonly given: number[] = [];
  readonly #events: { output(frame: unknown): void; error(error: Error): void };
  state = 'unconfigured';
  decodeQueueSize = 0;

  constructor(events: { output(frame: unknown): void; error(error: Error): void }) {
    this.#events = events;
    made.push(this);
  }

  configure(): void {
    this.state = 'configured';
  }

  decode({ type, timestamp }: Chunk): void {
    assert.ok(this.given.length > 0 || type === 'key', 'a decoder begins with a keyframe');
    this.given.push(timestamp / 1_000 / FRAME_MS);
    if (BrowserDecoder.isSlow) {
      this.decodeQueueSize += 1;
      return;
    }
    queueMicrotask(() => {
      if (this.state === 'closed') return;
      if (timestamp === BrowserDecoder.deadlyUs) this.fail();
      else if (timestamp !== BrowserDecoder.swallowedUs) this.#events.output({ timestamp, close: () => {} });
    });
  }

  fail(): void {
    this.state = 'closed';
    this.#events.error(new DOMException('it gave up', 'EncodingError'));
  }

  close(): void {
    this.state = 'closed';
  }
}

const own = { VideoDecoder: globalThis.VideoDecoder, EncodedVideoChunk: globalThis.EncodedVideoChunk };
before(() => {
  const EncodedVideoChunk = function (this: Chunk, chunk: Chunk) {
    Object.assign(this, chunk);
  };
  Object.assign(globalThis, { VideoDecoder: BrowserDecoder, EncodedVideoChunk });
});
after(() => Object.assign(globalThis, own));
beforeEach(() => {
  made = [];
  BrowserDecoder.deadlyUs = -1;
  BrowserDecoder.swallowedUs = -1;
  BrowserDecoder.isSlow = false;
});

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const open = () => {
  const shown: number[] = [];
  const faults: string[] = [];
  const stream = new StreamDecoder({
    onPicture: ({ frame, wallUs }) => {
      assert.equal(wallUs, frame.timestamp);
      shown.push(frame.timestamp / 1_000 / FRAME_MS);
    },
    onFault: (kind) => faults.push(kind),
    freeHardware: () => 0,
  });
  stream.takeConfig(config);
  const take = async (from: number, to: number): Promise<void> => {
    for (let index = from; index <= to; index += 1) {
      stream.takeFrame(frameOf(index));
      await settled();
    }
  };
  return { stream, shown, faults, take };
};

test('a decoder that fails is followed by one that goes on within the same group, and shows nothing older', async () => {
  const { stream, shown, faults, take } = open();
  await take(0, 14);
  made[0]?.fail();
  await settled();
  assert.deepEqual(made[1]?.given, [10, 11, 12, 13, 14]);
  await take(15, 22);
  assert.deepEqual(shown, [...Array(15).keys(), 14, 15, 16, 17, 18, 19, 20, 21, 22]);
  assert.equal(stream.skipped, 0);
  assert.deepEqual([made.length, stream.rebuilds.count, faults.length], [2, 1, 0]);
});

test('a keyframe that comes before a successor is through with what was kept is shown at once', async () => {
  const { shown, faults, take } = open();
  await take(0, 8);
  BrowserDecoder.isSlow = true;
  made[0]!.fail();
  await take(9, 9);
  assert.deepEqual(made[1]!.given, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  BrowserDecoder.isSlow = false;
  await take(10, 12);
  assert.equal(made[1]!.state, 'closed');
  assert.deepEqual(
    [made.length, made[2]?.given, shown.slice(-3), faults],
    [3, [10, 11, 12], [10, 11, 12], []],
  );
});

test('a frame that no decoder survives costs two of them and its own group, which counts once', async () => {
  const { stream, shown, faults, take } = open();
  for (let group = 0; group < 3; group += 1) {
    BrowserDecoder.deadlyUs = frameOf(group * GOP_FRAMES + 5).decodeUs;
    await take(group * GOP_FRAMES, group * GOP_FRAMES + 9);
    assert.equal(made.length, 2 * (group + 1));
    assert.equal(stream.rebuilds.count, group + 1);
  }
  await take(30, 32);
  assert.deepEqual(shown.slice(-3), [30, 31, 32]);
  assert.deepEqual(faults, []);
});

test('what is not whole is not gone on with: the next keyframe is waited for', async () => {
  const { shown, take } = open();
  await take(0, 3);
  await take(5, 6);
  made[0]?.fail();
  await take(7, 11);
  assert.deepEqual(made[1]?.given, [10, 11]);
  assert.deepEqual(shown, [0, 1, 2, 3, 10, 11]);
});

test('a camera that counts anew with a keyframe is seen, though the successor never came up to the newest', async () => {
  const { stream, shown, take } = open();
  await take(1_000, 1_004);
  BrowserDecoder.swallowedUs = frameOf(1_004).decodeUs;
  made[0]?.fail();
  await settled();
  stream.takeFrame({ ...frameOf(0), index: 1_005, brokeOff: true });
  await settled();
  assert.equal(shown.at(-1), 0);
});

test('what is kept begins with a keyframe, is whole, is taken once, and is never more than 240 frames of 8 MB', () => {
  const frames = fc.array(fc.record({ isKey: fc.boolean(), bytes: fc.constantFrom(0, 10, 3_000_000) }), {
    maxLength: 400,
  });
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 400 }), (all, taken) => {
      const kept = new KeptFrames();
      const given = all.map(({ isKey, bytes }, index) => frameOf(index, isKey && index % 7 === 0, bytes));
      for (const frame of given.slice(0, taken)) kept.add(frame);
      const key = given.slice(0, taken).findLastIndex(({ isKey }) => isKey);
      const since = key < 0 ? [] : given.slice(key, taken);
      const bytes = since.reduce((sum, { data }) => sum + data.length, 0);
      const result = kept.take();
      const isWithin = since.length > 0 && since.length <= 240 && bytes <= 8_000_000;
      assert.deepEqual(result?.frames ?? [], isWithin ? since : []);
      for (const frame of given.slice(taken).filter(({ isKey }) => !isKey)) kept.add(frame);
      assert.equal(kept.take(), null);
    }),
    { numRuns: 100 },
  );
});
