import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ArchiveRoot, type KnownArchive } from '../../src/archive/archive-root.js';
import { RecorderRoot, ROOT_LOST } from '../../src/archive/root-state.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { logLines } from './log-lines.js';

const MARKER = '.framering-archive';
const UNMARKED =
  'the directory is not the one that was recorded into: its disk is not mounted, or is a new one';

type Memory = { known: KnownArchive | null };

/** Folders that are locked, as the system would know. */
const locked = new Set<string>();

const rootOf = (dir: string, memory: Memory) => {
  const clock = new FakeClock();
  const { log, lines } = logLines();
  const root = new ArchiveRoot(dir, {
    ...{ clock, log },
    memory: {
      known: () => memory.known,
      remember: (known) => {
        memory.known = known;
      },
    },
    lock: (folder) => {
      if (locked.has(folder)) return null;
      locked.add(folder);
      return { release: () => locked.delete(folder) };
    },
  });
  const recorders = new RecorderRoot(dir, root.state.memory);
  let found = 0;
  const start = async (): Promise<void> => {
    await root.open();
    await root.start(async () => {
      assert.equal(recorders.epoch, 0n, 'recorders wait');
      found += 1;
    });
  };
  /** What the next look finds. */
  const next = async (): Promise<string | null> => {
    clock.advance(2_000);
    return root.look();
  };
  return { root, recorders, clock, lines, start, next, found: () => found };
};

type Setup = ReturnType<typeof rootOf>;

/** A service that recorded into a folder, and ended. */
const usedArchive = async (t: TestContext): Promise<{ dir: string; memory: Memory }> => {
  const dir = join(tempFolder(t), 'disk', 'recordings');
  const memory: Memory = { known: null };
  const { root, start } = rootOf(dir, memory);
  await start();
  await root.stop();
  return { dir, memory };
};

const isAdmitted = ({ root, recorders }: Setup): boolean => root.fault === null && recorders.epoch !== 0n;

test('the first start makes the folder and its marker, the next one finds them', async (t) => {
  const { dir, memory } = await usedArchive(t);
  const { id } = memory.known!;
  assert.equal(memory.known!.dir, dir);
  assert.equal(readFileSync(join(dir, MARKER), 'utf8').split('\n')[0], id);
  const second = rootOf(dir, memory);
  await second.start();
  t.after(() => second.root.stop());
  assert.ok(isAdmitted(second));
  assert.equal(second.found(), 1);
  assert.equal(memory.known!.id, id);
  assert.deepEqual(second.lines, []);
});

test('a folder that is missing at the start is never made again: it is waited for', async (t) => {
  const { dir, memory } = await usedArchive(t);
  renameSync(dir, `${dir}-away`);
  const setup = rootOf(dir, memory);
  await setup.start();
  t.after(() => setup.root.stop());
  assert.equal(setup.root.fault, 'the directory is missing');
  assert.equal(setup.found(), 0);
  await assert.rejects(setup.recorders.assertThere(), { code: 'ENOENT' });
  assert.equal(existsSync(dir), false);
  renameSync(`${dir}-away`, dir);
  assert.equal(await setup.next(), null);
  await until('recorders may begin', () => isAdmitted(setup));
  assert.equal(setup.found(), 1);
  await setup.recorders.assertThere();
});

test('one that goes while it is in use is left, with its lock, and taken again when it is back', async (t) => {
  const { dir, memory } = await usedArchive(t);
  const setup = rootOf(dir, memory);
  await setup.start();
  t.after(() => setup.root.stop());
  const before = setup.recorders.epoch;
  renameSync(dir, `${dir}-away`);
  // As where a mount was: a folder, and nothing in it.
  mkdirSync(dir);
  await assert.rejects(setup.recorders.assertThere(), { code: ROOT_LOST });
  assert.equal(await setup.next(), UNMARKED);
  assert.equal(setup.recorders.epoch, 0n);
  await until('the lock is let go of', () => !locked.has(dir));
  assert.deepEqual(readdirSync(dir), []);
  await setup.next();
  assert.equal(setup.lines.length, 1, 'told once');
  const { level, fields } = setup.lines[0]!;
  assert.deepEqual([level, fields['dir'], fields['reason']], ['error', dir, UNMARKED]);
  rmdirSync(dir);
  renameSync(`${dir}-away`, dir);
  assert.equal(await setup.next(), null);
  await until('recorders may begin', () => isAdmitted(setup));
  assert.notEqual(setup.recorders.epoch, before);
  assert.ok(locked.has(dir));
});

test('the lock of a disk that hangs is let go of once that answers, and holds nobody up until then', async (t) => {
  const { dir, memory } = await usedArchive(t);
  const setup = rootOf(dir, memory);
  await setup.start();
  t.after(() => setup.root.stop());
  renameSync(dir, `${dir}-away`);
  mkdirSync(dir);
  // Whoever opens this waits, as on a server that is gone.
  const marker = join(`${dir}-away`, '.framering-archive');
  rmSync(marker);
  assert.equal(spawnSync('mkfifo', [marker]).status, 0);
  assert.equal(await setup.next(), UNMARKED);
  assert.equal(await setup.next(), UNMARKED);
  assert.ok(locked.has(dir));
  const answer = await open(marker, 'w');
  await until('the lock is let go of', () => !locked.has(dir));
  await answer.close();
});

