import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openName } from '../../../src/archive/files/file-name.js';
import { regularStamp } from '../../../src/archive/files/scan-folder.js';
import { writeClosed, writeOpen } from '../recording-file.js';
import { CAMERA, twoBoxes } from './two-boxes.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);

test('a recording is read as it is known, and no other one in its place', async (t) => {
  const { folder, answer } = twoBoxes(t);
  const fileName = writeClosed(folder, { startMs: START_MS });
  const path = join(folder, fileName);
  const stamp = regularStamp(path)!;
  const read = {
    what: 'read',
    cameraId: CAMERA,
    fileName,
    stamp,
    isSidecar: false,
    startByte: 10,
    endByte: 500,
  };
  const { bytes } = await answer(read);
  assert.ok(Buffer.from(bytes!).equals(readFileSync(path).subarray(10, 500)));
  await assert.rejects(answer({ ...read, endByte: stamp.sizeBytes + 1 }), { code: 'not_found' });
  await assert.rejects(answer({ ...read, stamp: { ...stamp, mtimeMs: 1 } }), { code: 'recording_changed' });
  appendFileSync(path, 'more');
  await assert.rejects(answer(read), { code: 'recording_changed' });
  rmSync(path);
  await assert.rejects(answer(read), { code: 'not_found' });
  symlinkSync('/etc/passwd', path);
  await assert.rejects(answer(read), { code: 'not_found' });
});

test('one that is being written is read as far as it was known, also when it was closed meanwhile', async (t) => {
  const { folder, answer } = twoBoxes(t);
  writeOpen(folder, { startMs: START_MS });
  const fileName = openName(START_MS);
  const path = join(folder, fileName);
  const stamp = regularStamp(path)!;
  const content = readFileSync(path);
  const range = { isSidecar: false, startByte: 0, endByte: stamp.sizeBytes };
  const read = { what: 'read', cameraId: CAMERA, fileName, stamp, ...range };
  appendFileSync(path, 'more');
  assert.ok(Buffer.from((await answer(read)).bytes!).equals(content));
  renameSync(path, join(folder, '2026-11-21_08-30-00_to_08-30-09.mp4'));
  assert.ok(Buffer.from((await answer(read)).bytes!).equals(content));
  await assert.rejects(answer({ ...read, stamp: { ...stamp, ino: stamp.ino + 1 } }), { code: 'not_found' });
});

test('what was seen is read beside it', async (t) => {
  const { folder, answer } = twoBoxes(t);
  const fileName = writeClosed(folder, { startMs: START_MS });
  const stamp = regularStamp(join(folder, fileName))!;
  const read = { what: 'read', cameraId: CAMERA, fileName, stamp, isSidecar: true, startByte: 2, endByte: 6 };
  await assert.rejects(answer(read), { code: 'not_found' });
  writeFileSync(join(folder, '2026-11-21_08-30-00.detections'), '0123456789');
  assert.equal(Buffer.from((await answer(read)).bytes!).toString(), '2345');
});

test('what is asked otherwise is refused, and leads nowhere', async (t) => {
  const { answer } = twoBoxes(t);
  const stamp = { ino: 1, sizeBytes: 9, mtimeMs: 1, ctimeMs: 1 };
  const fileName = '2026-11-21_08-30-00_to_09-30-00.mp4';
  const read = {
    what: 'read',
    cameraId: CAMERA,
    fileName,
    stamp,
    isSidecar: false,
    startByte: 0,
    endByte: 9,
  };
  for (const [question, code] of [
    [{ what: 'of a later version' }, 'bad_question'],
    [{}, 'bad_question'],
    [{ ...read, cameraId: '../door' }, 'not_found'],
    [{ ...read, fileName: '../../etc/passwd' }, 'bad_file_name'],
    [{ ...read, endByte: 1 << 30 }, 'bad_question'],
    [{ ...read, startByte: 9 }, 'bad_question'],
    [{ ...read, stamp: null }, 'bad_question'],
    [{ what: 'list', cameraId: CAMERA, days: [[1]] }, 'bad_question'],
    [{ what: 'list', cameraId: CAMERA, days: Array(5_000).fill([1, 1]) }, 'bad_question'],
    [{ what: 'news', boot: 'x'.repeat(100), after: 0 }, 'bad_question'],
    [{ what: 'delete', cameraId: CAMERA, fromMs: 'now', toMs: 1 }, 'bad_question'],
  ] as const)
    await assert.rejects(answer(question), { code }, JSON.stringify(question).slice(0, 100));
  assert.deepEqual((await answer({ what: 'delete', cameraId: CAMERA, fromMs: 0, toMs: 1 })).content, {
    deleted: 3,
  });
});
