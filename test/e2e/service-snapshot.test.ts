import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { factsOf, psnrOf } from '../pictures/likeness.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const FRAMES_PER_GOP = 15;

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

test('snapshots of real cameras: the right pictures, few decodings, and nothing left when it stops', async (t) => {
  const streams = { door: fixtures.h264High(), yard: fixtures.h265Main() };
  const mounts = Object.entries(streams).map(([id, video]) => [`/${id}`, { video }]);
  const camera = await FakeCamera.start({ mounts: Object.fromEntries(mounts) });
  t.after(() => camera[Symbol.asyncDispose]());
  const folder = tempFolder(t);
  const ffmpegPath = join(folder, 'ffmpeg');
  const service = await startService({ DATA_DIR: join(folder, 'data'), FFMPEG_PATH: ffmpegPath });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  for (const id of Object.keys(streams))
    await service.call('POST', '/api/cameras', {
      token,
      body: { id, url: camera.url(`/${id}`), record: true },
    });
  const snapshot = async (id: string, query = '') => {
    const response = await fetch(new URL(`/api/cameras/${id}/snapshot.jpg${query}`, service.url));
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()), response };
  };

  assert.equal((await snapshot('door')).status, 501, 'a picture is waited for, and no ffmpeg is there');
  symlinkSync(execFileSync('which', ['ffmpeg'], { encoding: 'utf8' }).trim(), ffmpegPath);
  await until('it is found', async () => (await snapshot('door')).status === 200);

  const files = [
    ['door', 'h264-high.264'],
    ['yard', 'h265-main.265'],
  ] as const;
  const keys = Array.from({ length: 4 }, (_, key) => key * FRAMES_PER_GOP);
  for (const [id, name] of files) {
    const { status, bytes, response } = await snapshot(id);
    assert.equal(status, 200);
    assert.equal(factsOf(bytes), 'mjpeg,320,180,1:1');
    const ageMs = Date.now() - Date.parse(response.headers.get('picture-time') ?? '');
    assert.ok(ageMs > -1_000 && ageMs < 30_000, `it is ${ageMs} ms old`);
    const likeness = keys.map((picture) => psnrOf(folder, bytes, fixturePath(name), picture));
    assert.equal(likeness.filter((db) => db > 32).length, 1, `it is one of four keyframes: ${likeness}`);
  }

  for (const [id, name] of files) {
    const at = new Date().toISOString();
    const recorded = await until('it is recorded', async () => {
      const answer = await snapshot(id, `?at=${at}&width=160`);
      return answer.status === 200 && answer;
    });
    assert.equal(factsOf(recorded.bytes), 'mjpeg,160,90,1:1');
    const takenMs = Date.parse(recorded.response.headers.get('picture-time') ?? '');
    assert.ok(takenMs <= Date.parse(at), 'it was taken at that moment, or before');
    const likeness = keys.map((key) => psnrOf(folder, recorded.bytes, fixturePath(name), key, 'gray'));
    assert.ok(Math.max(...likeness) > 32, `it is one of four keyframes: ${likeness}`);
    assert.equal((await snapshot(id, '?at=2020-01-01')).status, 404);
  }

  const decoded = async (): Promise<number> =>
    Number(/^svc_pictures_decoded_total (\d+)$/m.exec((await service.call('GET', '/metrics')).text)?.[1]);
  const before = await decoded();
  const startMs = performance.now();
  const asked = await Promise.all(Array.from({ length: 200 }, () => snapshot('door')));
  const seconds = (performance.now() - startMs) / 1000;
  assert.deepEqual(new Set(asked.map(({ status }) => status)), new Set([200]));
  const made = (await decoded()) - before;
  assert.ok(made <= 1 + seconds, `${made} decodings for 200 who asked within ${seconds} s`);

  const [helper = 0, ...more] = childrenOf(service.process.pid!);
  assert.deepEqual(more, [], 'one process for all');
  assert.equal(await service.stop(), 0);
  await until('it is gone, too', () => !existsSync(`/proc/${helper}`));
});
