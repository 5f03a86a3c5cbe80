import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Store } from '../../src/store/store.js';
import { sampleCamera } from '../store/samples.js';
import { admin, box, ModelLog, openBox, tag } from './model-log.js';

const idsOf = (store: Store): string[] => store.tags.list().map(({ id }) => id);

test('changes that the servers lost while others were made are kept, and that is told', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  await one.settings.follow();
  await other.settings.follow();
  const before = log.snapshot();
  await one.settings.change(() => one.store.tags.create(tag('lost')));
  log.restore(before);
  await other.settings.change(() => other.store.tags.create(tag('new')));
  // It has the same number of entries as before.
  await one.settings.check();
  assert.deepEqual(idsOf(one.store), ['new']);
  assert.match(one.lines.join(), /has lost changes that this box had/);
  assert.match(one.settings.fault ?? '', /has lost changes/);
  const kept = new Store(join(one.folder, 'before.db'));
  assert.deepEqual(idsOf(kept), ['lost']);
  kept.close();
  await other.settings.check();
  assert.equal(other.settings.fault, null);
});

test('whichever box puts its copy back first, the newest one is what all have in the end', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  await one.settings.follow();
  const before = log.snapshot();
  await one.settings.change(() => one.store.tags.create(tag('a')));
  await other.settings.follow();
  await one.settings.change(() => one.store.tags.create(tag('b')));
  await one.settings.change(() => one.store.users.update('root', { password_hash: 'newest' }));
  log.restore(before);
  await other.settings.check();
  assert.match(other.lines.join(), /had lost its last changes/);
  one.store.close();
  const again = openBox(one.folder, log);
  t.after(() => again.store.close());
  await again.settings.follow();
  assert.match(again.lines.join(), /had lost its last changes/);
  await other.settings.check();
  await again.settings.check();
  assert.deepEqual(idsOf(again.store), ['a', 'b']);
  assert.deepEqual(other.store.exportAll(), again.store.exportAll());
  assert.deepEqual([again.settings.fault, other.settings.fault], [null, null]);
  assert.ok(!existsSync(join(one.folder, 'before.db')));
});

test('a record that was not written as part of a change that was made is none', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  await one.settings.follow();
  await other.settings.follow();
  const evil = JSON.stringify({
    username: 'root',
    password_hash: 'evil',
    role: 'admin',
    token_epoch: 'x',
    folders: 'null',
  });
  log.append([{ key: 'user/root', text: evil }], log.lastSequence, 'never made');
  await one.settings.check();
  await other.settings.change(() => other.store.tags.create(tag('a')));
  for (const { settings, store } of [one, other]) {
    await settings.check();
    assert.equal(store.users.find('root')?.password_hash, 'h');
    assert.equal(settings.fault, null);
  }
  const late = box(t, log);
  await late.settings.follow();
  assert.equal(late.store.users.find('root')?.password_hash, 'h');
});

test('what was written over just after it was changed is put right by who surely has it, and by others only in the end', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  one.store.tags.create(tag('a', 'old'));
  await one.settings.follow();
  await other.settings.follow();
  const rename = (name: string) => one.settings.change(() => void one.store.tags.update('a', { name }));
  log.isHeard = () => false;
  await rename('new');
  log.vandalize('tag/a');
  const late = box(t, log);
  await late.settings.follow();
  await other.settings.check();
  assert.match(other.settings.fault ?? '', /written over .* tag\/a/);
  assert.deepEqual(other.store.tags.list(), [tag('a', 'old')]);
  await one.settings.check();
  for (const { store, settings } of [one, other, late]) {
    await settings.check();
    assert.deepEqual(store.tags.list(), [tag('a', 'new')]);
    assert.equal(settings.fault, null);
  }
  await rename('newest');
  log.vandalize('tag/a');
  one.store.close();
  const latest = box(t, log);
  await latest.settings.follow();
  for (const { settings, time } of [latest, other]) {
    await settings.check();
    time.laterMs += 61_000;
    await settings.check();
  }
  await latest.settings.check();
  for (const { store, settings } of [other, latest]) {
    assert.deepEqual(store.tags.list(), [tag('a', 'new')], 'what a box has is better than nothing');
    assert.equal(settings.fault, null);
  }
});

