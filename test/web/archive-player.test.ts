import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteCache } from '../../src/web/archive/player/byte-cache.js';
import { MessageSplitter } from '../../src/web/archive/player/message-splitter.js';
import { PlayClock } from '../../src/web/archive/player/play-clock.js';
import { EMPTY_LANE, type Lane } from '../../src/web/archive/tape/lane.js';
import { gapMessage } from '../../src/wire/gap-message.js';

test('an answer is cut into the same messages however it comes in pieces', () => {
  const reasons = fc.array(fc.stringMatching(/^[a-z_]{0,40}$/), { maxLength: 12 });
  const cuts = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(reasons, cuts, (texts, sizes) => {
      const framed = texts.map((reason, index) => {
        const message = gapMessage(1, index, index + 1, reason);
        const length = Buffer.alloc(4);
        length.writeUInt32BE(message.length);
        return Buffer.concat([length, message]);
      });
      const all = new Uint8Array(Buffer.concat(framed));
      const splitter = new MessageSplitter();
      const seen: string[] = [];
      for (let at = 0, turn = 0; at < all.length; turn += 1) {
        const end = Math.min(all.length, at + sizes[turn % sizes.length]!);
        for (const message of splitter.push(all.slice(at, end)))
          if (message.kind === 'gap') seen.push(message.reason);
        at = end;
      }
      assert.deepEqual(seen, texts);
    }),
    { numRuns: 200 },
  );
});

test('a length that no frame has ends the reading', () => {
  assert.throws(() => new MessageSplitter().push(new Uint8Array([255, 255, 255, 255, 0])), /is none/);
});

test('what was used last stays within its bytes', () => {
  const cache = new ByteCache<string>(10);
  cache.set('a', 'A', 4);
  cache.set('b', 'B', 4);
  assert.equal(cache.get('a'), 'A');
  cache.set('c', 'C', 4);
  assert.deepEqual([cache.get('a'), cache.get('b'), cache.get('c')], ['A', undefined, 'C']);
  cache.set('large', 'L', 40);
  assert.deepEqual([cache.get('a'), cache.get('large'), cache.bytes], [undefined, 'L', 40]);
});

const lane: Lane = {
  ...EMPTY_LANE,
  recorded: [
    [0, 10_000],
    [60_000, 70_000],
  ],
  gaps: [[10_000, 60_000, 'disk']],
};

test('the clock waits half a second for the large camera, skips what nobody has, and stops at the end', () => {
  const clock = new PlayClock(9_000, 1);
  assert.equal(clock.tick(100, [lane], true).timeMs, 9_100);
  const waits = Array.from({ length: 6 }, () => clock.tick(100, [lane], false));
  assert.deepEqual(
    waits.map(({ phase }) => phase),
    ['waiting', 'waiting', 'waiting', 'waiting', 'playing', 'playing'],
  );
  const until = (timeMs: number) => {
    let tick = clock.tick(100, [lane], true);
    for (let count = 0; count < 1_000 && tick.timeMs < timeMs; count += 1)
      tick = clock.tick(100, [lane], true);
    return tick;
  };
  assert.deepEqual(until(60_000), { timeMs: 60_000, phase: 'waiting', skippedTo: 60_000 });
  assert.equal(until(70_000).timeMs, 70_000);
  assert.deepEqual(clock.tick(100, [lane], true), { timeMs: 70_000, phase: 'end', skippedTo: null });
  // There is more by now: it goes on from where it was.
  const grown = { ...lane, recorded: [lane.recorded[0]!, [60_000, 75_000] as const] };
  assert.equal(clock.tick(100, [grown], true).timeMs, 70_100);
});

test('backwards the clock goes over the same gap, and stops at the first picture', () => {
  const clock = new PlayClock(60_050, -1);
  assert.equal(clock.tick(100, [lane], true).timeMs, 59_950);
  assert.equal(clock.tick(100, [lane], true).skippedTo, 9_999);
});
