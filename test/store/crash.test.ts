import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';

/** Lets a process write from `first` on, kills it after `count` acknowledgements, and answers the last one. */
const killAfter = async (path: string, first: number, count: number): Promise<number> => {
  const writer = join(import.meta.dirname, 'crash-writer.js');
  const child = spawn(process.execPath, [writer, path, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
    if (text.split('\n').length > count) child.kill('SIGKILL');
  });
  const [, signal] = await once(child, 'close');
  assert.equal(signal, 'SIGKILL');
  // A line without its end was not acknowledged.
  return Number(text.split('\n').at(-2));
};

test('kill -9 during 1000 acknowledged writes loses none of them', async (t) => {
  const path = join(tempFolder(t), 'framering.db');
  let first = 0;
  while (first < 1_000) {
    const last = await killAfter(path, first, 170);
    const store = new Store(path);
    const stored = store.cameras.list();
    const used = store.traffic.usedBytes('2026-11');
    store.close();
    for (const { id, comment, tags } of stored) {
      assert.equal(id, `camera-${comment}`);
      assert.deepEqual(tags, ['a', 'b'], 'a transaction is there as a whole');
    }
    const ids = new Set(stored.map(({ id }) => id));
    for (let index = 0; index <= last; index++) {
      assert.ok(ids.has(`camera-${index}`), `write ${index} was acknowledged and lost`);
      if (index >= first) assert.equal(used.get(`camera-${index}`), index);
    }
    first = stored.length;
    assert.ok(first - 1 - last <= 1, 'at most the write that was under way is there unacknowledged');
  }
});
