import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCopies } from '../../../src/archive/offsite/find-copies.js';

test('a list without an end is none, whatever its pages are', async () => {
  let pages = 0;
  const list = async () => {
    pages += 1;
    return { items: [], next: pages % 2 === 0 ? 'a' : 'b' };
  };
  await assert.rejects(findCopies({ list }, 'door', new AbortController().signal), { code: 's3_bad_answer' });
  assert.ok(pages <= 10_000);
});
