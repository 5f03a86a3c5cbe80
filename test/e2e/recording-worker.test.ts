import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodedHashes } from '../fmp4/ffmpeg.js';
import { recordsOf } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { encodeVideo, RecordingService } from './recording-service.js';

const MAX_LOST_MS = 1_000;
/** So long that no picture comes again in the time that it is looked for. */
const SOURCE_SECONDS = 60;
const FRAME_RATE_HZ = 15;
const GOP_SECONDS: Readonly<Record<string, number>> = { brief: 1, long: 4 };
const DYING_THREADS = new URL('../support/dying-threads.js', import.meta.url).href;
const patient = { deadlineMs: 60_000 };

test('a thread that dies while it records: the service closes its files, and records nothing twice', async (t) => {
  const folder = tempFolder(t);
  const archiveDir = join(folder, 'archive');
  const video = (id: string) => encodeVideo(folder, GOP_SECONDS[id]!, SOURCE_SECONDS);
  const [brief, long] = [video('brief'), video('long')];
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
  const { atMs: onTimeMs, lateMs } = await until(
    'each has closed a file, and some of the next one',
    async () => {
      const onTime = await recording.untilOnTime();
      const lists = await Promise.all(recording.ids.map((id) => recording.archive(id)));
      const isSo = lists.every((list) => {
        const last = list.at(-1);
        return list.length > 1 && last !== undefined && Date.parse(last.end) - Date.parse(last.start) > 1_000;
      });
      return isSo && onTime;
    },
    { deadlineMs: 300_000, describe },
  );
  writeFileSync(join(folder, 'die'), '');
  await until('the thread is dead', () => existsSync(join(folder, 'died')), patient);
  const mostMs = MAX_LOST_MS + 2 * lateMs;
  await until('its files are told', () => told('a recording lost its writer').length > 0, {
    ...patient,
    describe,
  });
  const leftNow = () =>
    told('a recording lost its writer').map(({ camera_id, file }) => ({
      id: String(camera_id),
      name: String(file),
    }));
  for (const { id, name } of leftNow()) {
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
  for (const id of recording.ids) {
    const names = recording.files(id);
    assert.deepEqual(names.filter(isOpen), []);
    const pictures = names.map((name) => decodedHashes(recording.pathOf(id, name), 'v'));
    // A recorder that begins takes what the ring holds since the last keyframe.
    const mostTwice = (GOP_SECONDS[id]! + 1) * FRAME_RATE_HZ;
    for (const [index, hashes] of pictures.entries()) {
      const before = new Set(pictures[index - 1]?.slice(-mostTwice));
      const twice = hashes.slice(0, mostTwice).filter((hash) => before.has(hash));
      assert.equal(twice.length, 0, `${names[index]} begins with ${twice.length} pictures of the one before`);
    }
  }
  const closed = told('closed a recording');
  // Only now: the second of them may be told a moment after the first.
  const left = leftNow();
  assert.equal(closed.length, left.length, 'each once');
  const lostMs = left.map(({ id, name: leftName }) => {
    const name = closed.find(({ camera_id, file }) => camera_id === id && file === leftName)?.['name'];
    const file = lists.find(([camera]) => camera === id)?.[1].find(({ filename }) => filename === name);
    assert.ok(file !== undefined, `${leftName} of ${id} is listed as ${name}`);
    return onTimeMs - Date.parse(file.end);
  });
  t.diagnostic(`lost, ms: ${lostMs.join(' ')}`);
  assert.ok(Math.max(...lostMs) <= mostMs, `${lostMs.join()}, beside ${mostMs}`);
});
