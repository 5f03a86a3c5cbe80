import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Departures } from '../../../src/archive/offsite/departures.js';
import { findCopies } from '../../../src/archive/offsite/find-copies.js';
import { Notes } from '../../../src/archive/offsite/notes.js';
import { objectOf } from '../../../src/archive/offsite/object-name.js';
import { Outbox } from '../../../src/archive/offsite/outbox.js';
import { Patience } from '../../../src/archive/offsite/patience.js';
import { StoreLists } from '../../../src/archive/offsite/store-lists.js';
import { tempFolder } from '../../support/temp-folder.js';
import { logLines } from '../log-lines.js';
import { EVERYTHING } from './copier-rig.js';
import { manyCopies } from './made-copies.js';

test('a list without an end is none, whatever its pages are', async () => {
  let pages = 0;
  const list = async () => {
    pages += 1;
    return { items: [], next: pages % 2 === 0 ? 'a' : 'b' };
  };
  await assert.rejects(findCopies({ list }, 'door', new AbortController().signal), { code: 's3_bad_answer' });
  assert.ok(pages <= 10_000);
});

const HOUR_MS = 3_600_000;
const PAGE = 1_000;

test('of more than can be written down the oldest are known, and a wish stays until all that it means is gone', async (t) => {
  const folder = tempFolder(t);
  const { signal } = new AbortController();
  let objects = manyCopies(256_500).map((copy) => ({
    ...{ name: objectOf('door', copy), bytes: 1, etag: 'e' },
  }));
  const fails = () => Promise.reject(new Error('nothing is deleted here'));
  const client = {
    list: async (_: string, { after = null }: { readonly after?: string | null } = {}) => {
      const from = Number(after ?? 0);
      const next = from + PAGE < objects.length ? String(from + PAGE) : null;
      return { items: objects.slice(from, from + PAGE), next };
    },
    ...{ head: fails, delete: fails as () => Promise<void>, abortUpload: fails, listUploads: fails },
  };
  const [state, options] = [{ nowMs: 0 }, { archiveDir: folder, box: 'a' }];
  const nowMs = () => state.nowMs;
  const notes = new Notes(folder, { nowMs, leaveMs: 0 });
  const outbox = new Outbox(`${folder}/outbox.json`, () => assert.fail('it is damaged'));
  const deps = { client, log: logLines().log, nowMs, notes, outbox };
  const departures = new Departures(options, { ...deps, wallMs: nowMs, onChange: () => {} });
  const lists = new StoreLists({ ...deps, departures, patience: new Patience(1, 1) });
  assert.equal(departures.forget('door', EVERYTHING), 0);
  assert.equal(await lists.step(signal), 'door');
  assert.deepEqual([notes.read('door')?.count, notes.kept.get('door')], [256_000, 0]);
  assert.equal(outbox.wishes.length, 1);
  assert.equal(await lists.step(signal), null, 'it is not asked again and again');
  // They have gone.
  objects = objects.slice(256_000);
  state.nowMs += HOUR_MS;
  assert.equal(await lists.step(signal), 'door');
  assert.deepEqual([notes.read('door')?.count, notes.kept.get('door')], [500, 0]);
  client.delete = () => Promise.resolve();
  while (await departures.step(signal));
  await departures.step(signal);
  assert.equal(outbox.wishes.length, 0);
  assert.equal(await lists.step(signal), null);
});
