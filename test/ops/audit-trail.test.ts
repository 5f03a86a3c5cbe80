import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../src/base/log.js';
import { AuditTrail, type TrailEntry } from '../../src/ops/audit-trail.js';
import type { AuditFilter } from '../../src/store/audit.js';
import { Store } from '../../src/store/store.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';

const DAY_MS = 86_400_000;
const all: AuditFilter = {
  ...{ fromMs: null, toMs: null, username: null, action: null, before: null },
  limit: 100_000,
};

const setUp = (t: TestContext) => {
  const clock = new FakeClock();
  const store = new Store(join(tempFolder(t), 'framering.db'));
  t.after(() => store.close());
  const warnings: string[] = [];
  const log = createLogger((_level, message) => void warnings.push(message));
  let fault: Error | null = null;
  const written: number[] = [];
  const table = {
    add: (entries: readonly TrailEntry[]) => {
      if (fault !== null) throw fault;
      written.push(entries.length);
      store.audit.add(entries);
    },
    forgetBefore: (timeMs: number) => store.audit.forgetBefore(timeMs),
    keepNewest: (action: string, count: number) => store.audit.keepNewest(action, count),
    list: (filter: AuditFilter) => store.audit.list(filter),
  };
  const trail = new AuditTrail({ clock, log, table });
  const audit = trail.copyOf(createLogger(() => {}));
  const fail = (wanted: Error | null): void => {
    fault = wanted;
  };
  return { clock, store, trail, audit, warnings, written, fail };
};

test('records are written together, moments later, or when somebody looks', (t) => {
  const { clock, trail, audit, written, store } = setUp(t);
  for (const action of ['login', 'create_tag', 'delete_tag']) audit.info(action, { action, user: 'ann' });
  assert.deepEqual(written, []);
  clock.advance(5_000);
  assert.deepEqual(written, [3]);
  audit.warn('login failed', { action: 'login_failed', ip: '::1' });
  const [newest] = trail.list({ ...all, limit: 1 });
  assert.deepEqual(newest, {
    id: 4,
    timeMs: clock.wallMs(),
    action: 'login_failed',
    username: '',
    record: '{"action":"login_failed","ip":"::1"}',
  });
  audit.info('end', { action: 'end_session' });
  trail.stop();
  assert.equal(store.audit.list(all).length, 5);
  assert.equal(clock.pendingTimers, 0);
});

test('whoever floods one action pushes out no others, neither waiting nor kept', (t) => {
  const { clock, trail, audit, warnings, store } = setUp(t);
  audit.info('restore', { action: 'restore_backup', user: 'ann' });
  for (let count = 0; count < 600; count += 1) audit.warn('failed', { action: 'login_failed', count });
  audit.info('delete', { action: 'delete_user', user: 'ann' });
  trail.stop();
  assert.deepEqual(
    ['restore_backup', 'login_failed', 'delete_user'].map(
      (action) => store.audit.list({ ...all, action }).length,
    ),
    [1, 500, 1],
  );
  assert.deepEqual(warnings, ['audit records were not kept']);
  const entry = { timeMs: clock.wallMs(), action: 'login_failed', username: '', record: '{}' };
  store.audit.add(Array.from({ length: 20_100 }, () => entry));
  for (let count = 0; count < 201; count += 1) {
    audit.warn('failed', { action: 'login_failed' });
    trail.list({ ...all, limit: 1 });
  }
  assert.ok(store.audit.list({ ...all, action: 'login_failed' }).length <= 20_200);
  assert.equal(store.audit.list({ ...all, action: 'restore_backup' }).length, 1);
});

test('what was written while the clock was ahead pushes nothing out that is written after it was set right', (t) => {
  const { clock, audit, store, trail } = setUp(t);
  const entry = { timeMs: clock.wallMs() + 3_650 * DAY_MS, action: 'x', username: '', record: '{}' };
  store.audit.add(Array.from({ length: 20_100 }, () => entry));
  audit.info('x', { action: 'x', user: 'ann' });
  trail.list(all);
  assert.equal(store.audit.list({ ...all, username: 'ann' }).length, 1);
  assert.equal(store.audit.list({ ...all, action: 'x' }).length, 20_000);
});

test('90 days are kept; a clock that leaps ahead does not cost them all at once', (t) => {
  const { clock, audit, store, trail } = setUp(t);
  const entry = { timeMs: clock.wallMs() - 90 * DAY_MS, action: 'login', username: 'ann', record: '{}' };
  store.audit.add([{ ...entry, timeMs: entry.timeMs - 1 }, entry]);
  store.audit.add(Array.from({ length: 3_000 }, () => ({ ...entry, timeMs: clock.wallMs() })));
  audit.info('x', { action: 'x' });
  trail.list(all);
  assert.equal(store.audit.list(all).length, 3_002);
  clock.advance(100 * DAY_MS);
  audit.info('x', { action: 'x' });
  trail.list(all);
  assert.equal(store.audit.list(all).length, 2_003);
});

test('while the disk takes nothing records wait, and the log says so once', (t) => {
  const { clock, audit, fail, store, trail, warnings } = setUp(t);
  fail(new Error('disk full'));
  audit.info('x', { action: 'x' });
  clock.advance(20_000);
  assert.deepEqual(trail.list(all), []);
  assert.deepEqual(warnings, ['audit records can not be kept now']);
  fail(null);
  clock.advance(5_000);
  assert.equal(store.audit.list(all).length, 1);
});

test('a record is bounded, and keeps no credential', (t) => {
  const { audit, trail } = setUp(t);
  audit.info('x', {
    action: 'x',
    user: 'ann',
    times: Array(1_000).fill('2026-11-21'),
    why: 'y'.repeat(10_000),
  });
  audit.info('x', { action: 'x', target: 'rtsp://root:s3cret@host/1' });
  const [second, first] = trail.list(all);
  assert.deepEqual(JSON.parse(first!.record), {
    ...{ action: 'x', user: 'ann', why: 'y'.repeat(500) },
    is_shortened: 'true',
  });
  assert.ok(!second!.record.includes('s3cret'));
});
