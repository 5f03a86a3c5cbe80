import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Database } from '../../src/base/sqlite.js';
import type { EventType, KeptEvent } from '../../src/events/kept/event.js';
import { eventIdOf, eventIdText } from '../../src/events/kept/event.js';
import { EventLog } from '../../src/events/kept/event-log.js';
import type { EventFilter } from '../../src/events/kept/event-pages.js';
import type { Place } from '../../src/events/kept/event-tables.js';
import type { PruneRules } from '../../src/events/kept/pruning.js';
import { logLines } from '../archive/log-lines.js';
import { tempFolder } from '../support/temp-folder.js';

import { all, ids, manyEvents, open } from './open-events.js';

test('an id names one event, in few characters that are no other id', () => {
  for (const id of [1, 35, 36, 1_800_000_000_000_000]) assert.equal(eventIdOf(eventIdText(id)), id);
  for (const text of ['', '0', '01', '-1', 'A', 'x y', '1.5', 'zzzzzzzzzzzz'])
    assert.equal(eventIdOf(text), null);
});

test('what happened is there at once, changes, and outlives the process', (t) => {
  const { clock, events, folder } = open(t);
  const told: [number, object | null][] = [];
  events.changed.on(({ id }, changes) => void told.push([id, changes]));
  const fromMs = clock.wallMs();
  const lost = events.add({ cameraId: 'gate', type: 'camera_lost', fromMs, detail: 'x'.repeat(999) });
  const seen = events.add({ cameraId: 'gate', type: 'detection', label: 'dog', score: 0.5, fromMs });
  events.change(seen.id, { score: 0.75, toMs: fromMs + 1_000.4 });
  events.change(lost.id + 7, { toMs: fromMs });
  assert.deepEqual(told, [
    [lost.id, null],
    [seen.id, null],
    [seen.id, { score: 0.75, toMs: fromMs + 1_000 }],
  ]);
  assert.deepEqual(ids(events), [seen.id, lost.id]);
  // Without anybody who asks it is on the disk within half a second; a process that is killed stops nothing.
  const later = events.add({ cameraId: 'yard', type: 'storage', fromMs: fromMs + 1 });
  clock.advance(500);
  const other = new EventLog(join(folder, 'events.db'), { clock, log: logLines().log });
  t.after(() => other.stop());
  assert.deepEqual(ids(other), [later.id, seen.id, lost.id]);
  const { event } = other.find(seen.id, 'eve') ?? {};
  assert.deepEqual(event, { ...seen, score: 0.75, toMs: fromMs + 1_000 });
  assert.equal(other.find(lost.id, 'eve')?.event.detail.length, 256);
  assert.deepEqual(
    other.open().map(({ id }) => id),
    [lost.id, later.id],
  );
  assert.ok(
    other.add({ cameraId: '', type: 'storage', fromMs: 0 }).id > later.id,
    'though the clock stands still',
  );
});

const newestFirst = (a: KeptEvent, b: KeptEvent): number => b.fromMs - a.fromMs || b.id - a.id;

test('any filter gives what a plain look at all events gives, page by page, whatever comes meanwhile', (t) => {
  const { clock, events } = open(t);
  const startMs = clock.wallMs();
  const made = manyEvents(events, startMs);
  const reviewed = new Set(made.filter((_, index) => index % 3 === 0).map(({ id }) => id));
  assert.equal(events.review('eve', [...reviewed, 5], true), reviewed.size);
  const sets = <Item>(...values: (Item | null)[]): (ReadonlySet<Item> | null)[] =>
    values.map((value) => (value === null ? null : new Set([value])));
  const filters: EventFilter[] = [];
  for (const cameraIds of [null, new Set(['b']), new Set(['a', 'c', 'nowhere']), new Set<string>()])
    for (const types of sets<string>(null, 'detection', 'motion'))
      for (const labels of sets<string>(null, 'dog'))
        for (const isReviewed of [null, true, false])
          for (const [fromMs, toMs] of [
            [null, null],
            [startMs + 50, startMs + 90],
          ] as const)
            filters.push({ cameraIds, types, labels, isReviewed, fromMs, toMs });
  for (const filter of filters) {
    const wanted = made
      .filter(
        ({ id, cameraId, type, label, fromMs }) =>
          (filter.cameraIds?.has(cameraId) ?? true) &&
          (filter.types?.has(type) ?? true) &&
          (filter.labels?.has(label) ?? true) &&
          (filter.isReviewed ?? reviewed.has(id)) === reviewed.has(id) &&
          fromMs >= (filter.fromMs ?? 0) &&
          fromMs < (filter.toMs ?? Number.POSITIVE_INFINITY),
      )
      .sort(newestFirst);
    for (const order of ['newest_first', 'oldest_first'] as const) {
      const found: number[] = [];
      for (let after: Place | null = null, pages = 0; ; pages++) {
        const page = events.page(filter, { after, limit: 41, order }, 'eve');
        for (const { event, isReviewed } of page.seen) {
          found.push(event.id);
          assert.equal(isReviewed, reviewed.has(event.id));
        }
        if (page.next === null) break;
        after = page.next;
        assert.ok(pages < 20);
      }
      const inOrder = wanted.map(({ id }) => id);
      assert.deepEqual(
        found,
        order === 'newest_first' ? inOrder : inOrder.toReversed(),
        `${order} ${JSON.stringify({ ...filter, cameraIds: [...(filter.cameraIds ?? [])] })}`,
      );
    }
  }
  const first = events.page(all, { after: null, limit: 10 }, 'eve').seen.map(({ event }) => event);
  events.add({ cameraId: 'a', type: 'detection', label: 'new', fromMs: startMs + 999 });
  const second = events.page(all, { after: first[9]!, limit: 10 }, 'eve').seen.map(({ event }) => event.id);
  const inOrder = made.toSorted(newestFirst).map(({ id }) => id);
  assert.deepEqual(
    [...first.map(({ id }) => id), ...second],
    inOrder.slice(0, 20),
    'nothing twice, nothing left out',
  );
});

