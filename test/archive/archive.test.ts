import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Archive } from '../../src/archive/archive.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { textOf } from './filmed.js';
import { logLines } from './log-lines.js';
import { noEvents } from './no-events.js';
import { nobodyWrites } from './nobody-writes.js';
import { alwaysThere } from './opened-root.js';
import { writeClosed, writeOpen } from './recording-file.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
const DAY_MS = 86_400_000;

test('the archive starts, closes what was left open, deletes what is old, answers, and stops', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'door');
  const old = writeClosed(folder, { startMs: START_MS - 9 * DAY_MS });
  writeOpen(folder, { startMs: START_MS });
  const { log, lines } = logLines();
  const clock = new FakeClock(START_MS + 60_000);
  let threads = 0;
  const add = (): (() => void) => {
    threads += 1;
    return () => {
      threads -= 1;
    };
  };
  const archive = new Archive(
    {
      archiveDir,
      factsDir: tempFolder(t),
      storesDir: tempFolder(t),
      minFreePercent: 0,
      box: 'box',
      store: null,
    },
    {
      clock,
      log,
      root: alwaysThere,
      threads: { add },
      live: nobodyWrites,
      epochsOf: () => () => 0,
      rules: () => [{ cameraId: 'door', retentionDays: 7, camera: 'here' }],
      hold: () => ({ release: () => {} }),
      whyNot: () => 'not_recording',
      memory: { lastMs: () => null, remember: () => {}, eras: () => null, rememberEras: () => {} },
      onGone: () => {},
      cueText: () => null,
      byEvents: noEvents,
      others: null,
    },
  );
  await archive.start();
  const isDone = (): boolean => {
    const names = readdirSync(folder);
    return names.length === 1 && names[0]?.includes('_to_') === true && names[0] !== old;
  };
  await until('only the repaired one is left', isDone, { deadlineMs: 60_000 });
  const [recording] = await archive.requests.list('door');
  assert.deepEqual([recording?.startMs, recording?.endMs], [START_MS, START_MS + 4000]);
  assert.deepEqual(await archive.requests.intervals('door', START_MS, START_MS + 10_000), {
    intervals: [{ startMs: START_MS, endMs: START_MS + 4000 }],
    gaps: [{ startMs: START_MS + 4000, endMs: START_MS + 10_000, reason: 'not_recording' }],
    broken: [],
  });
  const wanted = { fileName: recording!.fileName, session: null };
  assert.match(textOf(await archive.requests.archivePlaylist('door', wanted)), /#EXT-X-ENDLIST/);
  assert.ok(threads >= 2 && threads <= 4, String(threads));
  await archive.stop();
  assert.equal(threads, 0);
  assert.equal(clock.pendingTimers, 0);
  await assert.rejects(archive.requests.list('door'), { code: 'archive_unavailable' });
  assert.deepEqual(
    lines.filter(({ level }) => level !== 'info'),
    [],
  );
});
