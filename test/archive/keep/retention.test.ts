import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closedName, openName } from '../../../src/archive/files/file-name.js';
import type { JobRunner } from '../../../src/archive/jobs/jobs.js';
import { evictOldest } from '../../../src/archive/keep/delete-files.js';
import { Retention, type RetentionRule, type TimeMemory } from '../../../src/archive/keep/retention.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';
import { smallDisk } from './small-disk.js';

const NOW_MS = Date.UTC(2026, 10, 21, 8, 30);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Of a service that ran until now, and of one that never did. */
const noMemory: TimeMemory = {
  lastMs: () => null,
  remember: () => {},
  eras: () => null,
  rememberEras: () => {},
};
const ranUntilNow: TimeMemory = { ...noMemory, lastMs: () => NOW_MS };

const patient = { deadlineMs: 60_000 };

/** A closed file whose name ends `agoMs` ago. */
const writeEnded = (folder: string, agoMs: number, content: string | Buffer = 'x'): string => {
  mkdirSync(folder, { recursive: true });
  const name = closedName(NOW_MS - agoMs - HOUR_MS, NOW_MS - agoMs);
  writeFileSync(join(folder, name), content);
  return name;
};

const setUp = (
  archiveDir: string,
  rules: readonly RetentionRule[],
  runner: JobRunner = new InlineRunner(),
  memory: TimeMemory = ranUntilNow,
) => {
  const clock = new FakeClock(NOW_MS);
  const { log, lines } = logLines();
  const gone: string[] = [];
  const live = new Set<string>();
  const isLive = (_: string, fileName: string): boolean => live.has(fileName);
  const onGone = (id: string): void => void gone.push(id);
  const retention = new Retention(
    { archiveDir, minFreePercent: 0 },
    { runner, clock, log, rules: () => rules, memory, onGone, live: { isLive } },
  );
  return { retention, clock, log, lines, gone, live };
};

test('what ended longer ago than its camera keeps it goes; nothing else does', async (t) => {
  const archiveDir = tempFolder(t);
  const [a, b, c] = ['a', 'b', 'c'].map((camera) => join(archiveDir, camera)) as [string, string, string];
  const old = writeEnded(a, 7 * DAY_MS + 1000);
  const kept = [writeEnded(a, 7 * DAY_MS - 1000), writeEnded(a, HOUR_MS)];
  const others = [
    openName(NOW_MS - 30 * DAY_MS),
    `${openName(NOW_MS - 31 * DAY_MS)}.broken.bak`,
    `${openName(NOW_MS - 31 * DAY_MS)}.piece-1`,
    'holiday.mp4',
    `${old}.bak`,
  ];
  for (const name of others) writeFileSync(join(a, name), 'x');
  const linkName = closedName(NOW_MS - 20 * DAY_MS, NOW_MS - 20 * DAY_MS + 1000);
  symlinkSync(join(a, 'holiday.mp4'), join(a, linkName));
  const keptForEver = writeEnded(b, 1000 * DAY_MS);
  const ofNobody = writeEnded(c, 1000 * DAY_MS);
  const { retention, lines } = setUp(archiveDir, [
    { cameraId: 'a', retentionDays: 7, camera: 'here' },
    { cameraId: 'b', retentionDays: 0, camera: 'here' },
    { cameraId: 'without-folder', retentionDays: 7, camera: 'here' },
  ]);
  await retention.sweep();
  assert.deepEqual(readdirSync(a).sort(), [...kept, ...others, linkName].sort());
  assert.deepEqual(readdirSync(b), [keptForEver]);
  assert.deepEqual(readdirSync(c), [ofNobody]);
  assert.equal(retention.counts.expired, 1);
  assert.deepEqual(
    lines.map(({ fields }) => fields),
    [{ camera_id: 'a', file: old, reason: 'retention' }],
  );
});

/** A file that was moved aside, and written to last `agoMs` ago. */
const writeBroken = (folder: string, agoMs: number, number = ''): string => {
  const name = `${openName(NOW_MS - agoMs - HOUR_MS)}.broken${number}`;
  writeFileSync(join(folder, name), 'x'.repeat(10));
  utimesSync(join(folder, name), (NOW_MS - agoMs) / 1000, (NOW_MS - agoMs) / 1000);
  return name;
};

