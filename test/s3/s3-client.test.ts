import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { AppError } from '../../src/base/errors.js';
import { s3AddressOf } from '../../src/base/s3-address.js';
import { S3Client } from '../../src/s3/s3-client.js';
import { Versitygw, withoutStore } from '../support/versitygw.js';

const PART_BYTES = 5 << 20;
const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');
const fails =
  (code: string) =>
  (fault: unknown): boolean =>
    fault instanceof AppError && fault.code === code;

const clientOf = (url: string, clock = systemClock): S3Client => new S3Client(s3AddressOf(url)!, { clock });

test('objects are put once, and read, listed and deleted', { skip: withoutStore }, async (t) => {
  const store = await Versitygw.start(t);
  const client = clientOf(store.url('recordings/site/one'));
  t.after(() => client.close());
  const bytes = randomBytes(300_000);
  const name = "door/2026-11-21/a b+c&d='é'.mp4";
  assert.equal(await client.head(name), null);
  assert.equal(await client.put(name, { bytes }, { source: 'a1b2' }), md5(bytes));
  assert.deepEqual(await client.head(name), { bytes: bytes.length, etag: md5(bytes), source: 'a1b2' });
  await assert.rejects(client.put(name, { bytes: Buffer.from('other') }), fails('s3_taken'));
  assert.deepEqual(await client.read(name, 100_000, 100_010), bytes.subarray(100_000, 100_010));
  assert.deepEqual(await client.read(name, 0, bytes.length), bytes);
  await assert.rejects(client.read('door/none', 0, 1), fails('s3_not_found'));
  await client.put(name, { bytes: Buffer.from('other') }, { mayReplace: true });
  assert.deepEqual(await client.read(name, 0, 5), Buffer.from('other'));
  // Another prefix of the same bucket.
  const beside = clientOf(store.url('recordings/site/two'));
  t.after(() => beside.close());
  await beside.put('x', { bytes: Buffer.from('x') });
  assert.deepEqual(
    (await client.list('')).items.map((object) => object.name),
    [name],
  );
  await client.delete(name);
  await client.delete(name);
  assert.deepEqual((await client.list('')).items, []);
  assert.equal((await beside.list('')).items.length, 1);
});

test('lists go on from page to page', { skip: withoutStore }, async (t) => {
  const store = await Versitygw.start(t);
  const client = clientOf(store.url());
  t.after(() => client.close());
  const names = Array.from({ length: 1_010 }, (_, at) => `many/${String(at).padStart(5, '0')}`);
  const bytes = Buffer.from('x');
  for (let at = 0; at < names.length; at += 50)
    await Promise.all(names.slice(at, at + 50).map((name) => client.put(name, { bytes })));
  const found: string[] = [];
  let after: string | null = null;
  do {
    const page = await client.list('many/', { after });
    found.push(...page.items.map(({ name }) => name));
    after = page.next;
  } while (after !== null);
  assert.deepEqual(found, names);
});

test('an upload in parts outlives the store that is killed', { skip: withoutStore }, async (t) => {
  const store = await Versitygw.start(t);
  const client = clientOf(store.url());
  t.after(() => client.close());
  const bytes = randomBytes(2 * PART_BYTES + 1_000);
  const partAt = (at: number): Buffer => bytes.subarray(at * PART_BYTES, (at + 1) * PART_BYTES);
  const uploadId = await client.createUpload('long.mp4', { source: 'c3d4' });
  assert.deepEqual(
    (await client.listUploads()).map((upload) => [upload.name, upload.uploadId]),
    [['long.mp4', uploadId]],
  );
  assert.equal(await client.uploadPart('long.mp4', uploadId, 1, { bytes: partAt(0) }), md5(partAt(0)));
  await store.kill();
  await assert.rejects(
    client.uploadPart('long.mp4', uploadId, 2, { bytes: partAt(1) }),
    fails('s3_unavailable'),
  );
  await store.start();
  assert.deepEqual(await client.listParts('long.mp4', uploadId), [
    { number: 1, etag: md5(partAt(0)), bytes: PART_BYTES },
  ]);
  await client.uploadPart('long.mp4', uploadId, 2, { bytes: partAt(1) });
  await client.uploadPart('long.mp4', uploadId, 3, { bytes: partAt(2) });
  const parts = await client.listParts('long.mp4', uploadId);
  const etag = await client.completeUpload('long.mp4', uploadId, parts);
  assert.deepEqual(await client.head('long.mp4'), { bytes: bytes.length, etag, source: 'c3d4' });
  assert.equal(md5(await client.read('long.mp4', 0, bytes.length)), md5(bytes));
  await assert.rejects(client.listParts('long.mp4', uploadId), fails('s3_not_found'));
  const second = await client.createUpload('other.mp4');
  await client.uploadPart('other.mp4', second, 1, { bytes: partAt(2) });
  await client.abortUpload('other.mp4', second);
  await client.abortUpload('other.mp4', second);
  assert.deepEqual(await client.listUploads(), []);
});

test('bodies go at the pace they are given', { skip: withoutStore }, async (t) => {
  const store = await Versitygw.start(t);
  const client = clientOf(store.url());
  t.after(() => client.close());
  let asked = 0;
  const pace = async (bytes: number): Promise<void> => {
    asked += bytes;
  };
  await client.put('paced', { bytes: randomBytes(200_000), pace });
  assert.equal(asked, 200_000);
  const stop = new AbortController();
  const never = (): Promise<void> => {
    stop.abort(new AppError('stopped', 'enough'));
    return new Promise(() => {});
  };
  const broken = client.put('broken', { bytes: randomBytes(200_000), pace: never }, { signal: stop.signal });
  await assert.rejects(broken, fails('stopped'));
  assert.equal(await client.head('broken'), null);
});

test('what the store refuses is told in plain words, and without the secret', {
  skip: withoutStore,
}, async (t) => {
  const store = await Versitygw.start(t);
  const of = (url: string, clock = systemClock) => {
    const client = clientOf(url, clock);
    t.after(() => client.close());
    return client.list('').then(
      () => assert.fail('it was allowed'),
      (fault: AppError) => fault,
    );
  };
  const wrongKey = await of(store.url('recordings', 'wrong-secret'));
  assert.equal(wrongKey.code, 's3_refused');
  assert.doesNotMatch(JSON.stringify([wrongKey.message, wrongKey.details]), /wrong-secret/);
  const noBucket = await of(store.url('absent'));
  assert.deepEqual([noBucket.code, noBucket.message], ['s3_refused', 'the store has no such bucket']);
  const behind = {
    ...systemClock,
    wallMs: () => (Date.now() - 3_600_000) as ReturnType<typeof systemClock.wallMs>,
  };
  const skewed = await of(store.url(), behind);
  assert.equal(skewed.code, 's3_clock');
  assert.match(skewed.message, /clock of this machine/);
});
