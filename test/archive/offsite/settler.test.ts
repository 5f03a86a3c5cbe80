import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markOf } from '../../../src/archive/offsite/copy.js';
import { s3Error } from '../../../src/s3/errors.js';
import { Departing } from './departing.js';

const OBJECT = 'door/2026-11-21/2026-11-21_08-30-00_to_09-30-00_0_box.mp4';
const SOURCE = '1 1000 5 5';
const sending = { object: OBJECT, source: SOURCE, mark: null, uploadId: null, parts: {}, isUnwanted: true };
const there = { bytes: 1_000, etag: 'etag', source: null };
const HOUR_MS = 3_600_000;

test('what is to go is not forgotten by an answer of what stands before a store that is away', async (t) => {
  const rig = new Departing(t);
  const { head, list } = rig.client;
  rig.store.set(OBJECT, there);
  rig.outbox.set(sending);
  const away = async () =>
    Promise.reject(s3Error('s3_unavailable', 'the store answered 404, and not of what'));
  rig.client.list = away;
  // No such page, and a page that says that it is back soon.
  for (const answer of [null, { ...there, bytes: 153 }]) {
    rig.client.head = async () => answer;
    await rig.step(HOUR_MS);
    assert.deepEqual(rig.outbox.sendings, [sending]);
    assert.match(rig.departures.fault ?? '', /404/);
  }
  Object.assign(rig.client, { head, list });
  await rig.step(HOUR_MS);
  assert.deepEqual([rig.outbox.sendings, [...rig.store], rig.departures.fault], [[], [], null]);
});

test('a store that says of an object what its list does not is asked again', async (t) => {
  const rig = new Departing(t);
  const { head } = rig.client;
  rig.store.set(OBJECT, there);
  rig.outbox.set({ ...sending, isUnwanted: false });
  rig.notes.replace('door', []);
  rig.client.head = async () => null;
  await rig.step();
  assert.equal(rig.outbox.sendings.length, 1);
  rig.client.head = head;
  await rig.step(HOUR_MS);
  assert.deepEqual([rig.outbox.sendings.length, rig.notes.kept.get('door')], [0, 1]);
});

test('another one of that name, by its size, is neither a copy nor deleted', async (t) => {
  const rig = new Departing(t);
  rig.notes.replace('door', []);
  rig.store.set(OBJECT, { ...there, bytes: 10 });
  for (const isUnwanted of [false, true]) {
    rig.outbox.set({ ...sending, isUnwanted });
    await rig.step();
    assert.deepEqual([rig.outbox.sendings.length, rig.notes.kept.get('door')], [0, 0]);
    assert.ok(rig.store.has(OBJECT));
  }
});

test('what was a copy, and is not wanted any more, goes whoever put it anew', async (t) => {
  const rig = new Departing(t);
  rig.store.set(OBJECT, { ...there, source: 'other' });
  rig.outbox.set({ ...sending, source: '', mark: markOf('before') });
  await rig.step();
  assert.deepEqual([rig.outbox.sendings.length, rig.store.size], [0, 0]);
});
