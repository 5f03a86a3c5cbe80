import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ThreadStats } from '../../src/base/thread-stats.js';
import { History, type Series } from '../../src/ops/history.js';
import { historySeries } from '../../src/ops/history-series.js';
import { SampleRing } from '../../src/ops/sample-ring.js';
import { Threads } from '../../src/ops/threads.js';
import { FakeClock } from '../support/fake-clock.js';

const plain = { kind: 'gauge', ofMinute: 'mean', digits: 3 } as const;

/** A history of one gauge and one count, on a machine that can sleep. */
const setUp = () => {
  const clock = new FakeClock();
  const now = { level: 0, count: 0, sleptMs: 0 };
  const series: Series[] = [
    { ...plain, name: 'level', read: () => now.level },
    { ...plain, name: 'peak', ofMinute: 'max', read: () => now.level },
    { ...plain, name: 'rate', kind: 'count', read: () => now.count },
  ];
  const history = new History(series, { clock, uptimeMs: () => clock.monotonicMs() + now.sleptMs });
  const beat = (seconds: number, change: (second: number) => void = () => {}): void => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      change(second);
      history.sample();
    }
  };
  const read = (span: 'hour' | 'day' = 'hour', name = 'level') =>
    history.read(span, null, null).series[name]!;
  return { clock, now, history, beat, read };
};

test('an hour by second, then the oldest go; counts are rates', () => {
  const { clock, now, history, beat, read } = setUp();
  beat(10, (second) => {
    now.level = second;
    now.count += 5;
  });
  assert.deepEqual(read(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(
    read('hour', 'rate'),
    [null, ...Array(9).fill(5)],
    'the first one rose in nobody knows how long',
  );
  const { from, step_sec } = history.read('hour', null, null);
  assert.deepEqual([Date.parse(from), step_sec], [clock.wallMs() - 9_000, 1]);
  beat(4_000);
  assert.equal(read().length, 3_600);
  assert.deepEqual(history.read('hour', clock.wallMs() - 2_000, ['rate']).series, { rate: [0, 0, 0] });
  assert.deepEqual(history.read('hour', clock.wallMs() + 5_000, ['rate']).series, { rate: [] });
});

test('a day by minute: what its seconds had in the mean, or at most', () => {
  const { now, beat, read } = setUp();
  beat(3 * 60, (second) => {
    now.level = second % 2;
  });
  assert.ok(read('day').length >= 2);
  assert.ok(read('day').every((value) => value !== null && Math.abs(value - 0.5) < 0.01));
  assert.ok(read('day', 'peak').every((value) => value === 1));
  beat(26 * 3_600);
  assert.equal(read('day').length, 1_440);
});

test('time that nobody looked at is null, be it that the machine slept; a late beat is no gap', () => {
  const { clock, now, beat, read } = setUp();
  const count = (): void => {
    now.count += 2;
  };
  beat(3, count);
  clock.advance(1_500);
  beat(1, () => {
    now.count += 5;
  });
  assert.deepEqual(read('hour', 'rate'), [null, 2, 2, 2, 2]);
  now.sleptMs = 5_000;
  beat(2, count);
  assert.deepEqual(read('hour', 'rate').slice(5), [null, null, null, null, null, null, 2]);
  assert.deepEqual(read().slice(5), [null, null, null, null, null, 0, 0]);
  clock.sleep(7_200_000);
  beat(1, count);
  assert.deepEqual(read().filter((value) => value !== null).length, 1);
});

test('a clock that is set moves the whole history, and tears nothing', () => {
  const { clock, now, history, beat, read } = setUp();
  beat(5, (second) => {
    now.level = second;
  });
  for (const stepMs of [-86_400_000, 3 * 86_400_000]) {
    clock.setWall(clock.wallMs() + stepMs);
    beat(1);
    assert.equal(
      Date.parse(history.read('hour', null, null).from),
      clock.wallMs() - (read().length - 1) * 1_000,
    );
  }
  assert.deepEqual(read(), [0, 1, 2, 3, 4, 4, 4]);
});

test('a count that begins anew gives no negative rate', () => {
  const { now, beat, read } = setUp();
  beat(2, () => {
    now.count += 100;
  });
  now.count = 0;
  beat(1);
  assert.deepEqual(read('hour', 'rate'), [null, 100, 0]);
});

test('the ring has what a list would have', () => {
  const slots = 7;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer()), { minLength: 1 }),
      (puts) => {
        const ring = new SampleRing(2, slots);
        const model: (number | null)[] = [];
        let slot = 5;
        const start = slot + puts[0]![0];
        for (const [step, value] of puts) {
          slot += step;
          ring.put(slot, Float64Array.of(value, -value));
          if (slot - start < model.length) continue;
          while (model.length < slot - start) model.push(null);
          model.push(value);
        }
        const kept = model.slice(-slots);
        assert.deepEqual(ring.read(0, ring.first), kept);
        assert.deepEqual(
          ring.read(1, ring.first),
          kept.map((value) => (value === null ? null : -value)),
        );
      },
    ),
  );
});

/** A thread that worked for so long. */
const figuresOf = (cpuSeconds: number): SharedArrayBuffer => {
  const { shared } = new ThreadStats(new FakeClock());
  new Float64Array(shared, 0, 1)[0] = cpuSeconds;
  return shared;
};

test('what threads work is told by their place, which the next one takes, and nothing is counted twice', () => {
  const threads = new Threads();
  threads.add('main', figuresOf(1));
  const first = threads.add('camera-worker-1', figuresOf(10));
  threads.add('camera-worker-2', figuresOf(20));
  assert.deepEqual(
    [1, 2, 3].map((place) => threads.cpuSeconds('camera-worker', place)),
    [10, 20, Number.NaN],
  );
  assert.equal(threads.totalCpuSeconds, 31);
  first();
  assert.ok(Number.isNaN(threads.cpuSeconds('camera-worker', 1)));
  threads.add('camera-worker-3', figuresOf(5));
  assert.deepEqual(
    [1, 2].map((place) => threads.cpuSeconds('camera-worker', place)),
    [5, 20],
  );
  assert.equal(threads.totalCpuSeconds, 36, 'what the ended one did is not forgotten');
  threads.add('whep-worker-7', figuresOf(3));
  assert.equal(threads.cpuSeconds('whep-worker', 1), 3);
});

test('every series has a number on this machine', () => {
  const clock = new FakeClock();
  const threads = new Threads();
  const mainThread = new ThreadStats(clock);
  mainThread.start();
  threads.add('main', mainThread.shared);
  const series = historySeries({
    addUp: (into) => {
      into.cameras = 3;
      into.receivedBytes += 1_000;
      into.viewers.hls = 2;
    },
    threads,
    freeBytes: () => 5,
  });
  const history = new History(series, { clock, uptimeMs: () => clock.monotonicMs() });
  for (let second = 0; second < 3; second++) {
    clock.advance(1_000);
    history.sample();
  }
  const { series: shown } = history.read('hour', null, null);
  mainThread.stop();
  for (const [name, values] of Object.entries(shown))
    assert.equal(values[2] === null, /^cpu_(?:camera|whep)_worker_\d_percent$/.test(name), name);
  assert.deepEqual(
    [shown['cameras']?.[2], shown['received_bytes_per_second']?.[2], shown['viewers_hls']?.[2]],
    [3, 1_000, 2],
  );
  assert.ok(shown['memory_bytes']![2]! > 1e7 && shown['cpu_percent']![2]! >= 0);
});
