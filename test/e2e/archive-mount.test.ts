import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { recordsOf } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';
import { encodeVideo, RecordingService } from './recording-service.js';

/** A folder of recordings that can be taken away and brought back. */
type Disk = { readonly dir: string; takeAway(): void; bringBack(): void };

const run = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;

const renamed = (t: TestContext): Disk => {
  const dir = join(tempFolder(t), 'archive');
  return {
    dir,
    takeAway: () => renameSync(dir, `${dir}-away`),
    bringBack: () => renameSync(`${dir}-away`, dir),
  };
};

/** A real mount, of a folder; null where we may not mount. */
const mounted = (t: TestContext): Disk | null => {
  const folder = mkdtempSync(join(tmpdir(), 'framering-mount-'));
  const [disk, dir] = [join(folder, 'disk'), join(folder, 'mount')];
  mkdirSync(disk);
  mkdirSync(dir);
  const isMounted = run('mount', '--bind', disk, dir);
  t.after(() => {
    run('umount', '-l', dir);
    rmSync(folder, { recursive: true, force: true });
  });
  if (!isMounted) {
    t.skip('mounting takes root');
    return null;
  }
  return {
    dir,
    takeAway: () => assert.ok(run('umount', '-l', dir)),
    bringBack: () => assert.ok(run('mount', '--bind', disk, dir)),
  };
};

const untilReadiness = (recording: RecordingService, archive: string | RegExp): Promise<unknown> =>
  until(
    `the archive is ${archive}`,
    async () => {
      const seen = (await recording.readiness()).archive;
      return typeof archive === 'string' ? seen === archive : archive.test(seen);
    },
    { describe: () => recording.service.out().slice(-2_000) },
  );

const decodes = (path: string): void => {
  const { status, stderr } = spawnSync('ffmpeg', ['-v', 'error', '-xerror', '-i', path, '-f', 'null', '-'], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [0, ''], path);
};

for (const [name, make] of [
  ['a folder that is renamed', renamed],
  ['a mount', mounted],
] as const) {
  test(`${name} while it is recorded into, or before the start: nothing is written beside it, and all goes on when it is back`, async (t) => {
    const disk = make(t);
    if (disk === null) return;
    const { dir } = disk;
    const folder = tempFolder(t);
    const recording = await RecordingService.start(
      t,
      { door: encodeVideo(folder, 1, 10) },
      { DATA_DIR: folder, ARCHIVE_DIR: dir, RECORD_FILE_SECONDS: '4' },
    );
    await recording.untilRecording();
    const viewer = new WebSocketViewer(`${recording.service.url.replace(/^http/, 'ws')}/stream/ws/door`);
    t.after(() => viewer.webSocket.terminate());
    const isEmpty = (): boolean => !existsSync(dir) || readdirSync(dir).length === 0;

    disk.takeAway();
    await untilReadiness(recording, /is missing|is not mounted/);
    assert.equal((await recording.readiness()).status, 503);
    await until('the recording is paused', async () => !(await recording.isRecording('door')));
    // Longer than a file.
    await viewer.untilFrames(viewer.frames.length + 75);
    assert.ok(isEmpty(), 'nothing is made in its place');
    assert.equal((await recording.call('GET', '/api/cameras/door/archive')).status, 503);

    disk.bringBack();
    await untilReadiness(recording, 'ok');
    await recording.untilRecording();

    await recording.kill();
    disk.takeAway();
    await recording.run();
    await untilReadiness(recording, /is missing|is not mounted/);
    await until('the live picture is there', async () => {
      const { body } = await recording.call('GET', '/api/cameras');
      return body[0].state === 'streaming';
    });
    assert.ok(isEmpty());
    const log = recordsOf(recording.service.out());
    assert.ok(
      log.some(({ level, help }) => level === 'error' && String(help).includes(dir)),
      'and what to do is told',
    );
    disk.bringBack();
    await untilReadiness(recording, 'ok');
    await recording.untilRecording();
    await until(
      'all that was left is closed',
      () => recording.files('door').filter((file) => file.includes('ongoing')).length <= 1,
    );
    assert.equal(await recording.service.stop(), 0);
    const files = recording.files('door');
    assert.ok(files.length >= 3, files.join());
    for (const file of files) decodes(recording.pathOf('door', file));
  });
}
