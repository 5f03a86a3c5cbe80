import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  neighbourOf,
  pagesOf,
  slotsOf,
  suggestedGrid,
  swapped,
  withoutEmptyRows,
} from '../../src/web/pages/wall/slots.js';

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => `c${at}`);

test('a wall has as many pages as its cameras need, and no row for nobody', () => {
  assert.deepEqual([1, 4, 5, 9, 10, 40].map(suggestedGrid), ['1x1', '2x2', '3x3', '3x3', '4x4', '4x4']);
  assert.equal(pagesOf(40, '4x4'), 3);
  assert.deepEqual(slotsOf(ids(5), '2x2', 2), ['c4', null, null, null]);
  assert.deepEqual(slotsOf(ids(5), '2x2', 9), ['c4', null, null, null], 'a page that is not there');
  assert.equal(withoutEmptyRows(slotsOf(ids(5), '3x3', 1), '3x3').length, 6);
  assert.equal(withoutEmptyRows(slotsOf(ids(2), '1+5', 1), '1+5').length, 6);
  assert.deepEqual(swapped(['a', 'b', null], 0, 2), [null, 'b', 'a']);
});

test('arrows lead to the tile beside, and around a large one', () => {
  assert.deepEqual(
    ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'].map((key) =>
      neighbourOf(4, key, '3x3'),
    ),
    [3, 5, 1, 7, 0, 8],
  );
  assert.equal(neighbourOf(2, 'ArrowRight', '3x3'), 2, 'at the edge it stays');
  // 1+5: the large one takes two rows and columns; 1, 2 beside it, 3, 4, 5 below.
  assert.deepEqual(
    ['ArrowRight', 'ArrowDown'].map((key) => neighbourOf(0, key, '1+5')),
    [1, 3],
  );
  assert.deepEqual(
    ['ArrowLeft', 'ArrowDown'].map((key) => neighbourOf(2, key, '1+5')),
    [0, 5],
  );
  assert.deepEqual([neighbourOf(3, 'ArrowUp', '1+5'), neighbourOf(4, 'ArrowUp', '1+5')], [0, 0]);
});
