import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { ApiKeys, type NewApiKey } from '../../src/auth/api-keys.js';
import { createLogger } from '../../src/base/log.js';
import { Store } from '../../src/store/store.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';

const plain: NewApiKey = { name: 'robot', role: 'viewer', folders: null, cameras: null, expires_ms: null };

const setUp = (t: TestContext) => {
  const path = join(tempFolder(t), 'framering.db');
  const clock = new FakeClock();
  const wrong: string[] = [];
  const ended: string[] = [];
  const open = () => {
    const store = new Store(path);
    const keys = new ApiKeys({
      ...{ table: store.keys, change: store.change, clock, log: createLogger(() => {}) },
      viewers: { endForUser: (name) => ended.push(name) },
      onWrong: (address) => wrong.push(address),
    });
    const close = (): void => {
      keys.stop();
      store.close();
    };
    return { store, keys, close };
  };
  const opened = open();
  t.after(() => opened.close());
  return { ...opened, open, clock, wrong, ended };
};

const refusal = (act: () => unknown): string => {
  try {
    act();
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
  return 'none';
};

test('a key is found by what it is, and stands nowhere', async (t) => {
  const { keys, store } = setUp(t);
  const { key, made } = await keys.create({ ...plain, folders: ['yard'], cameras: ['door'] });
  assert.match(key, /^framering_[0-9a-f]{64}$/);
  assert.deepEqual(keys.verify(key, '192.0.2.1'), {
    ...{ username: 'key:robot', role: 'viewer', token_epoch: made.id },
    limits: { folders: ['yard'], cameras: ['door'] },
  });
  assert.equal(keys.find('key:robot')?.token_epoch, made.id);
  const kept = JSON.stringify([store.exportAll(), keys.list()]);
  assert.ok(!kept.includes(key.slice('framering_'.length)));
  await assert.rejects(keys.create(plain), { code: 'exists' });
});

test('nothing but a key is one', async (t) => {
  const { keys, wrong } = setUp(t);
  const { key } = await keys.create(plain);
  fc.assert(
    fc.property(fc.string(), fc.nat(key.length - 1), (text, at) => {
      const other = `${key.slice(0, at)}${text}${key.slice(at + 1)}`;
      assert.equal(
        refusal(() => keys.verify(other, '192.0.2.1')),
        other === key ? 'none' : 'token_invalid',
      );
    }),
  );
  assert.ok(wrong.length > 0);
});

test('a wrong key counts once for an address, whatever uses it; another one counts again', (t) => {
  const { keys, wrong } = setUp(t);
  for (let time = 0; time < 5; time++) refusal(() => keys.verify('framering_no', '192.0.2.1'));
  refusal(() => keys.verify('framering_no', '192.0.2.2'));
  refusal(() => keys.verify('framering_other', '192.0.2.1'));
  assert.deepEqual(wrong, ['192.0.2.1', '192.0.2.2', '192.0.2.1']);
});

test('a key that is removed, or over, is good for nothing, and what it opened ends', async (t) => {
  const { keys, clock, ended } = setUp(t);
  const { key, made } = await keys.create(plain);
  const short = await keys.create({ ...plain, name: 'guest', expires_ms: clock.wallMs() + 60_000 });
  assert.equal(await keys.remove(made.id), 'robot');
  assert.deepEqual(ended, ['key:robot']);
  assert.equal(
    refusal(() => keys.verify(key, '')),
    'token_invalid',
  );
  await assert.rejects(keys.remove(made.id), { code: 'not_found' });
  clock.advance(70_000);
  assert.deepEqual(ended, ['key:robot', 'key:guest']);
  assert.equal(
    refusal(() => keys.verify(short.key, '')),
    'token_expired',
  );
  assert.equal(keys.find('key:guest'), null);
  assert.notEqual((await keys.create(plain)).made.id, made.id, 'the same name again is another key');
});

test('the last use is known at once, written once a minute, and there after a restart', async (t) => {
  const { keys, store, open, clock } = setUp(t);
  const { key } = await keys.create(plain);
  const revision = store.revision;
  clock.advance(60_000);
  const firstMs = clock.wallMs();
  keys.verify(key, '');
  assert.equal(keys.list()[0]?.used_ms, firstMs);
  clock.advance(10_000);
  assert.equal(store.keys.list()[0]?.used_ms, firstMs);
  clock.advance(10_000);
  keys.verify(key, '');
  clock.advance(30_000);
  assert.equal(store.keys.list()[0]?.used_ms, firstMs, 'not again within the minute');
  assert.equal(store.revision, revision, 'it is no change of what was configured');
  keys.stop();
  const second = open();
  t.after(() => second.close());
  assert.equal(second.keys.list()[0]?.used_ms, firstMs + 20_000);
});

test('a restore replaces the keys: those that are others end', async (t) => {
  const { keys, store, ended } = setUp(t);
  const stays = await keys.create({ ...plain, name: 'stays' });
  await keys.create({ ...plain, name: 'goes' });
  await keys.create({ ...plain, name: 'changes' });
  store.keys.replaceAll(
    store.keys.records().flatMap((record) => {
      if (record.name === 'goes') return [];
      return [record.name === 'changes' ? { ...record, folders: ['yard'] } : record];
    }),
  );
  keys.reload();
  assert.deepEqual(ended.sort(), ['key:changes', 'key:goes']);
  assert.equal(keys.verify(stays.key, '').username, 'key:stays');
});

test('a key that is removed is good for nothing, also where the others can not be read after it', async (t) => {
  const { keys, store, ended } = setUp(t);
  const { key, made } = await keys.create(plain);
  const list = t.mock.method(store.keys, 'list', () => {
    throw new Error('disk I/O error');
  });
  await assert.rejects(keys.remove(made.id), /disk I\/O error/);
  list.mock.restore();
  assert.equal(
    refusal(() => keys.verify(key, '192.0.2.1')),
    'token_invalid',
  );
  assert.equal(keys.find('key:robot'), null);
  assert.deepEqual(ended, ['key:robot']);
});