test('what is left to review is found in bounded steps, wherever it is', (t) => {
  const { events } = open(t);
  const made = Array.from({ length: 9_500 }, (_, index) =>
    events.add({ cameraId: index % 2 === 0 ? 'a' : 'b', type: 'motion', fromMs: 1_000 + index }),
  );
  const left = [made[0]!.id, made[4_700]!.id];
  for (let at = 0; at < made.length; at += 1_000)
    events.review(
      'eve',
      made
        .slice(at, at + 1_000)
        .map(({ id }) => id)
        .filter((id) => !left.includes(id)),
      true,
    );
  for (const cameraIds of [null, new Set(['a'])])
    for (const order of ['newest_first', 'oldest_first'] as const) {
      const found: number[] = [];
      let pages = 0;
      for (let after: Place | null = null; ; pages++) {
        const page = events.page({ ...all, cameraIds, isReviewed: false }, { after, limit: 5, order }, 'eve');
        found.push(...page.seen.map(({ event }) => event.id));
        if (page.next === null) break;
        after = page.next;
      }
      assert.deepEqual(found, order === 'newest_first' ? left.toReversed() : left);
      assert.equal(pages, cameraIds === null ? 2 : 1, 'no page looks through more than 4,000');
    }
});

test('who has seen what is each one’s own, and can be taken back', (t) => {
  const { events } = open(t);
  const made = [1, 2, 3].map((fromMs) => events.add({ cameraId: 'a', type: 'motion', fromMs }).id);
  events.review('eve', made.slice(0, 2), true);
  events.review('eve', made.slice(0, 2), true);
  assert.deepEqual(ids(events, { isReviewed: false }), [made[2]]);
  assert.deepEqual(ids(events, { isReviewed: false }, 'adam'), made.toReversed());
  events.review('eve', [made[0]!], false);
  assert.deepEqual(ids(events, { isReviewed: true }), [made[1]]);
});

test('a tape is told how many were seen when, by label', (t) => {
  const { events } = open(t);
  const see = (cameraId: string, label: string, fromSec: number, toSec: number | null): number =>
    events.add({
      ...{ cameraId, label, type: 'detection', fromMs: fromSec * 1_000 },
      toMs: toSec === null ? null : toSec * 1_000,
    }).id;
  see('a', 'person', 95, 101);
  see('a', 'person', 111, 135);
  see('a', 'person', 80, 99);
  see('a', 'dog', 125, null);
  see('a', 'cat', 140, 141);
  see('b', 'car', 110, 120);
  events.add({ cameraId: 'a', type: 'camera_lost', fromMs: 110_000 });
  assert.deepEqual(events.labelBuckets('a', { fromMs: 100_000, toMs: 140_000, bucketMs: 10_000 }), {
    person: [1, 1, 1, 1],
    dog: [0, 0, 1, 1],
  });
  assert.deepEqual(events.labelBuckets('none', { fromMs: 0, toMs: 1, bucketMs: 1 }), {});
});