test('who made the last change puts right what was written over it, also after others changed something else', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  await one.settings.follow();
  await other.settings.follow();
  await one.settings.change(() => one.store.tags.create(tag('a')));
  log.vandalize('tag/a');
  await other.settings.change(() => other.store.tags.create(tag('b')));
  log.vandalize('mark');
  await assert.rejects(one.settings.check(), { code: 'cluster_unavailable', message: /last changes/ });
  await other.settings.check();
  await one.settings.check();
  for (const { store, settings } of [one, other]) {
    await settings.check();
    assert.deepEqual(idsOf(store), ['a', 'b']);
    assert.equal(settings.fault, null);
  }
});

test('what was ordered before a box was a member, or what it did long ago, is not about its recordings', async (t) => {
  const log = new ModelLog();
  const [one, joining] = [box(t, log), box(t, log)];
  const makeCamera = ({ store }: typeof one) => store.cameras.create(sampleCamera('door'));
  one.store.users.create(admin);
  makeCamera(one);
  await one.settings.follow();
  await one.settings.change(() => one.store.cameras.remove('door', { isPurged: true }));
  joining.store.users.create(admin);
  makeCamera(joining);
  await joining.settings.follow();
  assert.deepEqual(joining.store.cameras.list(), []);
  assert.equal(joining.store.cameras.deleted.find('door'), null);
  joining.store.close();
  const again = openBox(joining.folder, log);
  t.after(() => again.store.close());
  await again.settings.follow();
  assert.equal(again.store.cameras.deleted.find('door'), null);
  one.store.cameras.deleted.forget('door');
  await one.settings.change(() => void makeCamera(one));
  await again.settings.follow();
  again.store.close();
  await one.settings.change(() => one.store.cameras.remove('door', { isPurged: true }));
  const member = openBox(joining.folder, log);
  t.after(() => member.store.close());
  await member.settings.follow();
  assert.equal(member.store.cameras.deleted.find('door')?.isPurged, true, 'this one is');
});

test('where what a box had can not be kept nothing takes its place, and it is not tried all the time', async (t) => {
  const log = new ModelLog();
  const [one, joining] = [box(t, log), box(t, log)];
  for (const { store } of [one, joining]) store.users.create(admin);
  await one.settings.follow();
  joining.store.tags.create(tag('own'));
  const inTheWay = join(joining.folder, 'before.db');
  writeFileSync(inTheWay, '');
  const refused = { code: 'cluster_unavailable', message: /can't be kept/ };
  await assert.rejects(joining.settings.follow(), refused);
  rmSync(inTheWay);
  await assert.rejects(joining.settings.follow(), refused);
  assert.deepEqual(idsOf(joining.store), ['own']);
  joining.time.laterMs += 61_000;
  await joining.settings.follow();
  assert.deepEqual(idsOf(joining.store), []);
  assert.ok(existsSync(inTheWay));
});

test('who was a member of another cluster before has all of the one that it joins now', async (t) => {
  const [before, now] = [new ModelLog(), new ModelLog()];
  const [moving, member] = [box(t, before), box(t, now)];
  moving.store.users.create(admin);
  await moving.settings.follow();
  await moving.settings.change(() => moving.store.tags.create(tag('own')));
  moving.store.close();
  member.store.users.create({ ...admin, username: 'boss' });
  for (let index = 0; index < 60; index++) member.store.tags.create(tag(`old ${index}`));
  await member.settings.follow();
  // More than a mark remembers, and fewer than that since as many as there were in the other cluster.
  for (let index = 0; index < 33; index++)
    await member.settings.change(() => member.store.tags.create(tag(`new ${index}`)));
  const moved = openBox(moving.folder, now, { keyCheck: 'another' });
  t.after(() => moved.store.close());
  await moved.settings.follow();
  assert.deepEqual(moved.store.exportAll(), member.store.exportAll());
  assert.equal(moved.settings.fault, null);
});

test('however much somebody writes into the log, what a box remembers of that is little, and it stays unsure of it', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  one.store.tags.create(tag('a', 'old'));
  await one.settings.follow();
  await other.settings.follow();
  const keys = Array.from({ length: 2_000 }, (_, index) => `x/${'long'.repeat(30)}${index}`);
  log.vandalize(...keys);
  await one.settings.change(() => void one.store.tags.update('a', { name: 'new' }));
  // Over itself, so that nobody can tell what stood there, and over what the other one hasn't read.
  log.vandalize(...keys, 'tag/a');
  await one.settings.change(() => one.store.tags.create(tag('b')));
  await other.settings.follow();
  assert.ok((other.store.facts.text('cluster_copy')?.length ?? 0) < 150_000);
  other.store.close();
  const again = openBox(other.folder, log);
  t.after(() => again.store.close());
  const before = log.lastSequence;
  await again.settings.check();
  assert.equal(log.lastSequence, before, 'it writes nothing over what it may not know');
  for (let count = 0; count < 6; count++) await one.settings.check();
  await again.settings.check();
  assert.deepEqual(again.store.tags.list(), [tag('a', 'new'), tag('b')]);
  assert.deepEqual([one.settings.fault, again.settings.fault], [null, null]);
});

