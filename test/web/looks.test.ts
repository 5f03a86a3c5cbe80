import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChanges, Looks } from '../../src/web/data/looks.js';

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
