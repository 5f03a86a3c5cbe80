import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Thumbnails } from '../../src/web/archive/tape/thumbnails.js';

test('a picture stays; one that could not be had is asked for again a little later', async () => {
  let nowMs = 1_000_000;
  mock.method(performance, 'now', () => nowMs);
  const asked: number[] = [];
  let answer: Blob | null = null;
  const thumbnails = new Thumbnails(async (_camera, atMs) => {
    asked.push(atMs);
    return answer;
  });
  const get = () => thumbnails.get('gate', 12_345, 1_000);
  assert.equal(await get(), null);
  answer = new Blob(['picture']);
  assert.equal(await get(), null, 'not at once: nobody is asked all the time');
  nowMs += 10_000;
  const url = await get();
  assert.match(url ?? '', /^blob:/);
  nowMs += 8_000_000;
  assert.equal(await get(), url);
  assert.deepEqual(asked, [12_000, 12_000]);
  thumbnails.close();
  mock.restoreAll();
});
