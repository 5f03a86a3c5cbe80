import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SoakResult } from '../../native-free-bench/soak/soak.js';
import { trendOf } from '../../native-free-bench/soak/trend.js';
import { judge, type SoakSample } from '../../native-free-bench/soak/verdict.js';
import { seededRandom } from '../support/seeded-random.js';
import { tempFolder } from '../support/temp-folder.js';
import { runBench } from './run-bench.js';

const finite = (min: number, max: number) => fc.double({ min, max, noNaN: true });

test('a straight line is found as it is, and its slope is sure', () => {
  fc.assert(
    fc.property(
      finite(-1e3, 1e3),
      finite(-1e3, 1e3),
      fc.integer({ min: 3, max: 200 }),
      (slope, start, count) => {
        const trend = trendOf(Array.from({ length: count }, (_, x) => ({ x, y: start + slope * x })))!;
        const tolerance = 1e-6 * (1 + Math.abs(slope) + Math.abs(start));
        assert.ok(Math.abs(trend.slope - slope) < tolerance);
        assert.ok(trend.high - trend.low < 1e-3 * (1 + Math.abs(slope) + Math.abs(start)));
      },
    ),
  );
});

test('moving or stretching figures moves and stretches the trend, and its bounds lie around it', () => {
  const figures = fc.array(finite(0, 1e4), { minLength: 3, maxLength: 60 });
  fc.assert(
    fc.property(figures, finite(0.5, 50), finite(-1e3, 1e3), (values, factor, offset) => {
      const of = (map: (value: number) => number) => trendOf(values.map((y, x) => ({ x, y: map(y) })))!;
      const [plain, other] = [of((y) => y), of((y) => y * factor + offset)];
      assert.ok(plain.low <= plain.slope && plain.slope <= plain.high);
      for (const bound of ['slope', 'low', 'high'] as const)
        assert.ok(Math.abs(other[bound] - plain[bound] * factor) < 1e-3 * (1 + Math.abs(other[bound])));
    }),
  );
});

test('with noise that means nothing the true slope lies within the bounds 19 times of 20', () => {
  const random = seededRandom(7);
  let within = 0;
  for (let run = 0; run < 400; run += 1) {
    // The sum of some even noises is about normal.
    const noise = () => Array.from({ length: 6 }, random).reduce((sum, each) => sum + each, -3);
    const { low, high } = trendOf(Array.from({ length: 40 }, (_, x) => ({ x, y: 2 * x + noise() })))!;
    within += Number(low <= 2 && 2 <= high);
  }
  assert.ok(within > 365 && within < 398, `${within} of 400`);
});

const samplesOf = (rssMb: (minute: number) => number): SoakSample[] =>
  Array.from({ length: 120 }, (_, minute) => ({
    atSec: minute * 60,
    rssMb: rssMb(minute),
    ...{ pssMb: null, heapMb: 50, ringMb: 10, openFiles: 40, threads: 20, viewers: 3, streaming: 2 },
    ...{ drops: 0, unrecordedFrames: 0, reconnects: 0, cpuMs: null },
  }));

test('memory that grows is told from memory that goes up and down, and from what nobody can tell yet', () => {
  const verdictOf = (rssMb: (minute: number) => number) => judge('rssMb', samplesOf(rssMb)).verdict;
  const random = seededRandom(3);
  assert.equal(
    verdictOf((minute) => 300 + minute + random()),
    'grows',
  );
  assert.equal(
    verdictOf((minute) => 300 + (minute % 7) + random()),
    'steady',
  );
  assert.equal(
    verdictOf((minute) => (minute < 30 ? 100 + 5 * minute : 300) + random()),
    'steady',
  );
  assert.equal(
    verdictOf((minute) => 300 + 30 * Math.sin((minute - 80) / 12) + random()),
    'not known yet',
  );
  assert.equal(
    judge(
      'pssMb',
      samplesOf(() => 1),
    ).verdict,
    'not known yet',
  );
});

test('seconds of a soak with cameras that fail leave all of them streaming, and a JSON with its samples', (t) => {
  const json = join(tempFolder(t), 'soak.json');
  const load = ['--hours', '0.004', '--cameras', '2', '--mbit', '0.5', '--gop', '0.5', '--failures', '60'];
  const viewers = ['--ws', '2', '--wall', '0', '--hls', '0', '--rtsp', '1', '--whep', '0'];
  const run = runBench('soak', ...load, ...viewers, '--json', json);
  const result = JSON.parse(readFileSync(json, 'utf8')) as SoakResult;
  assert.equal(result.allCameBack, true, run.stderr);
  assert.ok(result.samples.length > 3, `${result.samples.length} samples`);
  for (const { heapMb, streaming } of result.samples) assert.ok(heapMb > 0 && streaming <= 2);
  assert.ok((result.visits['ws']?.visits ?? 0) > 0);
  assert.match(run.stdout, /all cameras came back/);
});
