import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { copiesPath } from '../../../src/archive/offsite/copies-file.js';
import { objectOf } from '../../../src/archive/offsite/object-name.js';
import { forgetInOtherStores } from '../../../src/archive/offsite/other-stores.js';
import { Patience } from '../../../src/archive/offsite/patience.js';
import { StoreLists } from '../../../src/archive/offsite/store-lists.js';
import { s3Error } from '../../../src/s3/errors.js';
import { EVERYTHING, named } from './copier-rig.js';
import { Departing } from './departing.js';
import { manyCopies } from './made-copies.js';

const MINUTE_MS = 60_000;
const away = async () => Promise.reject(s3Error('s3_unavailable', 'the store is away'));

/** A camera's copies are there, and written down. */
const copied = (rig: Departing, cameraId: string, many: number, firstMs = 0): string[] => {
  const copies = manyCopies(many, firstMs);
  rig.notes.replace(cameraId, [...(rig.notes.read(cameraId) ?? []), ...copies]);
  return copies.map((copy) => {
    const name = objectOf(cameraId, copy);
    rig.store.set(name, { bytes: copy.sizeBytes, etag: 'etag', source: null });
    return name;
  });
};

/** As a bad sector does. */
const damage = (rig: Departing, cameraId: string): void => {
  const path = copiesPath(rig.copiesDir, cameraId);
  const bytes = readFileSync(path);
  bytes[40]! ^= 1;
  writeFileSync(path, bytes);
};

const listsOf = (rig: Departing): StoreLists =>
  new StoreLists({
    ...{ client: rig.client, nowMs: () => rig.nowMs, notes: rig.notes, outbox: rig.outbox },
    ...{ departures: rig.departures, patience: new Patience(1, 1) },
  });

const list = (rig: Departing): Promise<string | null> => listsOf(rig).step(new AbortController().signal);

test('what waits to be deleted stays gone when what is written of its camera is lost', async (t) => {
  const rig = new Departing(t);
  const [first, second] = copied(rig, 'door', 2);
  const young = copied(rig, 'door', 1, rig.wallMs + MINUTE_MS)[0]!;
  const fileName = '1970-01-01_00-00-00_to_00-00-01.mp4';
  assert.equal(rig.departures.forget('door', named(fileName)), 1);
  damage(rig, 'door');
  rig.restart();
  await rig.step();
  assert.equal(await list(rig), 'door');
  assert.deepEqual([rig.notes.read('door')?.count, rig.notes.kept.get('door')], [3, 2]);
  await rig.step(MINUTE_MS);
  assert.deepEqual([...rig.store.keys()], [second, young]);
  await rig.step();
  assert.deepEqual([rig.outbox.wishes, await list(rig)], [[], null]);
  assert.ok(!rig.store.has(first!));
});

test('what was purged under an id is not found again beside what was copied under it since', async (t) => {
  const rig = new Departing(t);
  copied(rig, 'door', 2);
  rig.departures.forget('door', EVERYTHING);
  const [young] = copied(rig, 'door', 1, rig.wallMs + MINUTE_MS);
  damage(rig, 'door');
  rig.restart();
  await rig.step();
  await list(rig);
  assert.equal(rig.notes.kept.get('door'), 1);
  await rig.step(MINUTE_MS);
  assert.deepEqual([...rig.store.keys()], [young]);
});

test('what was purged while the store was not set is shown by nobody once it is, though it be away', async (t) => {
  const rig = new Departing(t);
  copied(rig, 'door', 2);
  const sent = objectOf('door', manyCopies(1, 1_000_000)[0]!);
  const sending = { object: sent, source: '1 1 1 1', mark: null, uploadId: null, parts: {} };
  rig.outbox.set({ ...sending, isUnwanted: false });
  const input = { storesDir: dirname(rig.copiesDir), copiesDir: null, cameraId: 'door' };
  forgetInOtherStores({ ...input, unwanted: EVERYTHING });
  rig.restart();
  assert.equal(rig.notes.kept.get('door'), 0, 'before anything is asked');
  const { list: lists, head } = rig.client;
  Object.assign(rig.client, { list: away, head: away, delete: away, listUploads: away });
  // Another camera is to be listed first.
  rig.notes.change('aside', []);
  await rig.step();
  assert.equal(rig.outbox.of(sent)?.isUnwanted, true);
  const [young] = copied(rig, 'door', 1, rig.wallMs + MINUTE_MS);
  await rig.step(MINUTE_MS);
  assert.equal(rig.notes.kept.get('door'), 1, 'what came since is another camera');
  Object.assign(rig.client, {
    list: lists,
    head,
    listUploads: async () => [],
    delete: async (name: string) => void rig.store.delete(name),
  });
  await rig.step(60 * MINUTE_MS);
  await rig.step(60 * MINUTE_MS);
  assert.deepEqual([...rig.store.keys()], [young]);
  assert.deepEqual([rig.outbox.wishes, rig.outbox.sendings], [[], []]);
});