/** A member of three tags and a user, whose servers were lost; a new box was there first, and something was set at it. */
const replaced = async (t: TestContext, newTags: readonly string[]) => {
  const log = new ModelLog();
  const [member, fresh] = [box(t, log), box(t, log)];
  member.store.users.create(admin);
  await member.settings.follow();
  for (const id of ['a', 'b', 'c']) await member.settings.change(() => member.store.tags.create(tag(id)));
  const wipe = (created: string): void => void Object.assign(log, { entries: [], lastSequence: 0, created });
  wipe('second');
  await fresh.settings.change(() => void fresh.store.users.create({ ...admin, username: 'boss' }));
  for (const id of newTags) await fresh.settings.change(() => fresh.store.tags.create(tag(id)));
  return { log, member, fresh, wipe };
};

test('a box that had more keeps that where another one began the cluster anew, until somebody says what counts', async (t) => {
  const { member, fresh, wipe } = await replaced(t, ['new']);
  const before = member.store.exportAll();
  const refused = { code: 'cluster_unavailable', message: /begun anew.*: 2 records, where this box has 4/ };
  await assert.rejects(member.settings.check(), refused);
  await assert.rejects(member.settings.follow(), refused);
  member.time.laterMs += 61_000;
  await assert.rejects(member.settings.follow(), refused);
  assert.deepEqual(member.store.exportAll(), before);
  // The bucket is deleted: this box's count.
  wipe('third');
  await member.settings.check();
  await fresh.settings.check();
  assert.deepEqual(fresh.store.exportAll(), before);
  assert.deepEqual([member.settings.fault === null, fresh.settings.fault === null], [true, false]);
});

test('what it had can be given up by running without the cluster', async (t) => {
  const { log, member, fresh } = await replaced(t, ['new']);
  member.store.close();
  const alone = new Store(join(member.folder, 'framering.db'));
  await alone.change(() => alone.tags.create(tag('d')));
  alone.close();
  const again = openBox(member.folder, log);
  t.after(() => again.store.close());
  await again.settings.follow();
  assert.deepEqual(again.store.exportAll(), fresh.store.exportAll());
});

test('a cluster that was begun anew and has more by now takes the place of what a member had, which is told', async (t) => {
  const { member, fresh } = await replaced(t, ['x', 'y', 'z']);
  await member.settings.check();
  assert.deepEqual(member.store.exportAll(), fresh.store.exportAll());
  assert.match(member.settings.fault ?? '', /has lost changes that this box had/);
  const kept = new Store(join(member.folder, 'before.db'));
  assert.deepEqual(idsOf(kept), ['a', 'b', 'c']);
  kept.close();
});

