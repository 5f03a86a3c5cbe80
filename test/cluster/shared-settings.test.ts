import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { clusterError } from '../../src/cluster/cluster-error.js';
import { CopyMemory } from '../../src/cluster/copy-memory.js';
import type { ChangeLog } from '../../src/cluster/joining.js';
import { type LogEntry, type LogRecord, StaleError } from '../../src/cluster/settings-log.js';
import { SharedSettings } from '../../src/cluster/shared-settings.js';
import { SharedRecords } from '../../src/store/shared/shared-records.js';
import { Store } from '../../src/store/store.js';
import { sampleCamera } from '../store/samples.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** `disk`: that of the box takes nothing from when it was made until a while later. */
type Fault = 'none' | 'away' | 'unanswered' | 'later' | 'disk';

/** The log as the servers have it (of each key the last), and what becomes of each call of one box. */
class ModelLog {
  created = 'first';
  lastSequence = 0;
  entries: LogEntry[] = [];
  /** All that was ever there. */
  readonly written: LogRecord[] = [];

  append(records: readonly LogRecord[], expected: number, changeId: string | null): number {
    if (this.lastSequence !== expected) throw new StaleError();
    for (const record of records) this.#put({ ...record, sequence: this.lastSequence + 1, changeId });
    return this.lastSequence;
  }

  /** What somebody without the key does. */
  vandalize(...keys: string[]): void {
    for (const key of keys) this.#put({ key, text: null, sequence: this.lastSequence + 1, changeId: null });
  }

  /** What is put back by `restore`. */
  snapshot(): readonly [number, LogEntry[]] {
    return [this.lastSequence, this.entries];
  }

  restore([lastSequence, entries]: readonly [number, LogEntry[]]): void {
    Object.assign(this, { lastSequence, entries });
  }

  #put(entry: LogEntry): void {
    this.written.push(entry);
    this.lastSequence = entry.sequence;
    this.entries = [...this.entries.filter(({ key }) => key !== entry.key), entry];
  }

  /** `faultOf` says what happens to the next thing that is written. */
  as(faultOf: () => Fault, setDisk: (isWritable: boolean) => void): ChangeLog {
    const away = () => clusterError('cluster_unavailable', 'nobody answers');
    let isAway = false;
    return {
      state: async () => {
        if (isAway) throw away();
        return { created: this.created, lastSequence: this.lastSequence };
      },
      readAfter: async (sequence) => {
        if (isAway) throw away();
        return this.entries.filter((entry) => entry.sequence > sequence);
      },
      append: async (records, expected, changeId) => {
        const fault = faultOf();
        if (fault === 'none') return this.append(records, expected, changeId);
        if (fault === 'disk') {
          const sequence = this.append(records, expected, changeId);
          setDisk(false);
          setTimeout(() => setDisk(true), 1);
          return sequence;
        }
        if (fault === 'unanswered') this.append(records, expected, changeId);
        // What was on its way may be stored when nobody waits for it any more.
        if (fault === 'later')
          setTimeout(() => {
            try {
              this.append(records, expected, changeId);
            } catch (thrown) {
              assert.ok(thrown instanceof StaleError);
            }
          }, 2);
        isAway = true;
        setTimeout(() => {
          isAway = false;
        }, 1);
        throw away();
      },
    };
  }
}

const openBox = (folder: string, log: ModelLog, faultOf: () => Fault = () => 'none') => {
  const lines: string[] = [];
  const store = new Store(join(folder, 'framering.db'));
  const settings = store.share((db) => {
    const setDisk = (isWritable: boolean) => db.open && db.pragma(`query_only = ${isWritable ? 0 : 1}`);
    return new SharedSettings({
      ...{ clock: systemClock, log: createLogger((_level, message) => lines.push(message)) },
      records: new SharedRecords(db),
      changes: log.as(faultOf, setDisk),
      memory: new CopyMemory(store.facts, 'key'),
      keepCopy: () => {
        const path = join(folder, 'before.db');
        store.copyTo(path);
        return path;
      },
    });
  });
  return { store, settings, lines };
};

const box = (t: TestContext, log: ModelLog, faultOf?: () => Fault) => {
  const folder = tempFolder(t);
  const opened = openBox(folder, log, faultOf);
  t.after(() => opened.store.close());
  return { ...opened, folder };
};

const admin = { username: 'root', password_hash: 'h', role: 'admin' } as const;
const tag = (id: string, name = id) => ({ id, name, color: '#000000' });