test('what was moved aside leaves with the recordings of its time, and is counted until then', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'a');
  const kept = [writeEnded(folder, 6 * DAY_MS), writeBroken(folder, 7 * DAY_MS - 1000)];
  const old = [writeBroken(folder, 7 * DAY_MS + 1000), writeBroken(folder, 20 * DAY_MS, '-12')];
  const link = `${openName(NOW_MS - 30 * DAY_MS)}.broken`;
  symlinkSync(join(folder, kept[0]!), join(folder, link));
  const rules = [{ cameraId: 'a', retentionDays: 7, camera: 'here' as const }];
  const { retention, lines } = setUp(archiveDir, rules);
  await retention.sweep();
  assert.deepEqual(readdirSync(folder).sort(), [...kept, link].sort());
  assert.deepEqual(lines.map(({ fields }) => fields['file']).sort(), old.sort());
  assert.deepEqual(retention.broken, { files: 1, bytes: 10 });
  const eviction = evictOldest({ archiveDir, minFreePercent: 50, eras: [], maxFiles: 1, skip: [] }, () => ({
    bavail: 10,
    blocks: 100,
    bsize: 4096,
  }));
  assert.deepEqual(eviction.deleted, [{ cameraId: 'a', fileName: kept[1] }], 'and where space is short');
});

test('it sweeps at the start and every ten minutes, in rounds, by the rules of the moment', async (t) => {
  const archiveDir = tempFolder(t);
  for (let hour = 0; hour < 150; hour += 1) writeEnded(join(archiveDir, 'a'), 10 * DAY_MS + hour * HOUR_MS);
  const rules: RetentionRule[] = [{ cameraId: 'a', retentionDays: 3, camera: 'here' }];
  const runner = new InlineRunner();
  const { retention, clock } = setUp(archiveDir, rules, runner);
  t.after(() => retention.stop());
  retention.start();
  await until('all is swept', () => readdirSync(join(archiveDir, 'a')).length === 0, patient);
  assert.equal(runner.countOf('deleteExpired'), 3);
  writeEnded(join(archiveDir, 'a'), 3 * DAY_MS - 300_000);
  writeEnded(join(archiveDir, 'a'), 2 * DAY_MS);
  clock.advance(599_000);
  assert.equal(readdirSync(join(archiveDir, 'a')).length, 2);
  clock.advance(1_000);
  await until('the one that aged is swept', () => readdirSync(join(archiveDir, 'a')).length === 1, patient);
  rules[0] = { cameraId: 'a', retentionDays: 1, camera: 'here' };
  clock.advance(600_000);
  await until('the other is swept', () => readdirSync(join(archiveDir, 'a')).length === 0, patient);
  retention.stop();
  assert.equal(clock.pendingTimers, 0);
});

test('a changed rule acts within two minutes, and what stays as it is is not swept for that', async (t) => {
  const archiveDir = tempFolder(t);
  const rules: RetentionRule[] = [{ cameraId: 'a', retentionDays: 3, camera: 'here' }];
  const runner = new InlineRunner();
  const { retention, clock } = setUp(archiveDir, rules, runner);
  t.after(() => retention.stop());
  retention.start();
  await retention.sweep();
  writeEnded(join(archiveDir, 'a'), 2 * DAY_MS);
  const sweeps = runner.countOf('deleteExpired');
  for (let minute = 0; minute < 5; minute += 1) {
    clock.advance(60_000);
    await retention.makeRoom();
  }
  assert.equal(runner.countOf('deleteExpired'), sweeps);
  rules[0] = { cameraId: 'a', retentionDays: 1, camera: 'here' };
  clock.advance(90_000);
  await until('it is swept', () => readdirSync(join(archiveDir, 'a')).length === 0, patient);
});

const countIn = (folder: string): number => readdirSync(folder).length;

test('a clock that leaps ahead deletes a twentieth an hour; one that is set right again, nothing more', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'a');
  for (let hour = 1; hour <= 160; hour += 1) writeEnded(folder, hour * HOUR_MS);
  const { retention, clock, lines } = setUp(archiveDir, [
    { cameraId: 'a', retentionDays: 7, camera: 'here' },
  ]);
  await retention.sweep();
  assert.equal(countIn(folder), 160);
  clock.setWall(NOW_MS + 400 * DAY_MS);
  // What is recorded meanwhile is named by that clock, and is the newest there is.
  writeEnded(folder, -400 * DAY_MS);
  await retention.sweep();
  assert.equal(countIn(folder), 161);
  for (let minutes = 0; minutes < 60; minutes += 10) {
    clock.advance(600_000);
    await retention.sweep();
  }
  const gone = 161 - countIn(folder);
  assert.ok(gone <= 0.06 * 161, `${gone} of 161 in an hour`);
  assert.equal(lines.filter(({ message }) => message.startsWith('the clock leapt ahead')).length, 1);
  clock.setWall(NOW_MS + HOUR_MS);
  await retention.sweep();
  clock.advance(HOUR_MS);
  await retention.sweep();
  assert.equal(161 - countIn(folder), gone);
});

