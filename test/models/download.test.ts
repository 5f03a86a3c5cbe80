import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { AppError } from '../../src/base/errors.js';
import { storeModel } from '../../src/models/download.js';
import { type OriginFile, originFailed } from '../../src/models/origin.js';

const sourceOf = (changes: Partial<OriginFile> = {}): OriginFile => ({
  bytes: Readable.from([Buffer.from('whole '), Buffer.from('file')]),
  sizeBytes: 10,
  confirm: async () => {},
  ...changes,
});

const store = async (t: TestContext, source: OriginFile, signal = new AbortController().signal) => {
  const directory = mkdtempSync(join(tmpdir(), 'models-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const result = await storeModel(
    source,
    { directory, filename: 'net.onnx' },
    { maxBytes: 100 },
    signal,
  ).then(
    (sizeBytes) => sizeBytes,
    (fault) => (fault instanceof AppError ? fault.message : fault),
  );
  return { result, names: readdirSync(directory), directory };
};

test('a whole file is stored under its name', async (t) => {
  const { result, names, directory } = await store(t, sourceOf());
  assert.deepEqual([result, names], [10, ['net.onnx']]);
  assert.equal(readFileSync(join(directory, 'net.onnx'), 'utf8'), 'whole file');
});

test('what is not confirmed, or has another length, is not kept', async (t) => {
  const changed = sourceOf({
    confirm: async () => {
      throw originFailed('the file changed while it was read');
    },
  });
  const cases: [OriginFile, RegExp][] = [
    [changed, /changed while it was read/],
    [sourceOf({ sizeBytes: 11 }), /cut/],
    [sourceOf({ sizeBytes: 9 }), /cut/],
    [sourceOf({ sizeBytes: 101 }), /more than 100 bytes/],
    [sourceOf({ sizeBytes: null, bytes: Readable.from([Buffer.alloc(101)]) }), /more than 100 bytes/],
  ];
  for (const [source, message] of cases) {
    const { result, names } = await store(t, source);
    assert.match(String(result), message);
    assert.deepEqual(names, []);
    assert.ok(source.bytes.destroyed);
  }
});

test('a transfer that is called off ends at once, with the reason', async (t) => {
  const calledOff = new AbortController();
  const bytes = new Readable({
    read: () => setImmediate(() => calledOff.abort(new Error('the service stops'))),
  });
  const { result, names } = await store(t, sourceOf({ bytes }), calledOff.signal);
  assert.match(String(result), /the service stops/);
  assert.deepEqual(names, []);
});
