import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseRecordingName } from '../../src/archive/files/file-name.js';
import { CameraProcess } from '../support/fake-camera/camera-process.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** The promise is about 200 of them, which take a machine of their own. */
const CAMERAS = Number(process.env['CAMERAS'] ?? 60);
const FRAME_RATE_HZ = 5;
const STOP_WITHIN_MS = 10_000;

test('a service that records many cameras stops in ten seconds, and every file has its name', async (t) => {
  const source = await CameraProcess.start({
    ...{ cameras: CAMERAS, pattern: 'burst', kbps: 500, frameRateHz: FRAME_RATE_HZ },
  });
  t.after(() => source.stop());
  const archive = join(tempFolder(t), 'archive');
  const service = await startService({
    ...{ DATA_DIR: tempFolder(t), ARCHIVE_DIR: archive, LOG_LEVEL: 'warn', UV_THREADPOOL_SIZE: '16' },
  });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const { body: snapshot } = await service.call('GET', '/api/system/backup/export', { token });
  snapshot.cameras = source.urls.map((url, index) => ({ id: `camera-${index}`, url, record: true }));
  const { status } = await service.call('POST', '/api/system/backup/import', { token, body: snapshot });
  assert.equal(status, 200);
  const recorded = async (): Promise<number> => {
    const { body } = await service.call('GET', '/api/cameras', { token });
    return body.filter(({ recording }: { recording: boolean }) => recording).length;
  };
  await until('all are recorded', async () => (await recorded()) === CAMERAS, {
    deadlineMs: 60_000,
    describe: () => service.out().slice(-2000),
  });
  const startMs = performance.now();
  assert.equal(await service.stop(), 0, service.out().slice(-2000));
  const tookMs = performance.now() - startMs;
  t.diagnostic(`${CAMERAS} recordings were closed in ${Math.round(tookMs)} ms`);
  assert.ok(tookMs < STOP_WITHIN_MS, `${tookMs} ms`);
  const folders = readdirSync(archive).filter((name) => !name.startsWith('.'));
  assert.equal(folders.length, CAMERAS);
  for (const folder of folders) {
    const names = readdirSync(join(archive, folder));
    assert.ok(names.length > 0, folder);
    for (const name of names) assert.ok(parseRecordingName(name)?.endMs, `${folder}/${name}`);
  }
});
