import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Signal } from '../../src/base/signal.js';

test('whoever listens is told, also where another one fails, and that is thrown', () => {
  const signal = new Signal<[what: string]>();
  const heard: string[] = [];
  signal.on((what) => heard.push(`first ${what}`));
  for (const reason of ['one', 'another'])
    signal.on(() => {
      throw new Error(reason);
    });
  signal.on((what) => heard.push(`last ${what}`));
  assert.throws(() => signal.emit('news'), { message: 'one' });
  assert.deepEqual(heard, ['first news', 'last news']);
});
