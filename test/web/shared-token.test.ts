import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedToken } from '../../src/web/archive/player/shared-token.js';

test('a token that ended is asked for once, and whoever waits for another one gets it', async () => {
  const asked: boolean[] = [];
  const shared = new SharedToken((isRefused) => void asked.push(isRefused));
  const first = [shared.source(false), shared.source(false)];
  shared.give('old');
  assert.deepEqual(await Promise.all(first), ['old', 'old']);
  const second = [shared.source(true), shared.source(true), shared.source(false)];
  shared.give('new');
  assert.deepEqual(await Promise.all(second), ['new', 'new', 'new']);
  assert.deepEqual(asked, [false, true]);
});
