import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { test } from 'node:test';
import { copiesPath } from '../../../src/archive/offsite/copies-file.js';
import { objectOf } from '../../../src/archive/offsite/object-name.js';
import { EVERYTHING, expiryOf } from './copier-rig.js';
import { Departing } from './departing.js';
import { manyCopies } from './made-copies.js';

const MINUTE_MS = 60_000;

const copied = (rig: Departing, cameraId: string, many: number): void => {
  rig.notes.replace(cameraId, manyCopies(many));
  for (const copy of manyCopies(many))
    rig.store.set(objectOf(cameraId, copy), { bytes: copy.sizeBytes, etag: 'etag', source: null });
};

test('a camera that is deleted goes by and by, and others of it have their turn', async (t) => {
  const rig = new Departing(t);
  copied(rig, 'door', 150);
  rig.departures.forget('door', EVERYTHING);
  const left = [];
  for (let isMore = await rig.step(MINUTE_MS); isMore; isMore = await rig.step()) left.push(rig.store.size);
  assert.deepEqual(left, [86, 22]);
  assert.deepEqual([rig.store.size, rig.notes.read('door')?.count, rig.departures.deleted], [0, 0, 150]);
});

test('a store that deletes slowly holds up nothing for longer than half a minute', async (t) => {
  const rig = new Departing(t);
  for (const cameraId of ['door', 'gate']) {
    copied(rig, cameraId, 20);
    rig.departures.forget(cameraId, EVERYTHING);
  }
  rig.client.delete = async (name) => {
    rig.nowMs += 5_000;
    rig.store.delete(name);
  };
  const beganMs = rig.nowMs + MINUTE_MS;
  assert.equal(await rig.step(MINUTE_MS), true);
  assert.ok(rig.nowMs - beganMs <= 40_000);
  assert.equal(rig.store.size, 37);
  while (await rig.step());
  assert.equal(rig.store.size, 0);
});

test('a camera of which nothing can be written holds up the age of no other', (t) => {
  const rig = new Departing(t);
  for (const cameraId of ['door', 'gate']) copied(rig, cameraId, 2);
  const limits = ['door', 'gate'].map((cameraId) => ({ cameraId, beforeMs: MINUTE_MS }));
  const path = copiesPath(rig.copiesDir, 'door');
  // Rows are added to it no more, and it is written anew: there a draft goes.
  rig.notes.doubtAll();
  mkdirSync(`${path}.new`);
  assert.throws(() => rig.departures.expire(expiryOf(['door', 'gate'], limits)));
  assert.deepEqual([rig.notes.kept.get('door'), rig.notes.kept.get('gate')], [2, 0]);
  rmSync(`${path}.new`, { recursive: true });
  rig.departures.expire(expiryOf(['door', 'gate'], limits));
  assert.equal(rig.notes.kept.get('door'), 0);
});
