import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openName } from '../../../src/archive/files/file-name.js';
import type { InspectionRequest } from '../../../src/archive/list/inspect-files.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { Timeline } from '../../../src/archive/list/timeline.js';
import { makeMailbox } from '../../../src/archive/offsite/mailbox.js';
import { Signal } from '../../../src/base/signal.js';
import { countBytesRead } from '../../support/bytes-read.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { nobodyWrites } from '../nobody-writes.js';
import { buildRecording, writeClosed, writeOpen } from '../recording-file.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);

/** A month of them. */
const HOURS = 720;
/** A file's head, its index and its last fragment. */
const MOST_BYTES_A_FILE = 16_384;

const setUp = (t: TestContext) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'door');
  mkdirSync(folder);
  const runner = new InlineRunner();
  return {
    archiveDir,
    folder,
    runner,
    recordings: new Recordings({ archiveDir }, { runner, live: nobodyWrites }),
  };
};

/** Names of the files that were looked into since the last call. */
const inspected = (runner: InlineRunner): string[] =>
  runner.inputs
    .splice(0)
    .flatMap((input) => (input as { files?: InspectionRequest[] }).files ?? [])
    .map(({ fileName }) => fileName);

test('times come from the files, to the millisecond, and the list is in their order', async (t) => {
  const { folder, recordings } = setUp(t);
  writeClosed(folder, { startMs: START_MS + 3_600_000, startReason: 'rollover' });
  writeClosed(folder, { startMs: START_MS, startReason: 'start' });
  const open = writeOpen(folder, { startMs: START_MS + 7_200_000, startReason: 'disk' });
  const list = await recordings.list('door');
  assert.deepEqual(
    list.map(({ startMs, endMs, isOpen, startReason }) => ({ startMs, endMs, isOpen, startReason })),
    [
      { startMs: START_MS, endMs: START_MS + 4000, isOpen: false, startReason: 'start' },
      { startMs: START_MS + 3_600_000, endMs: START_MS + 3_604_000, isOpen: false, startReason: 'rollover' },
      { startMs: START_MS + 7_200_000, endMs: START_MS + 7_204_000, isOpen: true, startReason: 'disk' },
    ],
  );
  assert.equal(list[0]?.fileName, '2026-11-21_08-30-00_to_08-30-05.mp4');
  assert.equal(list[2]?.fileName, open);
  assert.equal(list[2]?.sizeBytes, statSync(join(folder, open)).size);
});

test('a recording has the box that made it, and the claim that had its camera when it began', async (t) => {
  const { archiveDir, folder, runner } = setUp(t);
  const held = new Map([[START_MS, 4]]);
  const maker = {
    box: 'north',
    epochsOf: (cameraId: string) => (startMs: number) =>
      cameraId === 'door' ? (held.get(startMs) ?? 0) : Number.NaN,
  };
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites, maker });
  const fileName = writeClosed(folder, { startMs: START_MS });
  writeClosed(folder, { startMs: START_MS + 3_600_000 });
  const madeBy = async () => (await recordings.list('door')).map(({ box, epoch }) => [box, epoch]);
  const both = (first: number) => [
    ['north', first],
    ['north', 0],
  ];
  assert.deepEqual(await madeBy(), both(4));
  held.set(START_MS, 5);
  assert.equal(
    (await recordings.find('door', fileName)).epoch,
    5,
    'the claim came through after it had begun',
  );
  assert.deepEqual(await madeBy(), both(5));
  held.set(START_MS, 6);
  assert.deepEqual(await madeBy(), both(6));
});

test('an open file grows, and only what is new of it is walked', async (t) => {
  const { folder, runner, recordings } = setUp(t);
  const options = { startMs: START_MS, fragments: 100, hasIndex: false };
  const { bytes, ends } = buildRecording(options);
  const name = writeOpen(folder, options, ends[3]! + 50);
  assert.equal((await recordings.list('door'))[0]?.endMs, START_MS + 3000);
  const grow = async (from: number, to: number): Promise<number | undefined> => {
    appendFileSync(join(folder, name), bytes.subarray(from, to));
    return (await recordings.list('door'))[0]?.endMs;
  };
  assert.equal(await grow(ends[3]! + 50, ends[4]! - 1), START_MS + 3000, 'half a fragment is nothing new');
  assert.equal(await grow(ends[4]! - 1, ends[90]! + 9), START_MS + 90_000);
  assert.equal(await grow(ends[90]! + 9, bytes.length), START_MS + 100_000);
  const from = runner.inputs.flatMap((input) => (input as { files?: InspectionRequest[] }).files ?? []);
  assert.deepEqual(
    from.map(({ fromBytes }) => fromBytes),
    [0, ends[3], ends[3], ends[90]],
  );
});