test('an empty cluster takes over what the first box has; a filled one wins, and what was there is kept', async (t) => {
  const log = new ModelLog();
  const [first, second] = [box(t, log), box(t, log)];
  first.store.users.create(admin);
  first.store.cameras.create(sampleCamera('door'));
  second.store.users.create(admin);
  second.store.cameras.create(sampleCamera('yard'));
  await first.settings.follow();
  await second.settings.follow();
  assert.deepEqual(second.store.exportAll(), first.store.exportAll());
  assert.deepEqual(
    second.store.cameras.list().map(({ id }) => id),
    ['door'],
  );
  assert.match(first.lines.join(), /had no settings: it has taken over/);
  assert.match(second.lines.join(), /have taken the place of this box's own, which are kept/);
  const kept = new Store(join(second.folder, 'before.db'));
  assert.deepEqual(
    kept.cameras.list().map(({ id }) => id),
    ['yard'],
  );
  kept.close();
});

test('a cluster in which nobody has set anything counts as empty', async (t) => {
  const log = new ModelLog();
  const [fresh, filled] = [box(t, log), box(t, log)];
  const makeAdmin = ({ store }: typeof fresh, password_hash: string) =>
    store.change(() => {
      if (store.users.hasAdmin()) return false;
      const { token_epoch } = store.users.create({ username: 'admin', password_hash, role: 'admin' });
      store.facts.setText('first_admin_epoch', token_epoch);
      return true;
    });
  assert.equal(await makeAdmin(fresh, 'one'), true);
  const other = box(t, log);
  assert.equal(await makeAdmin(other, 'two'), false, 'one admin is made, however many boxes start');
  assert.equal(other.store.facts.text('first_admin_epoch'), fresh.store.users.find('admin')?.token_epoch);
  filled.store.users.create(admin);
  filled.store.cameras.create(sampleCamera('door'));
  await filled.settings.follow();
  await fresh.settings.follow();
  assert.deepEqual(fresh.store.exportAll(), filled.store.exportAll());
  assert.deepEqual(
    fresh.store.users.list().map(({ username }) => username),
    ['root'],
  );
});

test('a cluster that lost its settings gets them back from a box that has them', async (t) => {
  const log = new ModelLog();
  const one = box(t, log);
  one.store.users.create(admin);
  await one.settings.follow();
  Object.assign(log, { entries: [], lastSequence: 0, created: 'second' });
  await one.settings.check();
  assert.match(one.lines.join(), /lost its settings: this box's copy was put back/);
  const other = box(t, log);
  await other.settings.follow();
  assert.deepEqual(other.store.users.list(), one.store.users.list());
});

test('what hangs together over several records holds, whichever boxes change it at once', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  one.store.users.create({ ...admin, username: 'boss' });
  await one.settings.follow();
  await other.settings.follow();
  const outcomes = await Promise.allSettled([
    one.settings.change(() => one.store.users.remove('root')),
    other.settings.change(() => other.store.users.remove('boss')),
  ]);
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.deepEqual(
    refused.map(({ reason }) => reason.code),
    ['last_admin'],
  );
});

test('a change without an answer that was made all the same answers what it did', async (t) => {
  const log = new ModelLog();
  const faults: Fault[] = ['none', 'unanswered'];
  const one = box(t, log, () => faults.shift() ?? 'none');
  one.store.users.create(admin);
  await one.settings.follow();
  const epoch = one.store.users.find('root')?.token_epoch;
  const changed = await one.settings.change(() => one.store.users.update('root', { password_hash: 'new' }));
  assert.notEqual(changed.token_epoch, epoch);
  assert.deepEqual(one.store.users.find('root'), changed);
  assert.equal(log.written.filter(({ key }) => key === 'user/root').length, 2, 'it was made once');
});

test('what the disk of a box does not take of its own change is written there when it does, and nothing is lost', async (t) => {
  const log = new ModelLog();
  const faults: Fault[] = ['none', 'disk'];
  const one = box(t, log, () => faults.shift() ?? 'none');
  const other = box(t, log);
  one.store.users.create(admin);
  await one.settings.follow();
  const refused = one.settings.change(() => one.store.tags.create(tag('a')));
  await assert.rejects(refused, { code: 'database_unavailable', message: /was made in the cluster/ });
  await until('its disk takes it', () =>
    one.settings.follow().then(
      () => true,
      () => false,
    ),
  );
  assert.deepEqual(one.store.tags.list(), [tag('a')]);
  await one.settings.change(() => one.store.tags.create(tag('b')));
  await other.settings.follow();
  assert.deepEqual(other.store.tags.list(), [tag('a'), tag('b')]);
});

test('through any faults all boxes end alike, and whatever was answered well is there', async (t) => {
  const ids = ['a', 'b', 'c', 'd'];
  const anyStep = fc.record({
    box: fc.nat(2),
    kind: fc.constantFrom('create', 'rename', 'remove'),
    id: fc.constantFrom(...ids),
    fault: fc.constantFrom<Fault[]>('none', 'none', 'away', 'unanswered', 'later', 'disk'),
    isAlone: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 12 }), async (steps) => {
      const log = new ModelLog();
      const faults: Fault[] = [];
      const boxes = [0, 1, 2].map(() => openBox(tempFolder(t), log, () => faults.shift() ?? 'none'));
      boxes[0]!.store.users.create(admin);
      for (const { settings } of boxes) await settings.follow();
      const running: Promise<unknown>[] = [];
      let names = 0;
      const answered: (readonly [id: string, name: string | null])[] = [];
      for (const { box: at, kind, id, fault, isAlone } of steps) {
        const { store, settings } = boxes[at]!;
        faults.push(fault);
        const name = kind === 'remove' ? null : `name ${names++}`;
        const made = settings.change(() => {
          if (kind === 'create') store.tags.create(tag(id, name!));
          else if (kind === 'rename') store.tags.update(id, { name: name! });
          else store.tags.remove(id);
        });
        const outcome = made.then(
          () => void answered.push([id, name]),
          ({ code }: { code: string }) =>
            assert.ok(['exists', 'not_found', 'database_unavailable'].includes(code), code),
        );
        if (isAlone) await outcome;
        else running.push(outcome);
      }
      await Promise.all(running);
      // What is stored later than anybody waits for it.
      await new Promise((resolve) => setTimeout(resolve, 5));
      for (const { settings } of boxes)
        await until('it follows', () =>
          settings.follow().then(
            () => true,
            () => false,
          ),
        );
      const [first, ...others] = boxes.map(({ store }) => store.exportAll());
      for (const other of others) assert.deepEqual(other, first);
      for (const [id, name] of answered)
        assert.ok(
          log.written.some(
            ({ key, text }) => key === `tag/${id}` && (text === null ? null : JSON.parse(text).name) === name,
          ),
          'what was answered well stood in the log',
        );
      for (const { store } of boxes) store.close();
    }),
    { numRuns: 25 },
  );
});
