import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import type { ProtectedSpan } from '../../../src/archive/keep/delete-files.js';
import { Deleting } from '../../../src/archive/keep/deleting.js';
import type { EventTimesOf } from '../../../src/archive/keep/kept-spans.js';
import { Retention, type RetentionRule } from '../../../src/archive/keep/retention.js';
import { nothingKnown } from '../../../src/archive/list/inspect-files.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { copiesPath, writeCopies } from '../../../src/archive/offsite/copies-file.js';
import { CopyTable } from '../../../src/archive/offsite/copy-table.js';
import { makeMailbox } from '../../../src/archive/offsite/mailbox.js';
import type { CopyExpiry, Partly, Unwanted } from '../../../src/archive/offsite/messages.js';
import { Notes } from '../../../src/archive/offsite/notes.js';
import { Outbox } from '../../../src/archive/offsite/outbox.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';
import { manyCopies } from '../offsite/made-copies.js';

const NOW_MS = Date.UTC(2026, 10, 21, 8, 30);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Who copies recordings, as deletions see it. */
class Copying {
  readonly localDays = 3;
  readonly copiesDir: string;
  readonly told: CopyExpiry[] = [];
  readonly forgotten: { readonly cameraId: string; readonly unwanted: Unwanted }[] = [];
  readonly replaced: { readonly cameraId: string; readonly wholes: readonly Partly[] }[] = [];
  isStuck = false;
  isAway = false;
  readonly mailbox = makeMailbox();
  readonly kept = new Set<string>();

  constructor(copiesDir: string) {
    this.copiesDir = copiesDir;
  }

  expire(expiry: CopyExpiry): void {
    this.told.push(expiry);
  }

  pathOf(cameraId: string): string {
    return copiesPath(this.copiesDir, cameraId);
  }

  keeps(cameraId: string): boolean {
    return this.kept.has(cameraId);
  }

  replace(cameraId: string, wholes: readonly Partly[]): void {
    this.replaced.push({ cameraId, wholes });
  }

  async forget(cameraId: string, unwanted: Unwanted): Promise<number> {
    if (this.isStuck) throw new Error('it can not be written now');
    this.forgotten.push({ cameraId, unwanted });
    return unwanted.fileNames.length;
  }
}

const write = (folder: string, agoMs: number): string => {
  mkdirSync(folder, { recursive: true });
  const name = closedName(NOW_MS - agoMs - HOUR_MS, NOW_MS - agoMs);
  writeFileSync(join(folder, name), 'x');
  return name;
};

const retentionOf = (
  t: TestContext,
  rules: readonly RetentionRule[],
  times: EventTimesOf = () => null,
  spared: readonly ProtectedSpan[] = [],
) => {
  const [archiveDir, copies, gone] = [tempFolder(t), new Copying(tempFolder(t)), [] as string[]];
  const retention = new Retention(
    { archiveDir, minFreePercent: 0 },
    {
      ...{ runner: new InlineRunner(), clock: new FakeClock(NOW_MS), log: logLines().log, copies },
      memory: { lastMs: () => NOW_MS, remember: () => {}, eras: () => null, rememberEras: () => {} },
      ...{
        rules: () => rules,
        times,
        spared: () => spared,
        live: nobodyWrites,
        onGone: (id: string) => void gone.push(id),
      },
    },
  );
  return { archiveDir, copies, gone, retention };
};

test('copies go by the ages of recordings, and recordings leave the disk by their own', async (t) => {
  const { copies, retention } = retentionOf(t, [
    { cameraId: 'a', retentionDays: 7, camera: 'here' },
    { cameraId: 'b', retentionDays: 7, eventRetentionDays: 30, camera: 'here' },
    { cameraId: 'c', retentionDays: 0, camera: 'here' },
    { cameraId: 'd', retentionDays: 7, camera: 'purged' },
  ]);
  await retention.sweep();
  assert.equal(copies.told.length, 1);
  const [told] = copies.told;
  assert.deepEqual(told?.limits, [
    { cameraId: 'a', beforeMs: NOW_MS - 7 * DAY_MS },
    { cameraId: 'b', beforeMs: NOW_MS - 30 * DAY_MS },
    { cameraId: 'd', beforeMs: Number.POSITIVE_INFINITY },
  ]);
  assert.deepEqual(told.cameraIds, ['a', 'b', 'c', 'd']);
  assert.equal(told.localBeforeMs, NOW_MS - 3 * DAY_MS);
});

