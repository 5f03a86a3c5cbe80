import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteCache } from '../../src/web/archive/player/byte-cache.js';
import { factsOf } from '../../src/web/archive/player/facts.js';
import { FramesFault } from '../../src/web/archive/player/frames-fault.js';
import { KeyCache } from '../../src/web/archive/player/key-cache.js';
import { MessageSplitter } from '../../src/web/archive/player/message-splitter.js';
import { persistently } from '../../src/web/archive/player/persistently.js';
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

test('where no camera can be reached the clock stands, however long that lasts', () => {
  const clock = new PlayClock(5_000, 1);
  assert.equal(clock.tick(100, [lane], true).timeMs, 5_100);
  for (let count = 0; count < 200; count += 1)
    assert.deepEqual(clock.tick(100, [lane], false, true), {
      ...{ timeMs: 5_100, phase: 'waiting', skippedTo: null },
    });
  assert.equal(clock.tick(100, [lane], true).timeMs, 5_200);
});

test('what the service does not answer is asked again and told; what is wrong otherwise is thrown at once', async () => {
  const { signal } = new AbortController();
  const told: (string | null)[] = [];
  let tries = 0;
  const answer = await persistently(
    async () => {
      tries += 1;
      if (tries < 3) throw new FramesFault('failed', `no ${tries}`);
      return 'pictures';
    },
    (why) => void told.push(why),
    signal,
  );
  assert.deepEqual([answer, told], ['pictures', ['no 1', 'no 2', null]]);
  const broken = () => Promise.reject(new Error('this browser decodes no such thing'));
  await assert.rejects(
    persistently(broken, () => assert.fail('told'), signal),
    /decodes no such thing/,
  );
  const abort = new AbortController();
  const given = persistently(
    () => Promise.reject(new FramesFault('busy', 'too much to do')),
    () => setImmediate(() => abort.abort()),
    abort.signal,
  );
  await assert.rejects(given, /too much to do/);
});

test('a keyframe is known as the newest only of a time that nothing is added to any more', () => {
  const gopAt = (timeMs: number) => {
    const frame = { kind: 'frame', wallUs: timeMs * 1000, data: new Uint8Array(10) };
    return { config: {}, frames: [frame] } as unknown as Parameters<KeyCache['keep']>[2];
  };
  const cache = new KeyCache();
  const nowMs = Date.now();
  const [old, fresh] = [gopAt(nowMs - 100_000), gopAt(nowMs - 3_000)];
  cache.keep('gate', nowMs - 98_000, old);
  cache.keep('gate', nowMs - 500, fresh);
  assert.equal(cache.find('gate', nowMs - 99_000), old);
  assert.equal(cache.find('gate', nowMs - 97_000), undefined, 'nobody asked for then');
  assert.equal(cache.find('dock', nowMs - 99_000), undefined);
  assert.equal(cache.find('gate', nowMs - 500), undefined, 'there may be a newer one by now');
});

test('facts that say nothing new are the same as before', () => {
  const fact = (camera: string, drawn: number) => ({
    ...{ camera, drawn, shownMs: 5, ratio: 1, isLoading: false, fault: null, retrying: null },
  });
  const before = factsOf(new Map(), [fact('gate', 1), fact('dock', 1)]);
  const after = factsOf(before, [fact('gate', 1), fact('dock', 2)]);
  assert.equal(after.get('gate'), before.get('gate'));
  assert.deepEqual([after.get('dock')?.drawn, after.size], [2, 2]);
});
