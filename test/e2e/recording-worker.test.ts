import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { recordsOf } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { encodeVideo, RecordingService } from './recording-service.js';

/** A second of the promise, and what a busy machine makes of it. */
const MAX_LOST_MS = 2_500;
const DYING_THREADS = new URL('../support/dying-threads.js', import.meta.url).href;
const patient = { deadlineMs: 60_000 };

test('a thread that dies while it records: the service closes its files, and records nothing twice', async (t) => {
  const folder = tempFolder(t);
  const archiveDir = join(folder, 'archive');
  const [brief, long] = [encodeVideo(folder, 1, 10), encodeVideo(folder, 4, 12)];
  const recording = await RecordingService.start(
    t,
    { brief, long },
    {
      ...{ DATA_DIR: folder, ARCHIVE_DIR: archiveDir, RECORD_FILE_SECONDS: '8' },
      ...{ NODE_OPTIONS: `--import=${DYING_THREADS}`, DYING_THREADS_FOLDER: folder },
    },
  );
  const told = (message: string) => recordsOf(recording.service.out()).filter(({ msg }) => msg === message);
  const isOpen = (name: string): boolean => name.includes('ongoing');
  const describe = (): string => recording.service.out().slice(-3_000);
  await recording.untilRecording();
  await until(
    'each has closed a file, and some of the next one',
    async () => {
      const lists = await Promise.all(recording.ids.map((id) => recording.archive(id)));
      return lists.every((list) => {
        const last = list.at(-1);
        return list.length > 1 && last !== undefined && Date.parse(last.end) - Date.parse(last.start) > 1_000;
      });
    },
    { ...patient, describe },
  );
  writeFileSync(join(folder, 'die'), '');
  await until('the thread is dead', () => existsSync(join(folder, 'died')), patient);
  await until('its files are told', () => told('a recording lost its writer').length > 0, {
    ...patient,
    describe,
  });
  const diedMs = Number(readFileSync(join(folder, 'died'), 'utf8'));
  const left = told('a recording lost its writer').map(({ camera_id, file }) => ({
    id: String(camera_id),
    name: String(file),
  }));
  for (const { id, name } of left) {
    assert.ok(isOpen(name), name);
    await until(`${name} of ${id} is closed`, () => !recording.files(id).includes(name), {
      ...patient,
      describe,
    });
  }
  await recording.untilRecording();
  const counts = new Map(recording.ids.map((id) => [id, recording.files(id).length]));
  await until(
    'files are closed behind it',
    () => recording.ids.every((id) => recording.files(id).length > counts.get(id)!),
    { ...patient, describe },
  );
  const lists = await Promise.all(
    recording.ids.map(async (id) => [id, await recording.archive(id)] as const),
  );
  assert.equal(await recording.service.stop(), 0);
  for (const [id, list] of lists) {
    assert.deepEqual(recording.files(id).filter(isOpen), []);
    for (const [index, { start, filename }] of list.entries()) {
      const before = list[index - 1];
      if (before === undefined) continue;
      const overlapMs = Date.parse(before.end) - Date.parse(start);
      assert.ok(overlapMs < 50, `${filename} begins ${overlapMs} ms too soon`);
    }
    for (const name of recording.files(id)) decodes(recording.pathOf(id, name));
  }
  const lostMs = left.map(({ id }) => {
    const list = lists.find(([camera]) => camera === id)![1];
    const last = list.filter(({ start }) => Date.parse(start) < diedMs).at(-1);
    return diedMs - Date.parse(last!.end);
  });
  t.diagnostic(`lost, ms: ${lostMs.join(' ')}`);
  assert.ok(Math.max(...lostMs) < MAX_LOST_MS, lostMs.join());
  assert.equal(told('closed a recording').length, left.length, 'each once');
});

const decodes = (path: string): void => {
  const { status, stderr } = spawnSync('ffmpeg', ['-v', 'error', '-xerror', '-i', path, '-f', 'null', '-'], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stderr], [0, ''], path);
};
