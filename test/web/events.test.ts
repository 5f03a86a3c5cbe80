import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scenesOf } from '../../src/web/data/kept-event.js';
import { groupEvents, holds } from '../../src/web/pages/events/group-events.js';
import { withNewest } from '../../src/web/pages/events/merge-events.js';

const T = Date.UTC(2026, 10, 20, 2, 14);
const event = (camera: string, label: string, fromSec: number, toSec: number | null, reviewed = false) => ({
  id: `e${camera}${label}${fromSec}`,
  ...{ camera_id: camera, type: 'detection' as const, label, score: 0.9, detail: '', reviewed },
  ...{ protected: false, from: new Date(T + fromSec * 1000).toISOString() },
  to: toSec === null ? null : new Date(T + toSec * 1000).toISOString(),
});

test('events of one camera and label within ten seconds are one card, whatever lies between them', () => {
  const groups = groupEvents([
    event('gate', 'person', 100, null),
    event('gate', 'person', 40, 50),
    event('yard', 'person', 39, 41),
    event('gate', 'car', 38, 41),
    event('gate', 'person', 20, 30, true),
    event('gate', 'person', 5, 9, true),
  ]);
  const shown = groups.map(({ camera, label, events, fromMs, toMs, isReviewed }) => [
    ...[camera, label, events.length, (fromMs - T) / 1000, toMs === null ? null : (toMs - T) / 1000],
    isReviewed,
  ]);
  assert.deepEqual(shown, [
    ['gate', 'person', 1, 100, null, false],
    ['gate', 'person', 2, 20, 50, false],
    ['yard', 'person', 1, 39, 41, false],
    ['gate', 'car', 1, 38, 41, false],
    ['gate', 'person', 1, 5, 9, true],
  ]);
});

test('one goes to events of the label or the kind that the address asks for, else to all that can be seen', () => {
  const all = ['detection', 'motion', 'rule', 'camera_lost'];
  assert.deepEqual(scenesOf(null), { types: all });
  assert.deepEqual(scenesOf('label:person'), { types: all, labels: ['person'] });
  assert.deepEqual(scenesOf('motion'), { types: ['motion'] });
  assert.deepEqual(scenesOf('storage'), { types: all }, 'that is no scene');
});

test('a card that is open stays open when more happens there', () => {
  const before = event('gate', 'person', 20, 25);
  const after = event('gate', 'person', 30, null);
  const [opened] = groupEvents([before]);
  const [grown, other] = groupEvents([after, before, event('yard', 'person', 20, 25)]);
  assert.equal(opened?.id, before.id);
  assert.equal(grown?.id, after.id, 'its newest event gives the card its picture');
  assert.ok(grown !== undefined && holds(grown, before.id));
  assert.ok(other !== undefined && !holds(other, before.id) && !holds(other, null));
});

test('new events come before those that were known, no more stay than is wanted, and a hole is told', () => {
  const of = (...seconds: number[]) => seconds.map((sec) => event('gate', 'person', sec, sec + 1));
  const ids = (merged: ReturnType<typeof withNewest>) => merged?.events.map(({ id }) => id);
  const known = of(30, 20, 10);
  const added = withNewest(known, of(40, 30), true, 10);
  assert.deepEqual([ids(added), added?.isCut], [of(40, 30, 20, 10).map(({ id }) => id), false]);
  const cut = withNewest(known, of(40, 30), true, 3);
  assert.deepEqual([ids(cut), cut?.isCut], [of(40, 30, 20).map(({ id }) => id), true]);
  assert.equal(withNewest(known, of(60, 50), true, 10), null, 'what lies between is not known');
  assert.deepEqual(
    ids(withNewest([], of(20), false, 10)),
    of(20).map(({ id }) => id),
  );
  // One that is no longer told of, though its time is, is gone.
  assert.deepEqual(
    ids(withNewest(known, of(40, 10), false, 10)),
    of(40, 10).map(({ id }) => id),
  );
});
