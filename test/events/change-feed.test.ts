import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLogger } from '../../src/base/log.js';
import { ChangeFeed, type Watched } from '../../src/events/change-feed.js';
import type { Happening } from '../../src/events/event-hub.js';
import { FakeClock } from '../support/fake-clock.js';

type Thing = Readonly<Record<string, unknown>>;

const setUp = (changes: Partial<Watched> = {}) => {
  const clock = new FakeClock();
  const told: Happening[] = [];
  const logged: string[] = [];
  const things = new Map<string, Thing>();
  const seen = { revision: 0, looks: 0 };
  const watched: Watched = {
    ...{ topic: 'config', needs: 'tags.read', prefix: 'tags/', areCameras: false, fields: null },
    revision: () => seen.revision,
    things: () => {
      seen.looks++;
      return things;
    },
    ...changes,
  };
  const log = createLogger((_level, message) => logged.push(message));
  const hub = { publish: (happening: Happening) => void told.push(happening) };
  const feed = new ChangeFeed([watched], { clock, log, hub });
  const put = (id: string, thing: Thing): void => {
    things.set(id, thing);
    seen.revision++;
  };
  return { clock, told, logged, things, seen, feed, put };
};

test('what is new, changed and gone is told, with the fields that changed and who may hear of it', () => {
  const { clock, told, things, seen, feed, put } = setUp();
  put('old', { id: 'old', name: 'Old', list: ['a'] });
  feed.start();
  put('old', { id: 'old', name: 'New', list: ['a'] });
  put('made', { id: 'made', name: 'Made' });
  clock.advance(250);
  things.delete('made');
  seen.revision++;
  clock.advance(250);
  const of = { topic: 'config', needs: 'tags.read', cameraId: null };
  assert.deepEqual(told, [
    { ...of, id: 'tags/old', set: { name: 'New' } },
    { ...of, id: 'tags/made', set: { id: 'made', name: 'Made' } },
    { ...of, id: 'tags/made', set: { deleted: true } },
  ]);
  feed.stop();
  assert.equal(clock.pendingTimers, 0);
});

test('nothing is looked at while the revision is the same', () => {
  const { clock, seen, feed, put } = setUp();
  feed.start();
  clock.advance(10_000);
  assert.equal(seen.looks, 1);
  put('a', {});
  clock.advance(10_000);
  assert.equal(seen.looks, 2);
});

test('a thing that changes all the time is told of once a second, and its last change is not lost', () => {
  const { clock, told, feed, put } = setUp({ areCameras: true, prefix: '', fields: ['state'] });
  put('door', { state: 0, fps: 1 });
  feed.start();
  for (let change = 1; change <= 20; change++) {
    put('door', { state: change, fps: 1 });
    clock.advance(100);
  }
  const before = told.length;
  assert.ok(before === 2 || before === 3, `${before} events in 2 s`);
  clock.advance(1_000);
  assert.deepEqual([told.at(-1)?.set, told.at(-1)?.cameraId], [{ state: 20 }, 'door']);
  put('door', { state: 20, fps: 2 });
  clock.advance(2_000);
  assert.equal(told.length, before + 1, 'a figure is no event');
});

test('what is back as it was is told all the same: a reader may have looked in between', () => {
  const { clock, told, feed, put } = setUp();
  put('door', { state: 'a', other: 1 });
  feed.start();
  for (const state of ['b', 'c', 'b']) {
    put('door', { state, other: 1 });
    clock.advance(250);
  }
  clock.advance(1_000);
  assert.deepEqual(
    told.map(({ set }) => set),
    [{ state: 'b' }, { state: 'b' }],
  );
});

test('a source that fails is said once, and looked at again', () => {
  const faults = { isBroken: false };
  const { clock, told, logged, feed } = setUp({
    revision: null,
    things: () => {
      if (faults.isBroken) throw new Error('no database');
      return [['a', { is: faults.isBroken }]];
    },
  });
  feed.start();
  faults.isBroken = true;
  clock.advance(5_000);
  assert.equal(logged.length, 1);
  faults.isBroken = false;
  clock.advance(1_000);
  assert.deepEqual(told, []);
});

test('whatever happens, who adds up what was told has the things as they are', () => {
  const change = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    thing: fc.option(
      fc.record(
        {
          x: fc.integer({ min: 0, max: 2 }),
          list: fc.array(fc.constantFrom('p', 'q'), { maxLength: 2 }),
        },
        { noNullPrototype: true },
      ),
    ),
    waitMs: fc.integer({ min: 0, max: 1_500 }),
  });
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 30 }),
      fc.array(change, { maxLength: 3 }),
      (changes, before) => {
        const { clock, told, things, seen, feed, put } = setUp({ prefix: '' });
        for (const { id, thing } of before) if (thing !== null) put(id, thing);
        const page = new Map<string, Thing>(things);
        feed.start();
        for (const { id, thing, waitMs } of changes) {
          if (thing !== null) put(id, thing);
          else if (things.delete(id)) seen.revision++;
          clock.advance(waitMs);
        }
        clock.advance(2_000);
        for (const { id, set } of told) {
          if (set['deleted'] === true) page.delete(id);
          else page.set(id, { ...page.get(id), ...set });
        }
        assert.deepEqual(new Map([...page].sort()), new Map([...things].sort()));
      },
    ),
  );
});
