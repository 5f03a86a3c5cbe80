import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseRecordingName } from '../../src/archive/files/file-name.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { encodeVideo, ON_TIME_MS, RecordingService } from './recording-service.js';

/** More of them, in a long run by hand. */
const KILLS = Number(process.env['KILLS'] ?? 3);
const MAX_LOST_MS = 1_000;
const FILE_SECONDS = 5;
const FILE_MS = FILE_SECONDS * 1_000;
/** Of a file's length, a different one for each kill, spread evenly however many there are. */
const shareOf = (kill: number): number => (0.1 + kill * 0.618) % 1;

const decodes = (path: string): void => {
  const { status, stderr } = spawnSync('ffmpeg', ['-v', 'error', '-xerror', '-i', path, '-f', 'null', '-'], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [0, ''], path);
};

test('kill -9 at any moment costs a second at most, and every file plays', async (t) => {
  const folder = tempFolder(t);
  const [brief, long] = [encodeVideo(folder, 1, 10), encodeVideo(folder, 10, 20)];
  const recording = await RecordingService.start(
    t,
    { brief1: brief, brief2: brief, long1: long, long2: long },
    { DATA_DIR: folder, ARCHIVE_DIR: join(folder, 'archive'), RECORD_FILE_SECONDS: String(FILE_SECONDS) },
  );
  const known = new Map(recording.ids.map((id) => [id, new Set<string>()]));
  const lostMs: number[] = [];
  const tooMuch: string[] = [];
  const openFile = (): string | undefined =>
    recording.files('brief1').find((name) => name.includes('ongoing'));
  for (let kill = 0; kill < KILLS; kill += 1) {
    await recording.untilRecording();
    // At a moment of its own, after a file was closed and while others are begun, written and rolled over.
    const first = openFile();
    await until(
      'the next file is begun',
      () => {
        const name = openFile();
        return name !== undefined && name !== first;
      },
      { deadlineMs: 60_000 },
    );
    // Whether all are on time is looked at just before; for the earliest moments that begins in the file before.
    const delayMs = (shareOf(kill) * FILE_MS + FILE_MS - ON_TIME_MS) % FILE_MS;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const { atMs: onTimeMs, lateMs } = await recording.untilOnTime();
    const killedMs = await recording.kill();
    // Half of it ours, and half of it the recorder's.
    const mostMs = MAX_LOST_MS + 2 * lateMs;
    const left = recording.ids.map((id) => [id, recording.files(id)] as const);
    await recording.run();
    for (const [id, before] of left) {
      const open = before.filter((name) => name.includes('ongoing'));
      await until(
        `what ${id} left is closed`,
        () => open.every((name) => !recording.files(id).includes(name)),
        {
          deadlineMs: 60_000,
          describe: () => recording.files(id).join() + recording.service.out().slice(-2000),
        },
      );
      const past = (await recording.archive(id)).filter(({ start }) => Date.parse(start) < killedMs);
      const last = past.filter(({ filename }) => !filename.includes('ongoing')).at(-1);
      assert.ok(last !== undefined, `${id}: ${recording.files(id).join()}`);
      const lost = onTimeMs - Date.parse(last.end);
      lostMs.push(lost);
      if (lost > mostMs) tooMuch.push(`${id}: ${lost} ms, beside ${mostMs}`);
      decodes(recording.pathOf(id, last.filename));
      const names = new Set(recording.files(id));
      for (const name of known.get(id)!) assert.ok(names.has(name), `${name} of ${id} is gone`);
      for (const name of names) {
        assert.ok(parseRecordingName(name) !== null, name);
        if (!name.includes('ongoing')) known.get(id)!.add(name);
      }
    }
  }
  t.diagnostic(
    `lost in ${KILLS} kills, ms: ${lostMs
      .map(Math.round)
      .sort((a, b) => a - b)
      .join(' ')}`,
  );
  assert.deepEqual(tooMuch, []);
  assert.equal(await recording.service.stop(), 0);
  for (const id of recording.ids) {
    const names = recording.files(id);
    assert.ok(
      names.every((name) => !name.includes('ongoing')),
      names.join(),
    );
    for (const name of names) decodes(recording.pathOf(id, name));
  }
});
