import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Recordings } from '../../src/archive/recordings.js';
import { repairFile } from '../../src/archive/repair-file.js';
import { InlineRunner } from '../archive/inline-runner.js';
import { nobodyWrites } from '../archive/nobody-writes.js';
import { cameraAt, Engine } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** A second of the promise, and what a busy machine makes of the moment in which the thread dies. */
const MAX_LOST_MS = 2_500;

test('a worker that dies while it records leaves files that are known, and its successor records nothing twice', async (t) => {
  const archiveDir = tempFolder(t);
  const video = fixtures.h264High();
  await using camera = await FakeCamera.start({ mounts: { '/door': { video } } });
  await using engine = new Engine(1, { archiveDir, fileSeconds: 2 });
  engine.cameras.set(cameraAt('door', camera.url('/door'), { isRecorded: true }));
  const folder = join(archiveDir, 'door');
  const openFiles = (): string[] => readdirSync(folder).filter((name) => name.includes('ongoing'));
  await until('it is recorded', () => engine.desk.isRecording('door'), { deadlineMs: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const diedMs = Date.now();
  // Not a message that it knows: the handler throws, and nothing catches that.
  engine.workers[0]!.send(null as never);
  await until('it is recorded again', () => engine.workers.length === 2 && engine.desk.isRecording('door'), {
    deadlineMs: 20_000,
  });
  const live = openFiles().filter((name) => engine.desk.isLive('door', name));
  const left = engine.left.map(({ fileName }) => fileName);
  assert.ok(left.length > 0, 'it had a file open');
  for (const fileName of left) {
    assert.ok(!live.includes(fileName));
    assert.notEqual(repairFile({ folder, fileName }).outcome, 'broken');
  }
  await until('a file is closed behind it', () => !openFiles().includes(live[0]!), { deadlineMs: 20_000 });
  await engine.cameras.stop();
  assert.deepEqual(openFiles(), []);
  const files = await new Recordings({ archiveDir }, { runner: new InlineRunner(), live: nobodyWrites }).list(
    'door',
  );
  const firstAfter = files.findIndex(({ startMs }) => startMs > diedMs);
  const lostMs = diedMs - files[firstAfter - 1]!.endMs;
  assert.ok(lostMs < MAX_LOST_MS, `${lostMs} ms are lost`);
  for (const [index, { startMs }] of files.entries()) {
    const beforeMs = files[index - 1]?.endMs ?? 0;
    assert.ok(startMs > beforeMs - 50, `${files[index]!.fileName} begins ${beforeMs - startMs} ms too soon`);
  }
});