test('motion is told by how much of each bucket it lasted, once where several things told of it', (t) => {
  const { events } = open(t);
  const move = (cameraId: string, fromSec: number, toSec: number | null, label = ''): void =>
    void events.add({
      ...{ cameraId, type: 'motion', label, fromMs: fromSec * 1_000 },
      toMs: toSec === null ? null : toSec * 1_000,
    });
  const buckets = { fromMs: 100_000, toMs: 145_000, bucketMs: 10_000 };
  assert.deepEqual(events.motionBuckets('a', buckets), []);
  move('a', 90, 105);
  move('a', 104, 110, 'left');
  move('a', 115, 115);
  move('a', 121, 122);
  move('a', 127, 129, 'left');
  move('a', 142, null);
  move('b', 100, 140);
  events.add({ cameraId: 'a', type: 'detection', label: 'person', fromMs: 130_000, toMs: 140_000 });
  assert.deepEqual(events.motionBuckets('a', buckets), [255, 1, 77, 0, 77]);
});

const DAY_MS = 86_400_000;

test('when events were is told of those for which is recorded, however long ago they began', (t) => {
  const { clock, events, folder } = open(t);
  const nowMs = clock.wallMs();
  const HOUR_MS = 3_600_000;
  const add = (type: EventType, fromMs: number, toMs: number | null, cameraId = 'gate') =>
    events.add({ cameraId, type, label: type === 'detection' ? 'cat' : '', fromMs, toMs });
  add('motion', nowMs - 60_000, nowMs - 50_000);
  add('rule', nowMs - 9 * HOUR_MS, nowMs - 55_000);
  add('detection', nowMs - 5 * HOUR_MS, null);
  for (const type of ['camera_lost', 'recording_gap', 'storage'] as const) add(type, nowMs - 60_000, null);
  add('motion', nowMs - 60_000, nowMs, 'yard');
  add('detection', nowMs - 70_000, nowMs - 58_001);
  add('detection', nowMs - 51_999, nowMs - 51_000);
  add('rule', nowMs - 3 * HOUR_MS, nowMs - HOUR_MS);
  const times = events.times('gate', nowMs - 58_000, nowMs - 52_000);
  assert.deepEqual(
    times?.events.map(({ fromMs, toMs }) => [fromMs - nowMs, toMs === null ? null : toMs - nowMs]).sort(),
    [
      [-5 * HOUR_MS, null],
      [-60_000, -50_000],
      [-9 * HOUR_MS, -55_000],
    ].sort(),
  );
  assert.equal(times?.sinceMs, nowMs, 'what happened before is in no file');
  assert.equal(events.times('shed', 0, nowMs)?.events.length, 0);
  clock.advance(5_000);
  const other = new EventLog(join(folder, 'events.db'), { clock, log: logLines().log });
  t.after(() => other.stop());
  assert.equal(other.times('gate', nowMs, nowMs)?.sinceMs, nowMs);
  assert.equal(other.aliveMs, nowMs + 5_000, 'an event went on');
  clock.advance(5_000);
  assert.equal(other.aliveMs, nowMs + 5_000, 'of the service before this one, whenever it is asked for');
});

test('when events were is known by nobody while they are in memory, or lost', (t) => {
  const { clock, events, folder } = open(t);
  assert.ok(events.isLasting);
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, `events.db${suffix}`), { force: true });
  clock.advance(5_000);
  assert.equal(
    events.times('gate', 0, 1)?.sinceMs,
    clock.wallMs() + 60_000,
    'what went on was in another file',
  );
  const inTheWay = tempFolder(t);
  mkdirSync(join(inTheWay, 'events.db'));
  const { events: kept } = open(t, inTheWay);
  assert.deepEqual([kept.isLasting, kept.times('gate', 0, 1)], [false, null]);
});