test('a deleted camera is known for as long as the store has recordings of it', async (t) => {
  const { copies, gone, retention } = retentionOf(t, [
    { cameraId: 'a', retentionDays: 7, camera: 'deleted' },
    { cameraId: 'b', retentionDays: 7, camera: 'purged' },
  ]);
  copies.kept.add('a');
  copies.isStuck = true;
  await retention.sweep();
  assert.deepEqual(gone, []);
  copies.isStuck = false;
  await retention.sweep();
  // Of a purged one it is enough that it is certain that all goes.
  assert.deepEqual(gone, ['b']);
  const everything = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, fileNames: [] };
  assert.deepEqual(copies.forgotten, [{ cameraId: 'b', unwanted: everything }]);
  copies.kept.clear();
  await retention.sweep();
  assert.deepEqual(gone, ['b', 'a', 'b']);
});

test('what a purged camera left in stores that are not set now is to go once they are, before its id is free', async (t) => {
  const [storesDir, gone] = [tempFolder(t), [] as string[]];
  const [present, other, stuck] = ['0'.repeat(16), '1'.repeat(16), '2'.repeat(16)].map((name) => {
    mkdirSync(join(storesDir, name));
    return join(storesDir, name);
  });
  mkdirSync(join(storesDir, 'lost+found'));
  // As a disk that gives nothing.
  mkdirSync(join(stuck!, 'outbox.json'));
  const rules = [{ cameraId: 'a', retentionDays: 7, camera: 'purged' }] as const;
  const retention = new Retention(
    { archiveDir: tempFolder(t), minFreePercent: 0, stores: { storesDir, copiesDir: present! } },
    {
      ...{ runner: new InlineRunner(), clock: new FakeClock(NOW_MS), log: logLines().log },
      memory: { lastMs: () => NOW_MS, remember: () => {}, eras: () => null, rememberEras: () => {} },
      ...{ rules: () => rules, live: nobodyWrites, onGone: (id: string) => void gone.push(id) },
    },
  );
  await retention.sweep();
  assert.deepEqual(gone, []);
  rmSync(stuck!, { recursive: true });
  await retention.sweep();
  assert.deepEqual(gone, ['a']);
  assert.deepEqual(readdirSync(present!), []);
  // When it is set again, and another camera has the id.
  const { wishes } = new Outbox(join(other!, 'outbox.json'), () => assert.fail('it is damaged'));
  assert.deepEqual(
    wishes.map(({ cameraId }) => cameraId),
    ['a'],
  );
});

test('a deleted camera is known for as long as a store that is not set now has recordings of it', async (t) => {
  const [storesDir, gone] = [tempFolder(t), [] as string[]];
  const other = join(storesDir, '1'.repeat(16));
  const notes = new Notes(other, { nowMs: () => 0, leaveMs: 0 });
  notes.replace('a', manyCopies(1));
  notes.replace('b', []);
  const retention = new Retention(
    { archiveDir: tempFolder(t), minFreePercent: 0, stores: { storesDir, copiesDir: null } },
    {
      ...{
        runner: new InlineRunner(),
        clock: new FakeClock(NOW_MS),
        log: logLines().log,
        live: nobodyWrites,
      },
      memory: { lastMs: () => NOW_MS, remember: () => {}, eras: () => null, rememberEras: () => {} },
      rules: () => ['a', 'b', 'c'].map((cameraId) => ({ cameraId, retentionDays: 7, camera: 'deleted' })),
      onGone: (id: string) => void gone.push(id),
    },
  );
  await retention.sweep();
  assert.deepEqual(gone, ['b', 'c']);
  writeFileSync(copiesPath(other, 'b'), 'damaged');
  notes.leave('a', () => true);
  await retention.sweep();
  assert.deepEqual(gone, ['b', 'c', 'a', 'c']);
});