test('another disk is recorded into once a person does what the log says', async (t) => {
  const { dir, memory } = await usedArchive(t);
  rmSync(dir, { recursive: true });
  const setup = rootOf(dir, memory);
  await setup.start();
  t.after(() => setup.root.stop());
  const help = String(setup.lines[0]?.fields['help']);
  const command = /now: (.*)$/.exec(help)?.[1];
  assert.equal(spawnSync('sh', ['-c', command ?? 'false']).status, 0, help);
  assert.equal(await setup.next(), null);
});

test('a folder that another one took the place of between two looks is left before it is taken', async (t) => {
  const { dir, memory } = await usedArchive(t);
  const setup = rootOf(dir, memory);
  await setup.start();
  t.after(() => setup.root.stop());
  renameSync(dir, `${dir}-away`);
  cpSync(`${dir}-away`, dir, { recursive: true });
  assert.equal(await setup.next(), 'the directory was replaced by another one');
  await until('it is taken', async () => (await setup.next()) === null);
  await until('recorders may begin', () => isAdmitted(setup));
});

test('recordings of an earlier version are taken over, and those of another database, which is told', async (t) => {
  const dir = tempFolder(t);
  mkdirSync(join(dir, 'door'));
  const memory: Memory = { known: null };
  const first = rootOf(dir, memory);
  await first.start();
  assert.ok(isAdmitted(first));
  await first.root.stop();
  const other: Memory = { known: null };
  const second = rootOf(dir, other);
  await second.start();
  assert.ok(isAdmitted(second));
  await second.root.stop();
  assert.deepEqual(other.known, memory.known);
  assert.deepEqual(
    second.lines.map(({ message }) => message),
    ['took over the recordings of another database'],
  );
});

test('another path is made, and told of; the old one can be gone back to', async (t) => {
  const { dir, memory } = await usedArchive(t);
  const { id } = memory.known!;
  const moved = `${dir}-2`;
  const second = rootOf(moved, memory);
  await second.start();
  assert.ok(isAdmitted(second));
  await second.root.stop();
  assert.deepEqual(memory.known, { id, dir: moved });
  assert.match(second.lines[0]!.message, /another folder/);
  const third = rootOf(dir, memory);
  await third.start();
  assert.ok(isAdmitted(third));
  await third.root.stop();
});

test("another path that is somebody else's archive is left alone", async (t) => {
  const [ours, theirs] = [await usedArchive(t), await usedArchive(t)];
  const setup = rootOf(theirs.dir, ours.memory);
  await setup.start();
  t.after(() => setup.root.stop());
  assert.equal(setup.root.fault, 'the directory is the archive of another service');
  assert.equal(ours.memory.known!.dir, ours.dir, 'and not remembered');
  assert.equal(locked.has(theirs.dir), false);
});

test('a folder that can not be made, or is locked, stops the start', async (t) => {
  await assert.rejects(rootOf('/dev/null/recordings', { known: null }).start(), { code: 'ENOTDIR' });
  const { dir, memory } = await usedArchive(t);
  locked.add(dir);
  t.after(() => locked.delete(dir));
  await assert.rejects(rootOf(dir, memory).start(), /another process uses it/);
  await assert.rejects(rootOf(dir, { known: null }).start(), /another process uses it/);
});

test('an archive that another service took while it was away is waited for', async (t) => {
  const { dir, memory } = await usedArchive(t);
  const setup = rootOf(dir, memory);
  await setup.start();
  t.after(() => setup.root.stop());
  renameSync(dir, `${dir}-away`);
  await setup.next();
  await until('the lock is let go of', () => !locked.has(dir));
  locked.add(dir);
  renameSync(`${dir}-away`, dir);
  assert.equal(await setup.next(), 'another process uses the directory');
  assert.equal(setup.recorders.epoch, 0n);
  locked.delete(dir);
  assert.equal(await setup.next(), null);
});

test('a marker of anything else is no id of ours', async (t) => {
  const { dir, memory } = await usedArchive(t);
  const setup = rootOf(dir, memory);
  await setup.start();
  t.after(() => setup.root.stop());
  for (const content of [Buffer.alloc(1 << 20), Buffer.alloc(0), Buffer.from(`${memory.known!.id}x\n`)]) {
    writeFileSync(join(dir, MARKER), content);
    assert.notEqual(await setup.next(), null);
  }
  writeFileSync(join(dir, MARKER), `  ${memory.known!.id}\r\nand more`);
  assert.equal(await setup.next(), null);
});

test('after the end nothing is looked at any more', async (t) => {
  const { dir, memory } = await usedArchive(t);
  const setup = rootOf(dir, memory);
  await setup.start();
  await setup.root.stop();
  assert.equal(setup.clock.pendingTimers, 0);
  assert.equal(locked.has(dir), false);
});