test('a clock that goes on being ahead is right in the end', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'a');
  for (let hour = 1; hour <= 160; hour += 1) writeEnded(folder, hour * HOUR_MS);
  const { retention, clock } = setUp(archiveDir, [{ cameraId: 'a', retentionDays: 7, camera: 'here' }]);
  await retention.sweep();
  clock.setWall(NOW_MS + 10 * DAY_MS);
  let before = countIn(folder);
  for (let hour = 0; hour < 22; hour += 1) {
    await retention.sweep();
    assert.ok(before - countIn(folder) <= 10, 'a small share an hour');
    before = countIn(folder);
    clock.advance(HOUR_MS);
  }
  assert.equal(countIn(folder), 0);
});

test('a service that starts with a wrong clock goes by what it remembers, or by the newest recording', async (t) => {
  for (const remembered of [NOW_MS, null]) {
    const archiveDir = tempFolder(t);
    const folder = join(archiveDir, 'a');
    for (let hour = 1; hour <= 100; hour += 1) writeEnded(folder, hour * HOUR_MS);
    let lastMs: number | null = remembered;
    const memory: TimeMemory = {
      ...noMemory,
      lastMs: () => lastMs,
      remember: (timeMs) => {
        lastMs = timeMs;
      },
    };
    const rules: RetentionRule[] = [{ cameraId: 'a', retentionDays: 7, camera: 'here' }];
    for (let start = 0; start < 3; start += 1) {
      const { retention, clock } = setUp(archiveDir, rules, new InlineRunner(), memory);
      clock.setWall(NOW_MS + 400 * DAY_MS);
      await retention.sweep();
      writeEnded(folder, -400 * DAY_MS - start * HOUR_MS);
      assert.equal(countIn(folder), 101 + start, `remembered ${remembered}, start ${start}`);
      assert.ok(Math.abs((lastMs ?? 0) - NOW_MS) <= 2 * HOUR_MS, 'no wrong time is remembered');
    }
  }
});

test('after the box was off for a month, what is too old goes within a day', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'a');
  for (let hour = 1; hour <= 160; hour += 1) writeEnded(folder, 30 * DAY_MS + hour * HOUR_MS);
  const rules: RetentionRule[] = [{ cameraId: 'a', retentionDays: 7, camera: 'here' }];
  const { retention, clock } = setUp(archiveDir, rules, new InlineRunner(), noMemory);
  for (let hour = 0; hour < 22; hour += 1) {
    await retention.sweep();
    clock.advance(HOUR_MS);
  }
  assert.equal(countIn(folder), 0);
});

test('a machine that starts in 1970 deletes nothing by that, and what is too old once it knows the time', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'a');
  writeEnded(folder, 8 * DAY_MS);
  const kept = writeEnded(folder, 6 * DAY_MS);
  let lastMs = NOW_MS;
  const memory: TimeMemory = {
    ...noMemory,
    lastMs: () => lastMs,
    remember: (timeMs) => {
      lastMs = timeMs;
    },
  };
  const rules: RetentionRule[] = [{ cameraId: 'a', retentionDays: 7, camera: 'here' }];
  const { retention, clock } = setUp(archiveDir, rules, new InlineRunner(), memory);
  clock.setWall(60_000);
  await retention.sweep();
  clock.advance(600_000);
  await retention.sweep();
  assert.equal(countIn(folder), 2);
  assert.ok(lastMs >= NOW_MS, 'a later start knows better');
  clock.setWall(NOW_MS + 3_600_000);
  await retention.sweep();
  assert.deepEqual(readdirSync(folder), [kept]);
});