test('what is deleted on request is to go from stores that are not set now, too, before the disk is touched', async (t) => {
  const [archiveDir, storesDir] = [tempFolder(t), tempFolder(t)];
  const name = write(join(archiveDir, 'a'), HOUR_MS);
  const other = join(storesDir, '1'.repeat(16));
  const notes = new Notes(other, { nowMs: () => 0, leaveMs: 0 });
  const here = { startMs: NOW_MS - 2 * HOUR_MS, endMs: NOW_MS - HOUR_MS };
  notes.replace('a', [...manyCopies(1), { ...manyCopies(1)[0]!, recording: here, inspection: nothingKnown }]);
  const runner = new InlineRunner();
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites });
  const stores = { storesDir, copiesDir: null };
  const deleting = new Deleting({ archiveDir, stores }, { recordings, runner, log: logLines().log });
  mkdirSync(join(other, 'outbox.json'));
  await assert.rejects(deleting.deleteWithin('a', here.startMs, NOW_MS), { code: 'archive_unavailable' });
  assert.deepEqual(readdirSync(join(archiveDir, 'a')), [name]);
  rmSync(join(other, 'outbox.json'), { recursive: true });
  assert.equal(await deleting.deleteWithin('a', here.startMs, NOW_MS), 1);
  assert.deepEqual(
    [...notes.read('a')!].map(({ isLeaving }) => isLeaving),
    [false, true],
  );
});

test('what the disk has of a recording is not deleted alone while the store is away that has more of it', async (t) => {
  const [archiveDir, copies, runner] = [tempFolder(t), new Copying(tempFolder(t)), new InlineRunner()];
  const piece = write(join(archiveDir, 'a'), 2 * HOUR_MS);
  const [startMs, endMs] = [NOW_MS - 3 * HOUR_MS, NOW_MS - HOUR_MS];
  const whole = { ...manyCopies(1)[0]!, recording: { startMs, endMs }, inspection: nothingKnown };
  new Notes(copies.copiesDir, { nowMs: () => 0, leaveMs: 0 }).replace('a', [whole]);
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites, copies });
  const deleting = new Deleting({ archiveDir }, { recordings, runner, copies, log: logLines().log });
  copies.isAway = true;
  const within = (toMs: number) => deleting.deleteWithin('a', startMs, toMs);
  await assert.rejects(within(NOW_MS - 2 * HOUR_MS), { code: 'store_unavailable' });
  assert.deepEqual([readdirSync(join(archiveDir, 'a')), copies.forgotten], [[piece], []]);
  assert.equal(await within(NOW_MS), 2);
  assert.deepEqual(copies.forgotten[0]?.unwanted.fileNames.length, 2);
});

test('what is deleted on request is to go from the store before the disk is touched', async (t) => {
  const archiveDir = tempFolder(t);
  const names = [write(join(archiveDir, 'a'), 3 * HOUR_MS), write(join(archiveDir, 'a'), HOUR_MS)];
  const [runner, copies] = [new InlineRunner(), new Copying(tempFolder(t))];
  const recordings = new Recordings({ archiveDir }, { runner, live: nobodyWrites });
  const deleting = new Deleting({ archiveDir }, { recordings, runner, copies, log: logLines().log });
  copies.isStuck = true;
  await assert.rejects(deleting.deleteWithin('a', 0, NOW_MS - 2 * HOUR_MS), /can not be written/);
  assert.equal(readdirSync(join(archiveDir, 'a')).length, 2);
  copies.isStuck = false;
  assert.equal(await deleting.deleteWithin('a', 0, NOW_MS - 2 * HOUR_MS), 1);
  assert.deepEqual(readdirSync(join(archiveDir, 'a')), [names[1]]);
  // The time, too: the store may have some that nobody knows of here.
  const unwanted = { fromMs: 0, toMs: NOW_MS - 2 * HOUR_MS, fileNames: [names[0]] };
  assert.deepEqual(copies.forgotten[0], { cameraId: 'a', unwanted });
});

