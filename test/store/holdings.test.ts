import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';

test('what was recorded has the epoch by which its camera was held then', (t) => {
  const path = join(tempFolder(t), 'framering.db');
  let store = new Store(path);
  t.after(() => store.close());
  const { revision } = store;
  assert.equal(store.holdings.epochsOf('gate')(5_000), 0, 'a box alone holds nothing');
  store.holdings.begin([{ cameraId: 'gate', epoch: 3 }], 1_000);
  store.holdings.claim([{ cameraId: 'gate', epoch: 4 }]);
  store.holdings.end(['gate'], 2_000);
  store.holdings.begin(
    [
      { cameraId: 'gate', epoch: 9 },
      { cameraId: 'yard', epoch: 1 },
    ],
    10_000,
  );
  const at = (ms: number) => store.holdings.epochsOf('gate')(ms);
  assert.deepEqual([at(1_000), at(1_999), at(10_000), at(99_000)], [4, 4, 9, 9]);
  assert.deepEqual([at(2_100), at(9_900)], [4, 9], 'of what nobody held that which is nearer');
  assert.equal(at(900), 4, 'a clock that was set: the one that begins next');
  assert.equal(store.revision, revision, 'nobody looks at the configuration for that');
  store.close();
  store = new Store(path);
  assert.deepEqual(store.holdings.open(), [
    { cameraId: 'gate', epoch: 9 },
    { cameraId: 'yard', epoch: 1 },
  ]);
  store.holdings.begin([{ cameraId: 'gate', epoch: 10 }], 20_000);
  store.holdings.end(['yard'], 20_000);
  assert.deepEqual(store.holdings.open(), [{ cameraId: 'gate', epoch: 10 }]);
});

test('only so many of a camera are remembered', (t) => {
  const store = new Store(join(tempFolder(t), 'framering.db'));
  t.after(() => store.close());
  for (let since = 1; since <= 300; since++)
    store.holdings.begin([{ cameraId: 'gate', epoch: since }], since);
  assert.equal(store.holdings.epochsOf('gate')(40), 45, 'the oldest that is left');
  assert.equal(store.holdings.epochsOf('gate')(299), 299);
});