test('rules that are changed during a sweep count at once, and rules that can not be read stop nothing', async (t) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'a');
  for (let hour = 0; hour < 150; hour += 1) writeEnded(folder, 2 * DAY_MS + hour * HOUR_MS);
  let days = 1;
  let isBroken = false;
  const rules = () => {
    if (isBroken) throw new Error('the database is away');
    return [{ cameraId: 'a', retentionDays: days, camera: 'here' as const }];
  };
  const inline = new InlineRunner();
  const runner: JobRunner = {
    run: (name, input) => {
      if (name === 'deleteExpired') days = 30;
      return inline.run(name, input);
    },
  };
  const { log, lines } = logLines();
  const clock = new FakeClock(NOW_MS);
  const options = { runner, clock, log, rules, memory: ranUntilNow, onGone: () => {}, live: nobodyWrites };
  const retention = new Retention({ archiveDir, minFreePercent: 0 }, options);
  t.after(() => retention.stop());
  await retention.sweep();
  assert.equal(countIn(folder), 150 - 64);
  isBroken = true;
  await retention.sweep();
  retention.start();
  clock.advance(60_000);
  assert.ok(lines.some(({ fields }) => fields['reason'] === 'the database is away'));
});

test("a deleted camera's recordings go when their time is over, and then it is forgotten", async (t) => {
  const archiveDir = tempFolder(t);
  const kept = writeEnded(join(archiveDir, 'a'), 6 * DAY_MS);
  writeEnded(join(archiveDir, 'a'), 8 * DAY_MS);
  writeEnded(join(archiveDir, 'b'), 1_000 * DAY_MS);
  const { retention, clock, gone } = setUp(archiveDir, [
    { cameraId: 'a', retentionDays: 7, camera: 'deleted' },
    { cameraId: 'b', retentionDays: 0, camera: 'deleted' },
    { cameraId: 'c', retentionDays: 7, camera: 'deleted' },
    { cameraId: 'd', retentionDays: 7, camera: 'here' },
  ]);
  await retention.sweep();
  assert.deepEqual(readdirSync(join(archiveDir, 'a')), [kept]);
  assert.deepEqual(gone, ['c']);
  clock.advance(DAY_MS + 1_000);
  await retention.sweep();
  assert.deepEqual(gone, ['c', 'a', 'c']);
  assert.equal(readdirSync(join(archiveDir, 'b')).length, 1, 'kept for ever');
});

test('a disk without the folder of a deleted camera says nothing of one that is away', async (t) => {
  const archiveDir = tempFolder(t);
  const [folder, other] = [join(archiveDir, 'a'), join(tempFolder(t), 'a')];
  writeEnded(folder, 6 * DAY_MS);
  const rules: RetentionRule[] = [{ cameraId: 'a', retentionDays: 7, camera: 'deleted' }];
  const { retention, clock, gone } = setUp(archiveDir, rules);
  retention.archiveFound();
  await retention.sweep();
  // Another disk, for a while, where a camera that never recorded is deleted, too.
  renameSync(folder, other);
  retention.archiveFound();
  rules.push({ cameraId: 'b', retentionDays: 7, camera: 'deleted' });
  rules.push({ cameraId: 'c', retentionDays: 7, camera: 'purged' });
  await retention.sweep();
  await retention.sweep();
  assert.deepEqual([...new Set(gone.splice(0))], ['b', 'c']);
  renameSync(other, folder);
  rules.length = 1;
  retention.archiveFound();
  clock.advance(DAY_MS + 1_000);
  await retention.sweep();
  assert.deepEqual([readdirSync(folder), gone], [[], ['a']]);
});

test('a purged camera leaves nothing but what is not ours', async (t) => {
  const archiveDir = tempFolder(t);
  const [a, b] = [join(archiveDir, 'a'), join(archiveDir, 'b')];
  for (let hour = 1; hour < 150; hour += 1) writeEnded(a, hour * HOUR_MS);
  writeFileSync(join(a, `${openName(NOW_MS - DAY_MS)}.broken`), 'x');
  writeFileSync(join(a, `${openName(NOW_MS - DAY_MS)}.broken-2`), 'x');
  const closing = openName(NOW_MS - HOUR_MS);
  writeFileSync(join(a, closing), 'x');
  const left = openName(NOW_MS - 2 * HOUR_MS);
  for (const name of [left, `${left}.piece-1`]) writeFileSync(join(a, name), 'x');
  writeEnded(b, HOUR_MS);
  writeFileSync(join(b, 'holiday.mp4'), 'x');
  const { retention, clock, gone, live } = setUp(archiveDir, [
    { cameraId: 'a', retentionDays: 0, camera: 'purged' },
    { cameraId: 'b', retentionDays: 7, camera: 'purged' },
  ]);
  live.add(closing);
  t.after(() => retention.stop());
  retention.start();
  await until('all but the one that its recorder is closing is gone', () => countIn(a) === 1, patient);
  assert.deepEqual(readdirSync(a), [closing]);
  assert.deepEqual(readdirSync(b), ['holiday.mp4']);
  assert.deepEqual([...new Set(gone)], ['b']);
  rmSync(join(a, closing));
  writeEnded(a, 0);
  clock.advance(60_000);
  await until('its folder is gone', () => !existsSync(a), patient);
  await until('it is forgotten', () => gone.includes('a'), patient);
});

