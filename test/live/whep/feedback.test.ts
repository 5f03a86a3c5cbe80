import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonotonicMs } from '../../../src/base/clock.js';
import { Feedback } from '../../../src/live/whep/send/feedback.js';

/** A generic NACK (RFC 4585 §6.2.1) for so many times seventeen packets, from `first` on. */
const nack = (first: number, entries: number): Buffer => {
  const packet = Buffer.alloc(12 + 4 * entries);
  packet.writeUInt32BE(0x81cd0000 + 2 + entries);
  packet.writeUInt32BE(7, 8);
  for (let entry = 0; entry < entries; entry += 1) {
    packet.writeUInt16BE((first + 17 * entry) & 0xffff, 12 + 4 * entry);
    packet.writeUInt16BE(0xffff, 14 + 4 * entry);
  }
  return packet;
};

test('what a viewer asks for is heard, and no more of it than a viewer can miss', () => {
  const asked: number[] = [];
  let wanted = 0;
  const feedback = new Feedback(
    {
      onLost: (_ssrc, sequence) => asked.push(sequence),
      onKeyframeWanted: () => {
        wanted += 1;
      },
      onReport: () => {},
    },
    0 as MonotonicMs,
  );
  // Browsers miss a thousand at most before they give up on them.
  feedback.read(nack(65_500, 60), 0 as MonotonicMs);
  assert.deepEqual(
    asked.splice(0),
    Array.from({ length: 1_020 }, (_, index) => (65_500 + index) & 0xffff),
  );
  for (let datagram = 0; datagram < 1_000; datagram += 1) feedback.read(nack(0, 350), 10 as MonotonicMs);
  assert.ok(asked.length < 2_100, `${asked.length} of them`);
  // Whoever asks too much is heard in all else, and again later.
  feedback.read(Buffer.from('81ce00020000000100000007', 'hex'), 10 as MonotonicMs);
  assert.equal(wanted, 1);
  asked.length = 0;
  feedback.read(nack(5, 1), 1_000 as MonotonicMs);
  assert.equal(asked.length, 17);
});