test('an open file whose end was cut off and written anew is walked again', async (t) => {
  const { folder, recordings } = setUp(t);
  const options = { startMs: START_MS, fragments: 8, hasIndex: false };
  const { bytes, ends } = buildRecording(options);
  const name = writeOpen(folder, options, ends[4]!);
  assert.equal((await recordings.list('door'))[0]?.endMs, START_MS + 4000);
  // Other frames than those that were there: no border is where one was.
  const anew = buildRecording({ ...options, frameBytes: 47 }).bytes;
  writeFileSync(join(folder, name), anew);
  assert.equal((await recordings.list('door'))[0]?.endMs, START_MS + 8000);
  writeFileSync(join(folder, name), bytes.subarray(0, ends[2]));
  assert.equal((await recordings.list('door'))[0]?.endMs, START_MS + 2000, 'shorter than it was');
});

test('nothing is looked into twice, and any change by hand is seen', async (t) => {
  const { folder, runner, recordings } = setUp(t);
  const names = [0, 1, 2, 3].map((hour) =>
    writeClosed(folder, { startMs: START_MS + hour * 3_600_000, fragments: 8 }),
  );
  const [first, second, third, fourth] = names as [string, string, string, string];
  const oldSec = START_MS / 1000 - 60;
  utimesSync(join(folder, third), oldSec, oldSec);
  const listed = async (): Promise<string[]> =>
    (await recordings.list('door')).map(({ fileName }) => fileName);
  assert.deepEqual(await listed(), names);
  assert.deepEqual(inspected(runner).sort(), names);
  assert.deepEqual(await listed(), names);
  assert.deepEqual(inspected(runner), [], 'unchanged');

  rmSync(join(folder, first));
  assert.deepEqual(await listed(), names.slice(1));
  assert.deepEqual(inspected(runner), [], 'removed');

  const renamed = second.replace('_to_09', '_to_10');
  renameSync(join(folder, second), join(folder, renamed));
  assert.deepEqual(await listed(), [renamed, third, fourth]);
  assert.deepEqual(inspected(runner), [renamed]);

  // The same size and the same time of last change, as a copy that keeps times has them.
  const { bytes } = buildRecording({ startMs: START_MS + 2 * 3_600_000 + 500, fragments: 8 });
  const before = statSync(join(folder, third));
  writeFileSync(join(folder, third), bytes);
  utimesSync(join(folder, third), oldSec, oldSec);
  const after = statSync(join(folder, third));
  assert.deepEqual([after.ino, after.size, after.mtimeMs], [before.ino, before.size, before.mtimeMs]);
  const changed = (await recordings.list('door'))[1];
  assert.equal(changed?.startMs, START_MS + 2 * 3_600_000 + 500);
  assert.deepEqual(inspected(runner), [third]);

  truncateSync(join(folder, fourth), 1500);
  assert.equal((await recordings.list('door'))[2]?.endMs, Date.parse('2026-11-21T11:30:09Z'), 'by its name');
  assert.deepEqual(inspected(runner), [fourth]);
});

test('a file that is being copied in is told by its name until it is whole', async (t) => {
  const { folder, recordings } = setUp(t);
  const { bytes } = buildRecording({ startMs: START_MS, fragments: 20 });
  const name = '2026-11-21_08-30-00_to_08-30-21.mp4';
  for (const lengthBytes of [0, 10, 700, 3000, bytes.length - 5]) {
    writeFileSync(join(folder, name), bytes.subarray(0, lengthBytes));
    const [recording] = await recordings.list('door');
    assert.equal(recording?.endMs, Date.parse('2026-11-21T08:30:21Z'), String(lengthBytes));
  }
  writeFileSync(join(folder, name), bytes);
  assert.equal((await recordings.list('door'))[0]?.endMs, START_MS + 20_000);
});