test('a change finds out that the log is another one, and does not try it over and over', async (t) => {
  const log = new ModelLog();
  const one = box(t, log);
  one.store.users.create(admin);
  await one.settings.follow();
  await one.settings.change(() => one.store.tags.create(tag('a')));
  Object.assign(log, { entries: [], lastSequence: 0, created: 'second', appendCount: 0 });
  await one.settings.change(() => one.store.tags.create(tag('b')));
  assert.deepEqual(idsOf(one.store), ['a', 'b']);
  assert.ok(log.appendCount < 10, `it was tried ${log.appendCount} times`);
  const other = box(t, log);
  await other.settings.follow();
  assert.deepEqual(idsOf(other.store), ['a', 'b']);
});

test('what is said again of a cluster that was before is not taken over', async (t) => {
  const log = new ModelLog();
  const old = box(t, log);
  old.store.users.create(admin);
  await old.settings.follow();
  const change = (work: () => void) => old.settings.change(work);
  for (let nth = 0; nth < 40; nth += 1) await change(() => void old.store.tags.create(tag(`old-${nth}`)));
  await change(() => void old.store.users.create({ ...admin, username: 'mallory' }));
  await change(() => void old.store.users.remove('mallory'));
  old.store.close();
  const reached = log.lastSequence;
  Object.assign(log, { entries: [], lastSequence: 0, created: 'second' });
  // Its number is that of each change of before in turn.
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  // One change of many records: its number is high, and few changes were made.
  for (let nth = 0; nth < 74; nth += 1) one.store.tags.create(tag(nth === 0 ? 'new' : `new-${nth}`));
  await one.settings.follow();
  await other.settings.follow();
  let names = 0;
  while (log.lastSequence < reached) {
    await one.settings.change(() => void one.store.tags.update('new', { name: `name ${names++}` }));
    for (let nth = 0; nth < 43; nth += 1) {
      log.sayAgain(nth);
      for (const { settings } of [one, other]) await settings.follow();
    }
  }
  for (const { store, settings } of [one, other]) {
    await settings.check();
    assert.deepEqual(store.users.list(), [{ ...store.users.list()[0], username: 'root' }]);
    assert.equal(store.tags.list().length, 74);
  }
});

test('a box that was behind has all of what another one put back, wherever it had read to', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  await one.settings.follow();
  const before = log.snapshot();
  const change = (work: () => void) => one.settings.change(work);
  await change(() => void one.store.tags.create(tag('a', 'old')));
  await other.settings.follow();
  log.isHeard = () => false;
  await change(() => void one.store.tags.update('a', { name: 'new' }));
  for (const id of ['b', 'c', 'd']) await change(() => void one.store.tags.create(tag(id)));
  log.restore(before);
  // Of what is put back some has numbers up to which the other one has read.
  await one.settings.check();
  await other.settings.follow();
  for (const { settings } of [one, other]) await settings.check();
  assert.deepEqual(other.store.exportAll(), one.store.exportAll());
  assert.deepEqual(
    one.store.tags.list().map(({ name }) => name),
    ['new', 'b', 'c', 'd'],
  );
});

test('a change that the log was put back from does not return by being said again', async (t) => {
  const log = new ModelLog();
  const [one, other] = [box(t, log), box(t, log)];
  one.store.users.create(admin);
  await one.settings.follow();
  await other.settings.follow();
  const before = log.snapshot();
  await one.settings.change(() => void one.store.users.create({ ...admin, username: 'mallory' }));
  one.store.close();
  log.restore(before);
  for (let turn = 0; turn < 3; turn += 1) {
    log.sayAgain(log.toldCount - 1);
    await other.settings.follow();
    await other.settings.check();
  }
  const late = box(t, log);
  await late.settings.follow();
  for (const { store } of [other, late])
    assert.deepEqual(
      store.users.list().map(({ username }) => username),
      ['root'],
    );
});
