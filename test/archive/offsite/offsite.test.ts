import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { CopyState, FromCopier, ToCopier } from '../../../src/archive/offsite/messages.js';
import { Offsite } from '../../../src/archive/offsite/offsite.js';
import { storeFolder } from '../../../src/archive/offsite/store-folder.js';
import { s3AddressOf } from '../../../src/base/s3-address.js';
import type { ThreadEvents } from '../../../src/base/thread-handle.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { logLines } from '../log-lines.js';
import { named } from './copier-rig.js';

const address = s3AddressOf('http://key:secret@127.0.0.1:9/bucket')!;

const state: CopyState = {
  ...{ waiting: 2, oldestMs: 1, copied: 3, copiedBytes: 4, deleted: 5, failed: 6 },
  ...{
    fault: null,
    fileFault: null,
    deletionFault: null,
    isUp: true,
    isAway: false,
    kept: { door: 1, yard: 0 },
    otherBoxes: [],
  },
};

/** Threads that do nothing; what they were told, and their events. */
const setUp = (t: TestContext) => {
  const clock = new FakeClock();
  const threads: { told: ToCopier[]; events: ThreadEvents<FromCopier> }[] = [];
  const offsite = new Offsite(
    {
      ...{ archiveDir: tempFolder(t), copiesDir: tempFolder(t), root: new SharedArrayBuffer(64) },
      ...{ address, ca: null, box: 'box', isShared: false, mbit: null },
    },
    null,
    {
      ...{ clock, log: logLines().log, threads: { add: () => () => {} }, held: () => [], epochAt: () => 0 },
      spawn: (_setup, events) => {
        const told: ToCopier[] = [];
        threads.push({ told, events });
        return { send: (message) => void told.push(message), stop: async () => {}, kill: async () => {} };
      },
    },
  );
  t.after(() => offsite.stop());
  offsite.start();
  return { clock, offsite, threads };
};

test('a thread of which nothing is heard is a fault, be it never or no more', (t) => {
  const { clock, offsite, threads } = setUp(t);
  assert.match(offsite.fault ?? '', /does not answer/);
  assert.equal(offsite.isUp, false);
  threads[0]!.events.onMessage({ type: 'state', state });
  assert.equal(offsite.fault, null);
  assert.equal(offsite.isUp, true);
  assert.deepEqual([offsite.keeps('door'), offsite.keeps('yard')], [true, false]);
  // Of which nothing is written: who knows.
  for (const cameraId of ['gate', 'constructor']) assert.equal(offsite.keeps(cameraId), true, cameraId);
  threads[0]!.events.onLost('it threw');
  assert.match(offsite.fault ?? '', /does not answer/);
  assert.equal(offsite.isUp, false);
  assert.equal(offsite.keeps('yard'), true);
  clock.advance(5_000);
  assert.equal(threads.length, 2);
  assert.match(offsite.fault ?? '', /does not answer/);
  threads[1]!.events.onMessage({ type: 'state', state });
  assert.equal(offsite.fault, null);
  assert.equal(offsite.state?.copied, 6);
});

test('a thread that can not even begin is tried less and less often, until one is heard of', (t) => {
  const { clock, threads } = setUp(t);
  const seconds = [5, 10, 20, 40, 80, 160, 300, 300];
  for (const [at, wait] of seconds.entries()) {
    threads.at(-1)!.events.onLost('it threw');
    clock.advance(wait * 1_000 - 1);
    assert.equal(threads.length, at + 1);
    clock.advance(1);
    assert.equal(threads.length, at + 2);
  }
  threads.at(-1)!.events.onMessage({ type: 'state', state });
  threads.at(-1)!.events.onLost('it threw');
  clock.advance(5_000);
  assert.equal(threads.length, seconds.length + 2);
});

test('what is to go is certain when the thread says so, and not before', async (t) => {
  const { clock, offsite, threads } = setUp(t);
  const going = offsite.forget('door', named('a.mp4'));
  const asked = threads[0]!.told.find(({ type }) => type === 'forget');
  assert.ok(asked?.type === 'forget');
  threads[0]!.events.onMessage({ type: 'forgotten', id: asked.id, count: 1 });
  assert.equal(await going, 1);
  const late = offsite.forget('door', named('a.mp4'));
  const refused = assert.rejects(late, { code: 'archive_unavailable' });
  clock.advance(15_000);
  await refused;
});

test('what is known of a store is that of its bucket and prefix, whoever asks', () => {
  const folderOf = (url: string): string => storeFolder(s3AddressOf(url)!);
  const first = folderOf('https://key:secret@host/bucket/site');
  assert.equal(folderOf('https://other:word@host:443/bucket/site?region=eu-1'), first);
  for (const url of [
    'host/bucket',
    'host/bucket/site2',
    'host/bucket2/site',
    'host2/bucket/site',
    'host:444/bucket/site',
  ])
    assert.notEqual(folderOf(`https://key:secret@${url}`), first, url);
  assert.match(first, /^[0-9a-f]{16}$/);
});