test('only regular files with names of ours are listed; nothing else is touched', async (t) => {
  const { archiveDir, folder, recordings } = setUp(t);
  const name = writeClosed(folder, { startMs: START_MS });
  const at = (hour: number): string => `2026-11-22_${hour}-00-00_to_${hour}-30-00.mp4`;
  copyFileSync(join(folder, name), join(folder, 'holiday.mp4'));
  copyFileSync(join(folder, name), join(folder, `${name}.broken`));
  symlinkSync(join(folder, name), join(folder, at(10)));
  symlinkSync('/nowhere', join(folder, at(11)));
  mkdirSync(join(folder, at(12)));
  execFileSync('mkfifo', [join(folder, at(13))]);
  symlinkSync(folder, join(archiveDir, 'linked'));
  writeFileSync(join(archiveDir, 'file'), 'x');
  assert.deepEqual(
    (await recordings.list('door')).map(({ fileName }) => fileName),
    [name],
  );
  for (const camera of ['linked', 'file', 'nobody']) {
    assert.deepEqual(await recordings.list(camera), []);
    await assert.rejects(recordings.find(camera, name), { code: 'not_found' });
  }
  for (const hour of [10, 11, 12, 13]) {
    await assert.rejects(recordings.find('door', at(hour)), { code: 'not_found' });
  }
});

test('one recording is asked for while its camera is listed: nothing of the list is forgotten', async (t) => {
  const { folder, runner, recordings } = setUp(t);
  const names = [0, 1, 2].map((hour) => writeClosed(folder, { startMs: START_MS + hour * 3_600_000 }));
  const run = runner.run.bind(runner);
  const [held, release] = [new Signal(), new Signal()];
  runner.run = async (name, input) => {
    if (name === 'inspectFiles' && (input as { files?: unknown[] }).files?.length === 1) {
      const released = new Promise<void>((resolve) => release.on(resolve));
      held.emit();
      await released;
    }
    return run(name, input);
  };
  const isHeld = new Promise<void>((resolve) => held.on(resolve));
  const finding = recordings.find('door', names[1]!);
  await isHeld;
  const list = await recordings.list('door');
  release.emit();
  assert.deepEqual(await finding, list[1]);
  inspected(runner);
  assert.deepEqual(await recordings.list('door'), list);
  assert.deepEqual(inspected(runner), []);
});

test('find knows its file anew after any change, and refuses what is no name', async (t) => {
  const { folder, runner, recordings } = setUp(t);
  const name = writeClosed(folder, { startMs: START_MS });
  const found = await recordings.find('door', name);
  assert.equal(found.endMs, START_MS + 4000);
  assert.equal(await recordings.find('door', name), found, 'from memory');
  assert.equal(runner.countOf('inspectFiles'), 1);
  linkSync(join(folder, name), join(folder, 'copy'));
  writeFileSync(join(folder, name), buildRecording({ startMs: START_MS, fragments: 5 }).bytes);
  assert.equal((await recordings.find('door', name)).endMs, START_MS + 5000);
  rmSync(join(folder, name));
  await assert.rejects(recordings.find('door', name), { code: 'not_found' });
  for (const bad of ['', '.', '..', '../x', `../door/${name}`, `${name}\0`, 'holiday.mp4', `./${name}`]) {
    await assert.rejects(recordings.find('door', bad), { code: 'bad_file_name' }, bad);
  }
  for (const camera of ['..', '.', '', '../door', 'a/b', 'x'.repeat(65)]) {
    await assert.rejects(recordings.find(camera, name), { code: 'not_found' }, camera);
    await assert.rejects(recordings.list(camera), { code: 'not_found' }, camera);
  }
});

test('what a file says of its time is believed only where it can be', async (t) => {
  const { folder, recordings } = setUp(t);
  const { bytes } = buildRecording({ startMs: START_MS });
  writeFileSync(join(folder, '2020-01-01_00-00-00_to_01-00-00.mp4'), bytes);
  writeFileSync(join(folder, '2020-01-02_00-00-00_to_01-00-00.mp4'), Buffer.alloc(5000));
  const { bytes: silent } = buildRecording({ startMs: START_MS, hasWall: false });
  writeFileSync(join(folder, '2020-01-03_00-00-00_to_01-00-00.mp4'), silent);
  const { bytes: plain } = buildRecording({ startMs: START_MS, hasIndex: false });
  writeFileSync(join(folder, '2026-11-21_08-30-00_to_08-30-05.mp4'), plain);
  const times = (await recordings.list('door')).map(({ startMs, endMs }) => [startMs, endMs]);
  for (const day of [1, 2, 3]) {
    const startMs = Date.UTC(2020, 0, day);
    assert.deepEqual(times[day - 1], [startMs, startMs + 3_600_000]);
  }
  assert.deepEqual(times[3], [START_MS, Date.parse('2026-11-21T08:30:05Z')], 'an end without an index');
});