test('what the store has alone stays past its age where some of it belongs to an event, or is protected', async (t) => {
  const oldMs = NOW_MS - 8 * DAY_MS;
  const rule = { cameraId: 'a', retentionDays: 7, eventRetentionDays: 30, camera: 'here' } as const;
  const known = { fromMs: oldMs + HOUR_MS, toMs: oldMs + 2 * HOUR_MS };
  const state = { events: [known] as { fromMs: number; toMs: number }[] | null };
  const { copies, retention } = retentionOf(
    t,
    [rule, { ...rule, cameraId: 'b' }],
    (cameraId, fromMs, toMs) =>
      state.events === null || cameraId === 'b'
        ? null
        : { sinceMs: 0, events: state.events.filter((one) => one.fromMs <= toMs && one.toMs >= fromMs) },
  );
  // A minute each, of three hours, and some of today.
  const stored = [...manyCopies(180, oldMs), ...manyCopies(2, NOW_MS - HOUR_MS)].map((copy, at) => ({
    ...copy,
    recording:
      at < 180 ? { startMs: oldMs + at * 60_000, endMs: oldMs + at * 60_000 + 59_000 } : copy.recording,
  }));
  for (const cameraId of ['a', 'b']) writeCopies(copies.pathOf(cameraId), CopyTable.of(stored));
  state.events = null;
  await retention.sweep();
  assert.equal(copies.forgotten.length, 0, 'nobody knows now what belongs to events');
  state.events = [known];
  copies.isStuck = true;
  await retention.sweep();
  assert.equal(copies.forgotten.length, 0);
  copies.isStuck = false;
  await retention.sweep();
  const names = copies.forgotten.flatMap(({ cameraId, unwanted }) => {
    assert.equal(cameraId, 'a');
    assert.ok(unwanted.fromMs > unwanted.toMs);
    return unwanted.fileNames;
  });
  // With what comes before an event, and behind it.
  const isAround = ({ startMs, endMs }: { startMs: number; endMs: number | null }): boolean =>
    endMs! >= known.fromMs - 5_000 && startMs <= known.toMs + 10_000;
  const expected = stored
    .map(({ recording }) => recording)
    .filter((recording) => recording.startMs < NOW_MS - DAY_MS && !isAround(recording))
    .map(({ startMs, endMs }) => closedName(startMs, endMs!));
  assert.deepEqual(names, expected);
});

test('of what the store has as a whole is told what is kept of it, by events and what is protected', async (t) => {
  const startMs = NOW_MS - 8 * DAY_MS;
  const rule = { cameraId: 'a', retentionDays: 7, eventRetentionDays: 30, camera: 'here' } as const;
  const event = { fromMs: startMs + 20_000, toMs: startMs + 30_000 };
  const span = { fromMs: startMs + 200_000, toMs: startMs + 210_000 };
  const { copies, retention } = retentionOf(t, [rule], () => ({ sinceMs: 0, events: [event] }), [
    { cameraId: 'a', ...span },
  ]);
  const [copy] = manyCopies(1);
  const recording = { startMs, endMs: startMs + 600_000 };
  writeCopies(copies.pathOf('a'), CopyTable.of([{ ...copy!, recording }]));
  await retention.sweep();
  const kept = [{ fromMs: event.fromMs - 5_000, toMs: event.toMs + 10_000 }, span];
  const fileName = closedName(startMs, recording.endMs);
  const [told] = copies.replaced;
  assert.deepEqual(
    {
      ...told,
      wholes: told?.wholes.map((one) => ({
        ...one,
        kept: one.kept.map(({ fromMs, toMs }) => ({ fromMs, toMs })),
      })),
    },
    { cameraId: 'a', wholes: [{ fileName, kept }] },
  );
  assert.deepEqual(copies.forgotten, []);
});
