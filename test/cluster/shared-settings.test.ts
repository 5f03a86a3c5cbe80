import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { Store } from '../../src/store/store.js';
import { sampleCamera } from '../store/samples.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { admin, box, type Fault, ModelLog, openBox, tag } from './model-log.js';

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

test('what a box could not take to heart at once it is told again, with what came since', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  await one.settings.follow();
  await other.settings.follow();
  const heard: string[][] = [];
  let isFailing = true;
  other.settings.changed.on(({ kinds, cameraIds, revokedUsernames }) => {
    if (isFailing) throw new Error('the disk reads nothing');
    heard.push([...kinds, ...cameraIds, ...revokedUsernames].sort());
  });
  await one.settings.change(() => void one.store.users.update('root', { password_hash: 'new' }));
  await assert.rejects(other.settings.follow(), { message: 'the disk reads nothing' });
  await one.settings.change(() => one.store.cameras.create(sampleCamera('door')));
  await assert.rejects(other.settings.follow(), { message: 'the disk reads nothing' });
  isFailing = false;
  await other.settings.follow();
  await other.settings.follow();
  assert.deepEqual(heard, [['cam', 'door', 'root', 'user']]);
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
    isHeard: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 12 }), async (steps) => {
      const log = new ModelLog();
      const faults: Fault[] = [];
      const boxes = [0, 1, 2].map(() =>
        openBox(tempFolder(t), log, { faultOf: () => faults.shift() ?? 'none' }),
      );
      boxes[0]!.store.users.create(admin);
      for (const { settings } of boxes) await settings.follow();
      const running: Promise<unknown>[] = [];
      let names = 0;
      const answered: (readonly [id: string, name: string | null])[] = [];
      for (const { box: at, kind, id, fault, isAlone, isHeard } of steps) {
        const { store, settings } = boxes[at]!;
        faults.push(fault);
        log.isHeard = () => isHeard;
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
