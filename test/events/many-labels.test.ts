import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Database } from '../../src/base/sqlite.js';
import { tempFolder } from '../support/temp-folder.js';
import { open } from './open-events.js';

test('a camera that calls what it notices something else each time has so many labels, and "other"', (t) => {
  const { clock, events } = open(t);
  const fromMs = clock.wallMs();
  const add = (label: string): void => {
    events.add({ cameraId: 'mad', type: 'rule', label, fromMs, toMs: fromMs + 1_000 });
  };
  for (let number = 0; number < 1_000; number += 1) add(`rule ${number}`);
  add('rule 7');
  const filter = { cameraIds: null, types: null, labels: null, isReviewed: null, fromMs: null, toMs: null };
  const { seen } = events.page(filter, { after: null, limit: 2_000 }, 'eve');
  assert.equal(seen.length, 1_001, 'none is lost');
  assert.equal(new Set(seen.map(({ event }) => event.label)).size, 201);
  assert.equal(seen.filter(({ event }) => event.label === 'rule 7').length, 2, 'what is known stays');
  assert.equal(events.times('mad', fromMs, fromMs)?.events.length, 1_001, 'and all count as events');
});

test('labels that no event has any more are forgotten by the next start, and those that one has are not', (t) => {
  const folder = tempFolder(t);
  const { events } = open(t, folder);
  for (let number = 0; number < 50; number += 1)
    events.add({ cameraId: 'mad', type: 'rule', label: `rule ${number}`, fromMs: 1_000, toMs: 2_000 });
  events.add({ cameraId: 'gate', type: 'rule', label: 'rule 7', fromMs: 1_000, toMs: 2_000 });
  events.forgetCamera('mad');
  const rules = {
    ...{ beforeMs: new Map([['gate', null]]), ofNoCameraMs: null, maxEvents: 1_000 },
    usernames: new Set<string>(),
  };
  while (events.prune(rules));
  events.stop();
  const second = open(t, folder).events;
  const db = new Database(join(folder, 'events.db'), { readonly: true });
  t.after(() => db.close());
  assert.deepEqual(db.prepare('SELECT label FROM kinds').pluck().all(), ['rule 7']);
  const again = second.add({ cameraId: 'gate', type: 'rule', label: 'rule 8', fromMs: 3_000, toMs: 4_000 });
  assert.equal(second.find(again.id, 'eve')?.event.label, 'rule 8');
  assert.equal(second.times('gate', 0, 5_000)?.events.length, 2);
});
