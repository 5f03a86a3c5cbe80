import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/errors.js';
import { MAX_FRAME_BYTES } from '../../src/relay/wire/format.js';
import { WireReader } from '../../src/relay/wire/reader.js';
import {
  describedFields,
  readDescribed,
  readHello,
  readSeen,
  readWelcome,
  seenFields,
} from '../../src/relay/wire/texts.js';
import { aliveMessage, SeenMessage, textMessage } from '../../src/relay/wire/write.js';
import { streamInfo } from '../support/ring.js';
import { frameMessage, WireLog } from './wire-log.js';

/** Any frame. */
const frames = fc.record({
  isVideo: fc.boolean(),
  flags: fc.integer({ min: 0, max: 63 }),
  sequence: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  ptsTicks: fc.integer({ min: -1e12, max: 1e12 }),
  dtsTicks: fc.integer({ min: -1e12, max: 1e12 }),
  wallMs: fc.double({ min: 0, max: 4e12, noNaN: true }),
  ageMs: fc.integer({ min: 0, max: 100_000 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 400 }),
});
const messages = fc.oneof(
  frames.map(({ ...frame }) => ({ said: frame, bytes: frameMessage(frame) })),
  fc.string({ maxLength: 100 }).map((reason) => ({
    said: { type: 'end', text: JSON.stringify({ reason }) },
    bytes: textMessage('end', { reason }),
  })),
  fc.nat().map((seen) => ({ said: { seen }, bytes: Buffer.from(new SeenMessage().fill(seen)) })),
  fc.constant({ said: null, bytes: aliveMessage() }),
);

test('whatever is written is read again, however it is cut up', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(messages, { maxLength: 8 }), cuts, (written, sizes) => {
      const log = new WireLog();
      const reader = new WireReader('sender', log);
      const all = Buffer.concat(written.map(({ bytes }) => bytes));
      for (let at = 0, turn = 0; at < all.length; turn += 1) {
        const end = Math.min(all.length, at + sizes[turn % sizes.length]!);
        reader.feed(all, at, end);
        at = end;
      }
      const said = written.flatMap((message) => message.said ?? []);
      assert.deepEqual(log.said, said);
    }),
  );
});

test('what a later version adds is passed over', () => {
  const log = new WireLog();
  const reader = new WireReader('sender', log);
  const frame = {
    ...{ isVideo: true, flags: 1, sequence: 7, ptsTicks: 1, dtsTicks: 2, wallMs: 3, ageMs: 4 },
    bytes: Uint8Array.of(1, 2, 3),
  };
  const plain = frameMessage(frame);
  const longer = Buffer.concat([plain.subarray(0, 39), Buffer.from('more'), plain.subarray(39)]);
  longer.writeUInt32BE(plain.readUInt32BE(0) + 4, 0);
  longer[5] = 38;
  const unknown = Buffer.from([0, 0, 0, 4, 200, 9, 9, 9]);
  const all = Buffer.concat([unknown, longer, unknown, plain]);
  for (let at = 0; at < all.length; at += 7) reader.feed(all, at, Math.min(all.length, at + 7));
  assert.deepEqual(log.said, [frame, frame]);
  const hello = { versions: [1, 9], box: 'a', source: 'cam', mood: 'good' };
  assert.deepEqual(readHello(JSON.stringify(hello)), { versions: [1, 9], box: 'a', source: 'cam' });
});

test('a description comes as it went', () => {
  for (const awaitsSound of [true, false]) {
    const { video, audio } = streamInfo(3);
    for (const info of [
      { video, audio },
      { video, audio: null },
    ]) {
      const described = { ring: -5, awaitsSound, info };
      assert.deepEqual(readDescribed(JSON.stringify(describedFields(described))), described);
    }
  }
});

test('what is seen in a picture comes as it went, within bounds', () => {
  const part = fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0);
  const object = fc
    .record({ label: fc.string({ maxLength: 64 }), score: part, box: fc.tuple(part, part, part, part) })
    .map((made) => ({ ...made }));
  const seen = fc
    .record({
      wallMs: fc.integer({ min: 0, max: 4e12 }),
      source: fc.constantFrom('model' as const, 'onvif' as const),
      objects: fc.array(object, { maxLength: 64 }),
    })
    .map((made) => ({ ...made }));
  fc.assert(fc.property(seen, (said) => assert.deepEqual(readSeen(JSON.stringify(seenFields(said))), said)));
  const long = { label: '\u0000'.repeat(500), score: 1 / 3, box: [1 / 3, 1 / 3, 1 / 3, 1 / 3] as const };
  const crowd = { wallMs: 1, source: 'onvif' as const, objects: Array(500).fill(long) };
  const message = textMessage('detection', seenFields(crowd));
  const log = new WireLog();
  new WireReader('sender', log).feed(message, 0, message.length);
  assert.equal(readSeen((log.said[0] as { text: string }).text).objects.length, 64);
});

const isRefused = (fault: unknown): boolean => fault instanceof AppError && fault.code === 'relay_protocol';

test('what is too long, or makes no sense, is refused before it is kept', () => {
  const heads: [bytes: number, type: number][] = [
    [0, 4],
    [MAX_FRAME_BYTES + 1000, 4],
    [2 ** 32 - 1, 99],
    [100_000, 3],
    [1, 8],
    [20, 4],
    [5, 7],
  ];
  for (const [bytes, type] of heads) {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes);
    head[4] = type;
    assert.throws(
      () => new WireReader('sender', new WireLog()).feed(head, 0, 5),
      isRefused,
      `${bytes} ${type}`,
    );
  }
  const frame = frameMessage({
    ...{ isVideo: true, flags: 1, sequence: 7, ptsTicks: Number.NaN, dtsTicks: 2, wallMs: 3, ageMs: 4 },
    bytes: Uint8Array.of(1),
  });
  assert.throws(() => new WireReader('sender', new WireLog()).feed(frame, 0, frame.length), isRefused);
  assert.throws(() => new WireReader('puller', new WireLog()).feed(frame, 0, frame.length), isRefused);
  for (const text of [
    '',
    '[]',
    '{"versions":[2,1],"box":"a","source":"x"}',
    '{"versions":[1,1],"box":"a b","source":"x"}',
  ])
    assert.throws(() => readHello(text), isRefused, text);
  const nowhere = { label: 'car', score: 1, box: [0, 0, 1, 9] };
  for (const objects of [[nowhere], [{ ...nowhere, box: [] }], Array(65).fill(nowhere), 'car'])
    assert.throws(
      () => readSeen(JSON.stringify({ wallMs: 1, source: 'model', objects })),
      isRefused,
      JSON.stringify(objects).slice(0, 80),
    );
  assert.throws(() => readWelcome(JSON.stringify({ version: 1, path: Array(99).fill('a') })), isRefused);
});
