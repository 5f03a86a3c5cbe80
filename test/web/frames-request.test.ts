import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestFrames } from '../../src/web/archive/player/frames-request.js';
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

test('a service that is busy is asked again with the same token, one that refuses it with another', async (t) => {
  const statuses = [503, 401, 404];
  const told: (string | null)[] = [];
  t.mock.method(globalThis, 'fetch', async (_url: unknown, given?: RequestInit) => {
    told.push(new Headers(given?.headers).get('authorization'));
    return new Response(null, { status: statuses.shift() ?? 500 });
  });
  let tokens = 1;
  const source = async (isRefused: boolean): Promise<string> => {
    if (isRefused) tokens += 1;
    return `token ${tokens}`;
  };
  const { signal } = new AbortController();
  const wanted = { fromMs: 0, toMs: 1_000 };
  await assert.rejects(requestFrames('gate', wanted, source, signal).next(), /nothing was recorded/);
  assert.deepEqual(told, ['Bearer token 1', 'Bearer token 1', 'Bearer token 2']);
});
