import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Clock, type MonotonicMs, systemClock, type Timer } from '../../src/base/clock.js';
import { ArchiveProbe } from '../../src/ops/archive-probe.js';
import { type Check, Health } from '../../src/ops/health.js';

const fine: Check = async () => 'ok';

/** The directory is the archive. */
const itself = { look: async () => null };

/** What is done already has been told to all who wait for it. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock that a test moves by hand. */
const handClock = () => {
  let nowMs = 0;
  const timers = new Set<{ atMs: number; callback: () => void }>();
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs as MonotonicMs,
    after: (delayMs, callback): Timer => {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.add(timer);
      return { cancel: () => timers.delete(timer) };
    },
  };
  const advance = (durationMs: number): void => {
    nowMs += durationMs;
    for (const timer of [...timers]) {
      if (timer.atMs > nowMs) continue;
      timers.delete(timer);
      timer.callback();
    }
  };
  return { clock, advance, pending: () => timers.size };
};

test('liveness says ok', () => {
  const health = new Health({ database: fine, archive: fine, router: fine }, { clock: systemClock });
  assert.deepEqual(health.live(), { status: 'ok' });
});

test('ready if all components are, and else says which is not and why', async () => {
  const results = { database: 'ok', archive: 'ok', router: 'ok' };
  const { clock, advance } = handClock();
  const health = new Health(
    {
      database: async () => results.database,
      archive: async () => results.archive,
      router: async () => {
        if (results.router !== 'ok') throw new Error(results.router);
        return 'ok';
      },
    },
    { clock },
  );
  assert.deepEqual(await health.ready(), { status: 'ready', checks: results });
  results.archive = 'the disk is full';
  results.router = 'not started';
  assert.equal((await health.ready()).status, 'ready', 'the answer is kept for a second');
  advance(1_000);
  assert.deepEqual(await health.ready(), { status: 'not_ready', checks: results });
  assert.deepEqual(await health.components(), { database: true, archive: false, router: false });
});

test('a hanging check delays nobody for long, is not started twice, and is believed when it ends', async () => {
  let calls = 0;
  let end: (result: string) => void = () => {};
  const { clock, advance, pending } = handClock();
  const archive: Check = () => {
    calls++;
    return new Promise((resolve) => {
      end = resolve;
    });
  };
  const health = new Health({ database: fine, archive, router: fine }, { clock });
  const first = [health.ready(), health.ready(), health.ready()];
  await settled();
  advance(800);
  for (const { status, checks } of await Promise.all(first)) {
    assert.equal(status, 'not_ready');
    assert.deepEqual(checks, { database: 'ok', archive: 'does not answer', router: 'ok' });
  }
  advance(60_000);
  assert.equal((await health.ready()).checks.archive, 'does not answer');
  assert.equal(calls, 1);
  end('ok');
  await settled();
  assert.equal((await health.ready()).status, 'ready');
  advance(1_000);
  const again = health.ready();
  end('ok');
  assert.equal((await again).status, 'ready');
  assert.equal(calls, 2);
  assert.equal(pending(), 0, 'no timer is left behind');
});

test('the archive: writable, missing, a file, full or read-only', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'archive-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'recordings');
  const probe = new ArchiveProbe(folder, { clock: systemClock, root: itself });
  assert.equal(await probe.check(), 'the directory is missing');
  mkdirSync(folder);
  assert.equal(await probe.check(), 'ok');
  assert.deepEqual(readdirSync(folder), [], 'nothing is left behind');
  writeFileSync(join(folder, '.write-probe'), 'of a crash');
  assert.equal(await probe.check(), 'ok');
  assert.ok(!existsSync(join(folder, '.write-probe')));
  // Root may write anywhere; a name that can't be opened for writing stands in for a read-only disk.
  mkdirSync(join(folder, '.write-probe'));
  assert.equal(await probe.check(), 'the directory is not writable (EISDIR)');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'not a directory');
  assert.equal(await probe.check(), 'the directory is missing');
  if (process.getuid?.() !== 0) {
    rmSync(folder);
    mkdirSync(folder);
    chmodSync(folder, 0o500);
    assert.equal(await probe.check(), 'the directory is not writable (EACCES)');
  }
});

test('the storage is that of the file system, and unknown where there is none', async () => {
  const storage = await new ArchiveProbe(tmpdir(), { clock: systemClock, root: itself }).storage();
  assert.ok(storage !== null && storage.totalBytes > 0);
  assert.ok(storage.freeBytes > 0 && storage.freeBytes <= storage.totalBytes);
  assert.equal(
    await new ArchiveProbe('/no/such/place', { clock: systemClock, root: itself }).storage(),
    null,
  );
});

test('a directory that is not the archive is not written to, and has no room of its own', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // A probe would fail here, and say so.
  mkdirSync(join(folder, '.write-probe'));
  const root = { look: async () => 'another disk' };
  const probe = new ArchiveProbe(folder, { clock: systemClock, root });
  assert.equal(await probe.check(), 'another disk');
  assert.equal(await probe.storage(), null);
});
