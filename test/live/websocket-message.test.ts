import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs } from '../../src/base/clock.js';
import { toAnnexB } from '../../src/codec/annex-b.js';
import { Answers } from '../../src/live/answers.js';
import { AttentiveTime } from '../../src/live/attentive-time.js';
import { PING_BYTES, writePing } from '../../src/live/socket-frame.js';
import { Timestamps } from '../../src/live/timestamps.js';
import { videoMessageBytes, writeVideoHead } from '../../src/live/websocket/message.js';
import { SpareTurns } from '../../src/live/websocket/spare-turns.js';
import { FakeClock } from '../support/fake-clock.js';
import { prefixed } from '../support/ring.js';

/** Reads a server's frame as RFC 6455 §5.2 has it. */
const readFrame = (bytes: Buffer) => {
  const short = bytes[1]!;
  const extraBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const lengthBytes =
    extraBytes === 0 ? short : extraBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return { first: bytes[0], payload: bytes.subarray(2 + extraBytes), lengthBytes };
};

test('a video message is one whole frame around timestamp and access unit, whatever their sizes', () => {
  const sizes = fc.oneof(
    fc.integer({ min: 1, max: 300 }),
    fc.constantFrom(112, 113, 116, 117, 65_521, 65_522, 65_526, 65_527),
    fc.integer({ min: 65_000, max: 200_000 }),
  );
  const times = fc.oneof(fc.integer({ min: 0, max: 10 ** 7 }), fc.maxSafeNat());
  fc.assert(
    fc.property(sizes, times, (accessUnitBytes, timestampUs) => {
      const message = Buffer.alloc(videoMessageBytes(accessUnitBytes));
      const start = writeVideoHead(message, accessUnitBytes, timestampUs);
      message.fill(0xab, start);
      const { first, payload, lengthBytes } = readFrame(message);
      assert.equal(first, 0x82);
      assert.equal(lengthBytes, payload.length);
      assert.equal(payload.length, 9 + accessUnitBytes);
      assert.equal(payload[0], 2);
      assert.equal(Number(payload.readBigUInt64BE(1)), timestampUs);
      assert.ok(payload.subarray(9).every((byte) => byte === 0xab));
    }),
  );
});

test('lengths become start codes, and lengths that do not add up are told', () => {
  const nal = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.array(nal, { minLength: 1, maxLength: 6 }), fc.nat(20), (nals, start) => {
      const bytes = Buffer.concat([Buffer.alloc(start, 0x55), prefixed(...nals)]);
      assert.ok(toAnnexB(bytes, start, bytes.length));
      const expected = Buffer.concat(nals.flatMap((unit) => [Buffer.of(0, 0, 0, 1), unit]));
      assert.deepEqual(bytes.subarray(start), expected);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (junk) => {
      toAnnexB(Buffer.from(junk), 0, junk.length);
    }),
  );
  assert.equal(toAnnexB(Buffer.of(0, 0, 0, 2, 9, 9, 9), 0, 7), false);
});

test('timestamps rise strictly whatever the decode times do, and so does going over from a reader of its own', () => {
  const steps = fc.array(fc.oneof(fc.integer({ min: -200_000, max: 200_000 }), fc.constant(3600)), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, fc.nat(), fc.nat(59), (deltas, startTicks, joinedAt) => {
      const timestamps = new Timestamps();
      let dtsTicks = startTicks;
      let lastUs = -1;
      let viewerUs = -1;
      for (const [index, delta] of deltas.entries()) {
        dtsTicks += delta;
        const nextUs = timestamps.next(dtsTicks, index);
        assert.ok(nextUs > lastUs);
        lastUs = nextUs;
        if (index < joinedAt) continue;
        viewerUs = timestamps.after(viewerUs, dtsTicks);
        assert.ok(viewerUs <= nextUs);
      }
    }),
  );
});

test('after another ring timestamps go on by the time that has passed', () => {
  const timestamps = new Timestamps();
  assert.equal(timestamps.next(90_000, 0), 1_000_000);
  timestamps.restart();
  assert.equal(timestamps.next(0, 2_500), 3_500_000);
  assert.equal(timestamps.next(9_000, 2_600), 3_600_000);
});

const pong = (pingMs: number): Buffer => {
  const ping = Buffer.alloc(PING_BYTES);
  writePing(ping, 0, pingMs);
  assert.deepEqual([ping[0], ping[1]], [0x89, 8]);
  return ping.subarray(2);
};

test('lag is the age of the first ping that is not answered', () => {
  const answers = new Answers();
  assert.equal(answers.lagMs(5_000), 0);
  for (const pingMs of [1_000, 1_250, 1_500]) answers.pinged(pingMs);
  assert.equal(answers.lagMs(1_600), 600);
  assert.ok(answers.ponged(pong(1_000)));
  assert.equal(answers.lagMs(1_600), 350);
  assert.ok(!answers.ponged(pong(1_000)), 'an old answer again');
  assert.ok(!answers.ponged(pong(1_501)), 'a ping that was never sent');
  assert.ok(!answers.ponged(pong(Number.NaN)));
  assert.ok(!answers.ponged(Buffer.alloc(7)));
  assert.equal(answers.lagMs(1_600), 350);
  assert.ok(answers.ponged(pong(1_500)), 'the last one answers for all');
  assert.deepEqual([answers.isComplete, answers.lagMs(9_000)], [true, 0]);
});

test('time in which this thread was held up itself hardly counts', () => {
  const clock = new FakeClock();
  const time = new AttentiveTime(clock);
  const startMs = time.nowMs();
  for (let step = 0; step < 10; step += 1) {
    clock.advance(200);
    time.nowMs();
  }
  assert.equal(time.nowMs() - startMs, 2_000);
  clock.advance(5_000);
  assert.ok(time.nowMs() - startMs < 2_500);
  const monotonic: MonotonicMs = clock.monotonicMs();
  assert.ok(monotonic > 7_000);
});

test('work that may wait is done in order, and leaves each turn to others after 2 ms', async () => {
  const clock = new FakeClock();
  const turns = new SpareTurns(clock);
  const done: string[] = [];
  const piece = (name: string, again: number) => (): void => {
    done.push(name);
    clock.advance(1);
    if (again > 0) turns.add(piece(name, again - 1));
  };
  for (const name of ['a', 'b', 'c']) turns.add(piece(name, 1));
  const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  const seen: string[] = [];
  while (done.length < 6) {
    await turn();
    seen.push(done.join(''));
  }
  assert.deepEqual(seen, ['ab', 'abca', 'abcabc']);
});
