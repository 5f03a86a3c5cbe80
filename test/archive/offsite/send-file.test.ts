import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Outbox } from '../../../src/archive/offsite/outbox.js';
import { FileSender, type SendingDeps, TAKEN } from '../../../src/archive/offsite/send-file.js';
import { s3Error } from '../../../src/s3/errors.js';
import { tempFolder } from '../../support/temp-folder.js';

const PART_BYTES = 1_000;
const OBJECT = 'door/2026-11-21/2026-11-21_08-30-00_to_09-30-00_0_box.mp4';
const never = new AbortController().signal;

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

/** A store whose ETags are no MD5s, as with keys of AWS' key service. */
class EncryptingStore {
  readonly objects = new Map<string, { bytes: number; etag: string; source: string | null }>();
  readonly parts = new Map<number, { bytes: number; etag: string }>();
  puts = 0;
  /** What goes wrong at the next end of an upload: before, or behind it. */
  before: Error | null = null;
  behind: Error | null = null;
  partsUntilFault = Number.POSITIVE_INFINITY;
  #source = '';

  readonly client: Writable<SendingDeps['client']> = {
    head: async (name) => this.objects.get(name) ?? null,
    put: async (name, { bytes }, { source = '' } = {}) => {
      if (this.objects.has(name)) throw s3Error('s3_taken', 'there is one');
      this.puts += 1;
      const etag = randomBytes(16).toString('hex');
      this.objects.set(name, { bytes: bytes.length, etag, source });
      return etag;
    },
    createUpload: async (_name, { source = '' } = {}) => {
      this.#source = source;
      return 'upload';
    },
    uploadPart: async (_name, _id, number, { bytes }) => {
      if (this.partsUntilFault <= 0) throw s3Error('s3_unavailable', 'away');
      this.partsUntilFault -= 1;
      this.puts += 1;
      const etag = randomBytes(16).toString('hex');
      this.parts.set(number, { bytes: bytes.length, etag });
      return etag;
    },
    listParts: async () => [...this.parts].map(([number, part]) => ({ number, ...part })),
    completeUpload: async (name) => {
      const { before, behind } = this;
      [this.before, this.behind] = [null, null];
      if (before !== null) throw before;
      const etag = `${randomBytes(16).toString('hex')}-2`;
      const bytes = [...this.parts.values()].reduce((sum, part) => sum + part.bytes, 0);
      this.objects.set(name, { bytes, etag, source: this.#source });
      if (behind !== null) throw behind;
      return etag;
    },
  };
}

const setUp = (t: TestContext) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'a.mp4'), randomBytes(5 * PART_BYTES));
  const fd = openSync(join(folder, 'a.mp4'), 'r');
  t.after(() => closeSync(fd));
  const store = new EncryptingStore();
  /** As each run has one. */
  const sender = (): FileSender => {
    const outbox = new Outbox(join(folder, 'outbox.json'), () => assert.fail('it is damaged'));
    return new FileSender({
      ...{ client: store.client, outbox, partBytes: PART_BYTES },
      ...{ pace: async () => {}, onSent: () => {} },
    });
  };
  const send = (): Promise<string> =>
    sender().send(OBJECT, { fd, sizeBytes: 5 * PART_BYTES, source: '1 5000 1 1' }, never);
  const outbox = (): Outbox => new Outbox(join(folder, 'outbox.json'), () => assert.fail('it is damaged'));
  return { store, send, sender, outbox, fd };
};

test('parts that are there are not sent again, whatever their ETags are', async (t) => {
  const { store, send } = setUp(t);
  store.partsUntilFault = 3;
  await assert.rejects(send(), /away/);
  store.partsUntilFault = Number.POSITIVE_INFINITY;
  assert.equal(await send(), store.objects.get(OBJECT)?.etag);
  assert.equal(store.puts, 5);
});

test('an object whose answer was lost is known by what it says of its file, and nothing is sent again', async (t) => {
  const { store, send } = setUp(t);
  store.behind = s3Error('s3_unavailable', 'lost');
  await assert.rejects(send(), /lost/);
  assert.equal(await send(), store.objects.get(OBJECT)?.etag);
  assert.equal(store.puts, 5);
  assert.equal(store.objects.size, 1);
});

test('a conflict with nobody is tried again under the same name, and costs no part', async (t) => {
  const { store, send } = setUp(t);
  store.before = s3Error('s3_taken', 'ConditionalRequestConflict');
  await assert.rejects(send(), /and has none/);
  assert.notEqual(await send(), TAKEN);
  assert.equal(store.puts, 5);
  store.objects.set(OBJECT, { bytes: 5 * PART_BYTES, etag: 'other', source: 'another' });
  assert.equal(await send(), TAKEN);
});

test('what the disk does not give is not on its way any more, and neither is its upload', async (t) => {
  const { sender, outbox, fd } = setUp(t);
  for (const sizeBytes of [6 * PART_BYTES, 5 * PART_BYTES + 1]) {
    const file = { fd, sizeBytes, source: `1 ${sizeBytes} 1 1` };
    await assert.rejects(sender().send(OBJECT, file, never), /the file was cut/);
    assert.deepEqual(outbox().sendings, []);
    assert.deepEqual(outbox().ended.at(-1), { object: OBJECT, uploadId: 'upload' });
  }
});

test('what the service breaks off is gone on with', async (t) => {
  const { sender, outbox, fd, store } = setUp(t);
  const stop = new AbortController();
  const { uploadPart } = store.client;
  store.client.uploadPart = async (...question) => {
    if (store.puts === 3) stop.abort(new Error('the service is stopping'));
    return uploadPart(...question);
  };
  const file = { fd, sizeBytes: 5 * PART_BYTES, source: '1 5000 1 1' };
  await assert.rejects(sender().send(OBJECT, file, stop.signal), /stopping/);
  assert.equal(outbox().sendings[0]?.uploadId, 'upload');
});