test('a file that can not be deleted is tried once a sweep', async (t) => {
  const archiveDir = tempFolder(t);
  const fileName = 'stuck.mp4';
  const inputs: unknown[] = [];
  const failing = {
    run: (_name: string, input: unknown) => {
      inputs.push(input);
      const failed = [{ cameraId: 'a', fileName, reason: 'EACCES' }];
      return Promise.resolve({ deleted: [], failed: inputs.length > 1 ? [] : failed, freePercent: 1 });
    },
  } as unknown as JobRunner;
  const { retention, lines } = setUp(
    archiveDir,
    [{ cameraId: 'a', retentionDays: 3, camera: 'here' }],
    failing,
  );
  await retention.makeRoom();
  await retention.makeRoom();
  assert.deepEqual(
    inputs.map((input) => (input as { skip: string[] }).skip),
    [[], [`a/${fileName}`]],
  );
  assert.equal(retention.counts.failed, 1);
  assert.equal(lines.filter(({ message }) => message === 'could not delete a recording').length, 1);
  await retention.sweep();
  assert.deepEqual((inputs[2] as { skip: string[] }).skip, []);
});

const placesIn = (archiveDir: string): string[] =>
  readdirSync(archiveDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mp4'));

test('on a small disk the oldest of all cameras go, one after another, until there is room', async (t: TestContext) => {
  const archiveDir = await smallDisk(t, 10);
  if (archiveDir === null) return;
  const megabyte = Buffer.alloc(1 << 20, 1);
  // Oldest first: what was moved aside, deleted camera, then a, then b, …
  const names = ['gone', 'a', 'b', 'a', 'b', 'a', 'b'].map(
    (camera, index) => `${camera}/${writeEnded(join(archiveDir, camera), (100 - index) * HOUR_MS, megabyte)}`,
  );
  const open = openName(NOW_MS - 900 * HOUR_MS);
  writeFileSync(join(archiveDir, 'a', open), megabyte);
  writeFileSync(join(archiveDir, 'a', `${open}.broken`), megabyte);
  const { log, lines } = logLines();
  const options = {
    runner: new InlineRunner(),
    clock: new FakeClock(NOW_MS),
    log,
    rules: () => [],
    memory: ranUntilNow,
    live: nobodyWrites,
    onGone: () => {},
  };
  const at = (minFreePercent: number) => new Retention({ archiveDir, minFreePercent }, options);
  await at(5).makeRoom();
  assert.equal(placesIn(archiveDir).length, 8, 'there is room enough');
  const retention = at(35);
  await retention.makeRoom();
  assert.deepEqual(placesIn(archiveDir).sort(), [...names.slice(2), `a/${open}`].sort());
  assert.equal(retention.counts.evicted, 3);
  assert.deepEqual(
    lines.map(({ fields }) => [fields['camera_id'], fields['reason']]),
    ['a', 'gone', 'a'].map((camera) => [camera, 'space']),
  );
  const greedy = at(95);
  await greedy.makeRoom();
  assert.deepEqual(placesIn(archiveDir), [`a/${open}`], 'no open files');
  await greedy.makeRoom();
  await greedy.makeRoom();
  assert.equal(lines.filter(({ level }) => level === 'error').length, 1, 'told once');
  assert.equal(statSync(join(archiveDir, 'a', open)).size, 1 << 20);
});

test('where the file system shows free space late, no more is deleted than was missing', (t) => {
  const archiveDir = tempFolder(t);
  for (let hour = 0; hour < 20; hour += 1) {
    writeEnded(join(archiveDir, 'a'), (50 - hour) * HOUR_MS, Buffer.alloc(64 * 1024));
  }
  const space = { bavail: 20, blocks: 1000, bsize: 4096 };
  const input = { archiveDir, minFreePercent: 5, eras: [], maxFiles: 64, skip: [] };
  const { deleted, freePercent } = evictOldest(input, () => space);
  // 30 blocks are missing, and a file has 16 of them.
  assert.equal(deleted.length, 2);
  assert.equal(freePercent, 2);
  rmSync(join(archiveDir, 'a'), { recursive: true });
  assert.deepEqual(evictOldest(input, () => space).deleted, []);
});