test('events go with their recordings, their camera, and when there are too many; protected ones stay', (t) => {
  const { clock, events, folder } = open(t);
  const nowMs = clock.wallMs();
  const add = (cameraId: string, agoDays: number, isOpen = false): number => {
    const fromMs = nowMs - agoDays * DAY_MS;
    return events.add({ cameraId, type: 'motion', fromMs, toMs: isOpen ? null : fromMs + 1 }).id;
  };
  const [oldOpen, kept, late] = [add('a', 9, true), add('a', 8), add('a', 1)];
  for (const days of [8, 9]) add('a', days);
  const forEver = add('b', 99);
  const gone = [add('gone', 1), add('gone', 2)];
  events.protect(kept, true);
  assert.deepEqual(events.protectedSpans(), [
    { cameraId: 'a', fromMs: nowMs - 8 * DAY_MS - 10_000, toMs: nowMs - 8 * DAY_MS + 10_001 },
  ]);
  events.review('eve', [late, forEver], true);
  events.review('adam', [late], true);
  events.forgetCamera('gone');
  assert.ok(!ids(events).some((id) => gone.includes(id)), 'a deleted camera has none at once');
  assert.equal(ids(events).length, 6);
  assert.equal(events.find(gone[0]!, 'eve'), null);
  const again = add('gone', 0);
  const rules: PruneRules = {
    beforeMs: new Map([
      ['a', nowMs - 7 * DAY_MS],
      ['b', null],
      ['gone', null],
    ]),
    ofNoCameraMs: nowMs,
    maxEvents: 100,
    usernames: new Set(['eve']),
  };
  while (events.prune(rules));
  assert.deepEqual(ids(events), [again, late, kept, oldOpen, forEver]);
  assert.deepEqual(ids(events, { isReviewed: true }), [late, forEver]);
  assert.deepEqual(ids(events, { isReviewed: true }, 'adam'), [], 'who is no more');
  for (let isMore = true; isMore; ) isMore = events.prune({ ...rules, maxEvents: 3 });
  assert.deepEqual(ids(events), [again, kept, oldOpen], 'the oldest that may go');
  events.protect(kept, false);
  assert.deepEqual(events.protectedSpans(), []);
  events.stop();
  assert.deepEqual(readdirSync(folder), ['events.db']);
});

test('what went because there are too many counts as unknown from then on, what went by its age does not', (t) => {
  const { clock, events } = open(t);
  const startMs = clock.wallMs();
  clock.advance(10 * DAY_MS);
  for (const [day, lastedMs] of [
    [1, 50],
    [2, DAY_MS * 3],
    [3, 10],
    [8, 0],
    [9, 0],
  ] as const) {
    const fromMs = startMs + day * DAY_MS;
    events.add({ cameraId: 'a', type: 'motion', fromMs, toMs: fromMs + lastedMs });
  }
  const rules = { ofNoCameraMs: null, usernames: new Set<string>() };
  const sinceMs = (): number => (events.times('a', startMs, startMs)?.sinceMs ?? 0) - startMs;
  while (events.prune({ ...rules, maxEvents: 9, beforeMs: new Map([['a', startMs + 2 * DAY_MS]]) }));
  assert.equal(sinceMs(), 0);
  while (events.prune({ ...rules, maxEvents: 2, beforeMs: new Map([['a', null]]) }));
  assert.equal(ids(events).length, 2);
  assert.equal(sinceMs(), 5 * DAY_MS + 1, 'where the last of those that went was over');
});

test('of cameras and labels without end some are looked at in a step, and all in the end', (t) => {
  const { events } = open(t);
  const cameraIds = Array.from({ length: 1_000 }, (_, at) => `c${at}`);
  for (const cameraId of cameraIds)
    for (const fromMs of [1, 100]) events.add({ cameraId, type: 'motion', fromMs, toMs: fromMs });
  const rules: PruneRules = {
    ...{ beforeMs: new Map(cameraIds.map((id) => [id, 50])), ofNoCameraMs: null, maxEvents: 5_000 },
    usernames: new Set(),
  };
  let steps = 1;
  while (events.prune(rules)) steps += 1;
  assert.equal(ids(events).length, 1_000);
  assert.equal(ids(events, { toMs: 50 }).length, 0);
  assert.ok(steps > 3, `${steps} steps`);
});

test('what a user had reviewed who is gone goes a step at a time', (t) => {
  const { events, folder } = open(t);
  const made = Array.from({ length: 2_500 }, (_, at) =>
    events.add({ cameraId: 'a', type: 'motion', fromMs: at, toMs: at }),
  ).map(({ id }) => id);
  for (const username of ['adam', 'eve', 'zoe']) events.review(username, made, true);
  const rules: PruneRules = {
    ...{ beforeMs: new Map([['a', null]]), ofNoCameraMs: null, maxEvents: 5_000 },
    usernames: new Set(['eve']),
  };
  const other = new Database(join(folder, 'events.db'), { readonly: true });
  t.after(() => other.close());
  const count = other.prepare<[], number>('SELECT count(*) FROM reviews').pluck();
  const left: (number | undefined)[] = [];
  for (let isMore = true; isMore; left.push(count.get())) isMore = events.prune(rules);
  assert.deepEqual(left, [5_500, 3_500, 2_500]);
  assert.equal(events.page({ ...all, isReviewed: true }, { after: null, limit: 1 }, 'eve').seen.length, 1);
});
