import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addChange, applyChanges, Looks, oneAtATime } from '../../src/web/data/looks.js';

test('no late answer undoes what a later one said, or what was told since it was asked for', () => {
  const looks = new Looks();
  const first = looks.begin();
  looks.tell(['gate', { state: 'streaming' }]);
  const second = looks.begin();
  looks.tell(['yard', { deleted: true }]);
  assert.deepEqual(looks.answered(first), [
    ['gate', { state: 'streaming' }],
    ['yard', { deleted: true }],
  ]);
  assert.deepEqual(looks.answered(second), [['yard', { deleted: true }]]);
  looks.end();
  looks.end();
  looks.tell(['gate', { state: 'error' }]);
  const third = looks.begin();
  const fourth = looks.begin();
  assert.deepEqual(looks.answered(fourth), [], 'what was told before it was asked for it knows');
  assert.equal(looks.answered(third), null, 'it is overtaken');
  const fifth = looks.begin();
  looks.forget();
  assert.equal(looks.answered(fifth), null, 'somebody else asked');

  const rows = new Map([['gate', { id: 'gate', state: 'error' }]]);
  assert.equal(applyChanges(rows, [['gate', { state: 'standby' }]]), false);
  assert.deepEqual(rows.get('gate'), { id: 'gate', state: 'standby' });
  assert.equal(applyChanges(rows, [['new', { state: 'standby' }]]), true, 'one that has to be asked for');
  assert.equal(applyChanges(rows, [['gate', { deleted: true }]]), false);
  assert.equal(rows.size, 0);
});

test('what is made again after its end is another one, and not what was deleted', () => {
  const waiting = new Map<string, readonly object[]>();
  for (const set of [
    { state: 'error' },
    { fps: 25 },
    { deleted: true },
    { id: 'gate' },
    { state: 'streaming' },
  ])
    addChange(waiting, ['gate', set]);
  assert.deepEqual(waiting.get('gate'), [{ deleted: true }, { id: 'gate', state: 'streaming' }]);
  const rows = new Map([['gate', { id: 'gate', state: 'error' }]]);
  const changes = [...waiting].flatMap(([id, sets]) => sets.map((set) => [id, set] as const));
  assert.equal(applyChanges(rows, changes), true, 'it has to be asked for');
  addChange(waiting, ['gate', { deleted: true }]);
  assert.deepEqual(waiting.get('gate'), [{ deleted: true }]);
  addChange(waiting, ['yard', { state: 'error' }]);
  addChange(waiting, ['yard', { state: 'standby', fps: 0 }]);
  assert.deepEqual(waiting.get('yard'), [{ state: 'standby', fps: 0 }]);
});

test('one look at a time, and one behind it for all who ask meanwhile', async () => {
  const ends: (() => void)[] = [];
  const look = oneAtATime(() => new Promise((resolve) => ends.push(resolve)));
  const [first, second, third] = [look(), look(), look()];
  assert.equal(ends.length, 1);
  assert.equal(second, third);
  ends[0]?.();
  await first;
  await new Promise(setImmediate);
  assert.equal(ends.length, 2, 'what was asked meanwhile may not have been seen by the first');
  const fourth = look();
  ends[1]?.();
  await second;
  await new Promise(setImmediate);
  ends[2]?.();
  await fourth;
  assert.equal(ends.length, 3);
  const failing = oneAtATime(() => Promise.reject(new Error('away')));
  const both = [failing(), failing()];
  for (const each of both) await assert.rejects(each, /away/);
});
