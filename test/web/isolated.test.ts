import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isolated } from '../../src/web/text/isolated.js';

test('a name that turns the direction turns nothing but itself', () => {
  assert.equal(isolated('Gate 7 – Nörd, 門'), 'Gate 7 – Nörd, 門', 'others are as they were');
  assert.equal(isolated('Gate\u202e moor'), '\u2068Gate moor\u2069');
  assert.equal(isolated('a\u2069b\u2066'), '\u2068ab\u2069', 'none leaves the box that it is put in');
  assert.equal(isolated('שער'), '\u2068שער\u2069');
  assert.equal(isolated('بوابة 2'), '\u2068بوابة 2\u2069');
});
