import assert from 'node:assert/strict';
import { test } from 'node:test';
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
