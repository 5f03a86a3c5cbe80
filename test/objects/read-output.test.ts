import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOutput } from '../../src/objects/read-output.js';

test('an output of anything at all gives no object that has no place, no score or no name', () => {
  const size = { width: 100, height: 100 };
  const rows = [
    [10, 10, 30, 30, 0.9, 3],
    [10, 10, 30, 30, 0.9, Number.NaN],
    [10, 10, 30, 30, 0.9, 3e30],
    [10, 10, 30, 30, 0.9, -1],
    [10, 10, 30, 30, Number.NaN, 3],
    [Number.NaN, 10, 30, 30, 0.9, 3],
    [30, 30, 10, 10, 0.9, 3],
    [10, 10, Number.POSITIVE_INFINITY, 1e30, 7, 4],
  ];
  const read = { kind: 'end2end', input: size, fit: size, minScore: 0.5 } as const;
  const output = { data: Float32Array.from(rows.flat()), dims: [1, rows.length, 6] };
  assert.deepEqual(
    readOutput(output, read).map(({ classIndex, score, box }) => [
      classIndex,
      Math.fround(score),
      ...box.map((share) => Math.round(share * 100)),
    ]),
    [
      [3, Math.fround(0.9), 10, 10, 20, 20],
      [4, 1, 10, 10, 90, 90],
    ],
  );
});
