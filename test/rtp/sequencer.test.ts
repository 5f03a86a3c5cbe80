import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { MonotonicMs } from '../../src/base/clock.js';
import type { RtpPacket } from '../../src/rtp/packet.js';
import { ReorderSequencer } from '../../src/rtp/reorder.js';
import type { PacketReceiver, Sequencer } from '../../src/rtp/sequencer.js';
import { InOrderSequencer } from '../../src/rtp/sequencer.js';
import { packetOf } from './collect.js';

class Collector implements PacketReceiver {
  readonly sequences: number[] = [];
  readonly losses: number[] = [];

  onPacket(packet: RtpPacket, lostBefore: number): void {
    this.sequences.push(packet.sequence);
    this.losses.push(lostBefore);
  }
}

const feed = (sequencer: Sequencer, sequences: readonly number[], startMs = 0): void => {
  sequences.forEach((sequence, i) => {
    sequencer.push(packetOf('00', { sequence }), (startMs + i) as MonotonicMs);
  });
};

const inOrder = (): { collector: Collector; sequencer: Sequencer } => {
  const collector = new Collector();
  return { collector, sequencer: new InOrderSequencer(collector) };
};

const fresh = (): { collector: Collector; sequencer: Sequencer } => {
  const collector = new Collector();
  return { collector, sequencer: new ReorderSequencer({ maxAgeMs: 100 }, collector) };
};

/** One whose first packet, `first`, has been waited for. */
const reorder = (first: number): { collector: Collector; sequencer: Sequencer } => {
  const made = fresh();
  feed(made.sequencer, [first], -1000);
  made.sequencer.flush(-900 as MonotonicMs);
  return made;
};

describe('in order (TCP)', () => {
  test('gaps are losses, also over the wrap; old packets and duplicates go no further', () => {
    const { collector, sequencer } = inOrder();
    feed(sequencer, [65_534, 65_535, 2, 2, 1, 3]);
    assert.deepEqual(collector.sequences, [65_534, 65_535, 2, 3]);
    assert.deepEqual(collector.losses, [0, 0, 2, 0]);
    assert.deepEqual(sequencer.counters, { lost: 2, duplicates: 1, late: 1, restarts: 0 });
    assert.equal(sequencer.span.extendedHighest, 65_536 + 3);
    assert.equal(sequencer.span.expected, 6);
    assert.equal(sequencer.span.received, 6);
  });

  test('a big jump is a new count, not a loss of millions', () => {
    const { collector, sequencer } = inOrder();
    feed(sequencer, [100, 101, 40_000, 40_001, 7]);
    assert.deepEqual(collector.losses, [0, 0, 1, 0, 1]);
    assert.equal(sequencer.counters.lost, 0);
    assert.equal(sequencer.counters.restarts, 2);
    assert.equal(sequencer.span.expected, 1);
  });
});

