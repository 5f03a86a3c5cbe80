import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { JobPool, STORED } from '../../../src/archive/jobs/job-pool.js';
import {
  type Answer,
  makeMailbox,
  type Outcome,
  type StoreQuestion,
  serveMailbox,
} from '../../../src/archive/offsite/mailbox.js';
import { systemClock } from '../../../src/base/clock.js';

const CONTENT = randomBytes(3 << 20);

/** Reads all of a recording that a box and a store have; each answers that it is there, or something else. */
const setUp = (t: TestContext, said: { readonly box: Outcome; readonly store: Outcome }) => {
  const asked = { box: 0, store: 0 };
  const serve = (who: 'box' | 'store'): SharedArrayBuffer => {
    const mailbox = makeMailbox();
    serveMailbox(mailbox, async ({ object, startByte, endByte }: StoreQuestion): Promise<Answer> => {
      assert.equal(object, `of ${who}`);
      if (who === 'box') assert.ok(endByte - startByte <= 256 * 1024, 'its link may be thin');
      asked[who] += 1;
      const outcome = said[who];
      return { outcome, bytes: outcome === 'read' ? CONTENT.subarray(startByte, endByte) : null };
    });
    return mailbox;
  };
  const pool = new JobPool(STORED, { clock: systemClock });
  t.after(() => pool.stop());
  const [box, store] = [serve('box'), serve('store')];
  const read = (isCopied: boolean, endByte = 1 << 20): Promise<Uint8Array> => {
    const inStore = isCopied ? { object: 'of store', mailbox: store } : undefined;
    const stored = { object: 'of box', mailbox: box, isAlone: true, ofBox: 'north', inStore };
    const stamp = { ino: 1, sizeBytes: CONTENT.length, mtimeMs: 1, ctimeMs: 1 };
    const source = { path: 'none', stamp, isOpen: false, stored };
    return pool.run('readBytes', { source, startByte: 0, endByte });
  };
  return { asked, read };
};

test('what a box that is here can not give is read in the store, if that has it', async (t) => {
  const { asked, read } = setUp(t, { box: 'away', store: 'read' });
  assert.ok(Buffer.from(await read(true)).equals(CONTENT.subarray(0, 1 << 20)));
  assert.deepEqual(asked, { box: 1, store: 2 }, 'the box is not waited for again');
  await assert.rejects(read(false), { code: 'box_unavailable' });
});

test('what a box gives, or has no more, is not asked of the store', async (t) => {
  const given = setUp(t, { box: 'read', store: 'read' });
  assert.ok(Buffer.from(await given.read(true)).equals(CONTENT.subarray(0, 1 << 20)));
  assert.equal(given.asked.store, 0);
  const gone = setUp(t, { box: 'gone', store: 'read' });
  await assert.rejects(gone.read(true), { code: 'not_found' });
  const both = setUp(t, { box: 'away', store: 'away' });
  await assert.rejects(both.read(true), { code: 'box_unavailable' });
});