test('requests that come together share one look at the disk; few cameras are remembered', async (t) => {
  const { archiveDir, runner } = setUp(t);
  const recordings = new Recordings({ archiveDir, maxFiles: 3 }, { runner, live: nobodyWrites });
  for (const camera of ['a', 'b', 'c']) {
    writeClosed(join(archiveDir, camera), { startMs: START_MS });
    writeClosed(join(archiveDir, camera), { startMs: START_MS + 60_000 });
  }
  const [one, two] = await Promise.all([recordings.list('a'), recordings.list('a')]);
  assert.deepEqual(one, two);
  assert.equal(runner.countOf('scanFolder'), 1);
  await recordings.list('b');
  inspected(runner);
  await recordings.list('b');
  assert.equal(inspected(runner).length, 0);
  await recordings.list('a');
  assert.equal(inspected(runner).length, 2, 'forgotten for b');
});

test('what the disk has is listed though it does not give what is written of copies', async (t) => {
  const { archiveDir, folder, runner } = setUp(t);
  const closed = writeClosed(folder, { startMs: START_MS });
  // Reading it is EIO, as of a bad sector.
  const copies = { pathOf: () => '/proc/self/mem', mailbox: makeMailbox(), isAway: false };
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites, copies });
  assert.deepEqual(
    (await recordings.list('door')).map(({ fileName }) => fileName),
    [closed],
  );
});

test('a month of hours costs one look at the folder and one at each file, a few pages each, and later none', async (t) => {
  const { folder, runner, recordings } = setUp(t);
  const readBytes = countBytesRead(t);
  for (let hour = 0; hour < HOURS; hour += 1) {
    writeClosed(folder, { startMs: START_MS + hour * 3_600_000, fragments: 60 });
  }
  const fileBytes = statSync(join(folder, '2026-11-21_08-30-00_to_08-31-01.mp4')).size;
  readBytes();
  assert.equal((await recordings.list('door')).length, HOURS);
  const coldBytes = readBytes();
  t.diagnostic(`${coldBytes / HOURS} of the ${fileBytes} bytes of each file are read`);
  assert.ok(coldBytes <= HOURS * MOST_BYTES_A_FILE, `${coldBytes / HOURS} bytes a file`);
  assert.equal(runner.countOf('scanFolder'), 1);
  assert.equal(new Set(inspected(runner)).size, HOURS);
  const jobs = runner.countOf('inspectFiles');
  assert.ok(jobs >= 8 && jobs <= HOURS / 32, `${jobs} jobs, none of them long`);
  assert.equal((await recordings.list('door')).length, HOURS);
  assert.equal(readBytes(), 0);
  assert.deepEqual(inspected(runner), []);
  assert.deepEqual([runner.countOf('scanFolder'), runner.countOf('inspectFiles')], [2, jobs]);
});

test('what was moved aside is in no list of recordings, but told beside them', async (t) => {
  const { folder, recordings } = setUp(t);
  const closed = writeClosed(folder, { startMs: START_MS });
  const broken = `${openName(START_MS)}.broken-2`;
  writeFileSync(join(folder, broken), Buffer.alloc(700));
  utimesSync(join(folder, broken), START_MS / 1000 + 60, START_MS / 1000 + 60);
  for (const name of [`${closed}.broken`, `${openName(START_MS)}.broken-`, 'x.broken']) {
    writeFileSync(join(folder, name), 'x');
  }
  assert.deepEqual(
    (await recordings.list('door')).map(({ fileName }) => fileName),
    [closed],
  );
  const secondMs = START_MS - (START_MS % 1000);
  const told = [{ fileName: broken, startMs: secondMs, endMs: START_MS + 60_000, sizeBytes: 700 }];
  assert.deepEqual(await recordings.broken('door'), told);
  assert.deepEqual(await recordings.broken('nobody'), []);
  const timeline = new Timeline({ clock: new FakeClock(START_MS), recordings, whyNot: () => null });
  const brokenIn = async (fromMs: number, toMs: number) =>
    (await timeline.intervals('door', START_MS + fromMs, START_MS + toMs)).broken;
  assert.deepEqual(await brokenIn(-1000, 10_000), told);
  assert.deepEqual(await brokenIn(50_000, 90_000), told);
  assert.deepEqual([await brokenIn(61_000, 90_000), await brokenIn(-9000, -500)], [[], []]);
});