describe('reorder window (UDP)', () => {
  test('swapped packets come out in order at once', () => {
    const { collector, sequencer } = reorder(65_534);
    feed(sequencer, [0, 65_535, 2, 1, 3]);
    assert.deepEqual(collector.sequences, [65_534, 65_535, 0, 1, 2, 3]);
    assert.deepEqual(collector.losses, [0, 0, 0, 0, 0, 0]);
  });

  test('packets that overtake the very first one cost it nothing', () => {
    for (const order of [
      [1, 0, 2, 3],
      [2, 1, 0, 3],
      [0xffff, 1, 0, 0xfffe, 2],
    ]) {
      const { collector, sequencer } = fresh();
      feed(sequencer, order);
      sequencer.flush(1e6 as MonotonicMs);
      assert.deepEqual(
        collector.sequences,
        order.toSorted((a, b) => ((a - b) << 16) >> 16),
      );
      assert.ok(collector.losses.every((lost) => lost === 0));
      assert.deepEqual(sequencer.counters, { lost: 0, duplicates: 0, late: 0, restarts: 0 });
      assert.equal(sequencer.span.expected, order.length);
      assert.equal(sequencer.span.received, order.length);
    }
  });

  test('the first packets wait for 20 ms, or until there are 16 of them', () => {
    const waiting = fresh();
    feed(waiting.sequencer, [10, 11]);
    waiting.sequencer.flush(19 as MonotonicMs);
    assert.deepEqual(waiting.collector.sequences, []);
    waiting.sequencer.flush(20 as MonotonicMs);
    assert.deepEqual(waiting.collector.sequences, [10, 11]);
    feed(waiting.sequencer, [9, 12], 21);
    assert.deepEqual(waiting.collector.sequences, [10, 11, 12]);
    assert.equal(waiting.sequencer.counters.late, 1);

    const slow = fresh();
    slow.sequencer.push(packetOf('00', { sequence: 5 }), 0 as MonotonicMs);
    slow.sequencer.push(packetOf('00', { sequence: 6 }), 40 as MonotonicMs);
    assert.deepEqual(slow.collector.sequences, [5, 6]);

    const burst = fresh();
    const run = Array.from({ length: 16 }, (_, i) => i + 100);
    feed(burst.sequencer, run.slice(0, 15));
    assert.deepEqual(burst.collector.sequences, []);
    feed(burst.sequencer, run.slice(15));
    assert.deepEqual(burst.collector.sequences, run);
  });

  test('a gap among the first packets is a gap, and a far packet ends the wait', () => {
    const { collector, sequencer } = fresh();
    feed(sequencer, [10, 12]);
    sequencer.flush(1e6 as MonotonicMs);
    assert.deepEqual(
      [collector.sequences, collector.losses],
      [
        [10, 12],
        [0, 1],
      ],
    );
    const far = fresh();
    feed(far.sequencer, [10, 11, 40_000, 40_001]);
    assert.deepEqual(far.collector.sequences, [10, 11, 40_000, 40_001]);
    assert.deepEqual(far.sequencer.counters, { lost: 0, duplicates: 0, late: 0, restarts: 1 });
    const other = fresh();
    feed(other.sequencer, [11, 10]);
    other.sequencer.restart();
    assert.deepEqual(other.collector.sequences, [10, 11]);
  });

  test('a gap is given up when it is overdue, not before', () => {
    const { collector, sequencer } = reorder(1);
    feed(sequencer, [3, 4], 1);
    sequencer.flush(99 as MonotonicMs);
    assert.deepEqual(collector.sequences, [1]);
    sequencer.flush(101 as MonotonicMs);
    assert.deepEqual(collector.sequences, [1, 3, 4]);
    assert.deepEqual(collector.losses, [0, 1, 0]);
    feed(sequencer, [2, 3, 5], 200);
    assert.deepEqual(collector.sequences, [1, 3, 4, 5]);
    assert.deepEqual(sequencer.counters, { lost: 1, duplicates: 1, late: 1, restarts: 0 });
  });

  test('a full window gives the gap up, and a far step empties it in order', () => {
    const { collector, sequencer } = reorder(0);
    const run = Array.from({ length: 63 }, (_, i) => i + 2);
    feed(sequencer, run);
    assert.deepEqual(collector.sequences, [0]);
    feed(sequencer, [65]);
    assert.deepEqual(collector.sequences, [0, ...run, 65]);
    feed(sequencer, [67, 1000]);
    assert.deepEqual(collector.sequences.slice(-1), [67]);
    sequencer.flush(1e6 as MonotonicMs);
    assert.deepEqual(collector.sequences.slice(-2), [67, 1000]);
    assert.equal(sequencer.counters.lost, 1 + 1 + 932);
  });

  test('a jump counts once the next packet confirms it; one stray packet changes nothing', () => {
    const { collector, sequencer } = reorder(10);
    feed(sequencer, [40_000, 11, 50_000, 12]);
    assert.deepEqual(collector.sequences, [10, 11, 12]);
    feed(sequencer, [14, 30_000, 30_001, 30_002]);
    assert.deepEqual(collector.sequences, [10, 11, 12, 14, 30_000, 30_001, 30_002]);
    assert.deepEqual(collector.losses, [0, 0, 0, 1, 1, 0, 0]);
    assert.deepEqual(sequencer.counters, { lost: 1, duplicates: 0, late: 0, restarts: 1 });
  });

  test('whatever comes, packets leave in order, once each, and none is forgotten', () => {
    const arrivals = fc.array(fc.tuple(fc.nat({ max: 300 }), fc.nat({ max: 60 })), { maxLength: 400 });
    fc.assert(
      fc.property(arrivals, fc.nat({ max: 65_535 }), (list, base) => {
        const { collector, sequencer } = fresh();
        let nowMs = 0;
        const offsets = [20, ...list.map(([offset]) => offset)];
        offsets.forEach((offset, i) => {
          nowMs += list[i]?.[1] ?? 0;
          sequencer.push(packetOf('00', { sequence: (base + offset) & 0xffff }), nowMs as MonotonicMs);
        });
        sequencer.flush((nowMs + 1000) as MonotonicMs);
        const { duplicates, late, lost, restarts } = sequencer.counters;
        if (restarts > 0) return;
        let next = ((collector.sequences[0] ?? base) - base) & 0xffff;
        collector.sequences.forEach((sequence, i) => {
          const offset = (sequence - base) & 0xffff;
          assert.equal(offset, next + collector.losses[i]!);
          next = offset + 1;
        });
        const suspects = offsets.length - collector.sequences.length - duplicates - late;
        assert.ok(suspects >= 0, 'a packet left twice');
        if (!offsets.some((offset, i) => i > 0 && offset + 100 < Math.max(...offsets.slice(0, i)))) {
          assert.equal(suspects, 0, 'a packet was forgotten');
        }
        assert.equal(
          lost,
          collector.losses.reduce((sum, one) => sum + one, 0),
        );
      }),
      { numRuns: 200 },
    );
  });
});
