import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Cell, Suspects } from '../../../src/camera/fleet/suspects.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE_MS = 60_000;

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `camera-${index}`);

/** Threads as the fleet would keep them: one for all, and one for each cell; a killer ends the one it is in. */
class Threads {
  readonly clock = new FakeClock();
  readonly suspects = new Suspects(this.clock);
  readonly ids: readonly string[];
  readonly #killers: ReadonlySet<string>;
  deaths = 0;
  mostCells = 0;

  constructor(count: number, killers: readonly string[]) {
    this.ids = idsOf(count);
    this.#killers = new Set(killers);
  }

  get heldOff(): string[] {
    return this.ids.filter((id) => this.suspects.heldOff(id) !== null);
  }

  /** Every camera that may connect does, then threads die, then time passes. */
  round(): void {
    const threads = new Map<Cell | null, string[]>();
    for (const id of this.ids) {
      if (this.suspects.heldOff(id) !== null) continue;
      const cell = this.suspects.cellOf(id);
      threads.set(cell, [...(threads.get(cell) ?? []), id]);
    }
    this.mostCells = Math.max(this.mostCells, threads.size - (threads.has(null) ? 1 : 0));
    for (const ids of threads.values()) {
      if (!ids.some((id) => this.#killers.has(id))) continue;
      this.deaths += 1;
      this.suspects.threadDied(ids);
    }
    this.clock.advance(5_000);
    this.suspects.clear();
  }
}

test('one camera of 128 is found with the ninth death of a thread, and no other is held off', () => {
  const threads = new Threads(128, ['camera-77']);
  for (let round = 0; round < 9; round += 1) threads.round();
  assert.equal(threads.deaths, 9);
  assert.deepEqual(threads.heldOff, ['camera-77']);
  assert.deepEqual(
    threads.ids.filter((id) => threads.suspects.of(id) === 'found_out'),
    ['camera-77'],
  );
  assert.ok(threads.mostCells <= 8);
});

test('a thread that dies once says nothing of its cameras, nor does a second death long after', () => {
  const clock = new FakeClock();
  const suspects = new Suspects(clock);
  const ids = idsOf(128);
  for (let death = 0; death < 3; death += 1) {
    suspects.threadDied(ids);
    assert.ok(ids.every((id) => suspects.cellOf(id) === null && suspects.heldOff(id) === null));
    clock.advance(6 * MINUTE_MS);
  }
});

test('only those that were there both times are suspects', () => {
  const suspects = new Suspects(new FakeClock());
  suspects.threadDied(['a', 'b', 'c']);
  suspects.threadDied(['b', 'd', 'e']);
  assert.deepEqual([...(suspects.cellOf('b')?.members ?? [])], ['b']);
  for (const id of ['a', 'c', 'd', 'e']) assert.equal(suspects.cellOf(id), null);
});

test('those that had no session when the thread of their cell died are let go', () => {
  const suspects = new Suspects(new FakeClock());
  const ids = idsOf(8);
  for (let death = 0; death < 2; death += 1) suspects.threadDied(ids);
  const [first, second, third] = [...suspects.cellOf('camera-0')!.members];
  suspects.threadDied([first!, second!]);
  assert.equal(suspects.cellOf(third!), null);
  assert.deepEqual([...suspects.cellOf(first!)!.members], [first]);
});

test('suspects whose thread lives are cleared after some minutes; the one that was found out after an hour', () => {
  const threads = new Threads(16, ['camera-3']);
  for (let round = 0; round < 6; round += 1) threads.round();
  const { suspects, clock } = threads;
  assert.deepEqual(threads.heldOff, ['camera-3']);
  assert.notEqual(suspects.cellOf('camera-4'), null);
  clock.advance(6 * MINUTE_MS);
  assert.equal(suspects.clear().length, 15);
  assert.equal(suspects.cellOf('camera-4'), null);
  assert.equal(suspects.heldOff('camera-3'), null, 'it is tried again');
  assert.notEqual(suspects.cellOf('camera-3'), null, 'in a thread of its own');
  clock.advance(61 * MINUTE_MS);
  assert.deepEqual(suspects.clear(), ['camera-3']);
  assert.equal(suspects.cellOf('camera-3'), null);
});

test('the one that was found out is tried again more and more seldom, and is told how often and when', () => {
  const clock = new FakeClock();
  const suspects = new Suspects(clock);
  const delays: number[] = [];
  suspects.threadDied(['a']);
  for (let death = 0; death < 6; death += 1) {
    suspects.threadDied(['a']);
    const held = suspects.heldOff('a');
    assert.ok(held !== null);
    delays.push(held.delayMs / MINUTE_MS);
    if (death === 1) assert.match(held.reason, /2 threads that it had for itself.* in 120 s$/);
    clock.advance(held.delayMs);
    assert.equal(suspects.heldOff('a'), null);
  }
  assert.deepEqual(delays, [1, 2, 4, 8, 15, 15]);
});

test('of those that ended threads elsewhere 32 get threads of their own at once, and the others wait for none', () => {
  const suspects = new Suspects(new FakeClock());
  const ids = idsOf(60);
  for (const id of ids) suspects.suspect(id);
  const asking = ids.slice(20);
  assert.ok(asking.every((id) => suspects.heldOff(id) === null));
  assert.equal(asking.filter((id) => suspects.cellOf(id)?.members.size === 1).length, 32);
  for (let death = 0; death < 2; death += 1) suspects.threadDied(['a', 'b']);
  assert.ok(
    ['a', 'b'].every((id) => suspects.heldOff(id) === null),
    'whoever is sought has room beside them',
  );
});

test("cameras of others' word whose threads all die once hold up nobody who is sought here", () => {
  const clock = new FakeClock();
  const suspects = new Suspects(clock);
  const ids = idsOf(20);
  for (const id of ids) suspects.suspect(id);
  for (const id of ids) suspects.heldOff(id);
  for (const id of ids) suspects.threadDied([id]);
  clock.advance(MINUTE_MS);
  assert.ok(ids.every((id) => suspects.heldOff(id) === null));
  for (let death = 0; death < 2; death += 1) suspects.threadDied(['a', 'b']);
  assert.ok(['a', 'b'].every((id) => suspects.heldOff(id) === null));
});

test('one that was found out, and whose place another one took, waits for five minutes at most', () => {
  const clock = new FakeClock();
  const suspects = new Suspects(clock);
  const ids = idsOf(33);
  for (const id of ids) suspects.suspect(id);
  const [killer, ...others] = ids;
  const late = others.pop()!;
  for (const id of [killer!, ...others]) suspects.heldOff(id);
  suspects.threadDied([killer!]);
  suspects.heldOff(late);
  clock.advance(MINUTE_MS);
  assert.notEqual(suspects.heldOff(killer!), null);
  clock.advance(5 * MINUTE_MS);
  suspects.clear();
  assert.equal(suspects.heldOff(killer!), null);
});

test('where one waits for a place among those told of, one of them is let go, and none that was found out here', () => {
  const clock = new FakeClock();
  const suspects = new Suspects(clock);
  const [found, late, ...others] = idsOf(33);
  suspects.suspect(found!);
  suspects.enter(found!);
  suspects.threadDied([found!]);
  clock.advance(MINUTE_MS);
  assert.equal(suspects.heldOff(found!), null);
  for (const id of others) {
    suspects.suspect(id);
    suspects.enter(id);
  }
  // It has ended two threads of its own, and so no word is needed to keep it apart.
  for (let death = 0; death < 2; death += 1) suspects.threadDied([late!]);
  suspects.suspect(late!);
  clock.advance(6 * MINUTE_MS);
  assert.notEqual(suspects.heldOff(late!), null);
  assert.deepEqual(suspects.clear(), [others[0]]);
  assert.equal(suspects.heldOff(late!), null);
  assert.deepEqual(suspects.clear(), []);
});

test('that it ended threads elsewhere is no death here: with one in a thread that is no cell it is not found out', () => {
  const suspects = new Suspects(new FakeClock());
  suspects.suspect('a');
  suspects.threadDied(['a']);
  assert.equal(suspects.of('a'), 'none');
  assert.equal(suspects.heldOff('a'), null);
  suspects.threadDied(['a']);
  assert.equal(suspects.of('a'), 'found_out');
});

for (const count of [1, 4, 16])
  test(`one of ${count} that all rest after each thread that it ended is found, though they come to others each time`, () => {
    const clock = new FakeClock();
    const suspects = new Suspects(clock);
    const wall = idsOf(count);
    const [killer] = wall;
    let visits = 0;
    for (; visits < 12 && suspects.of(killer!) !== 'found_out'; visits += 1) {
      for (const id of wall) suspects.rest(id);
      clock.advance(80_000);
      suspects.clear();
      for (const id of wall) assert.equal(suspects.heldOff(id), null);
      const cell = suspects.enter(killer!);
      const others = cell === null ? [`at-${visits}`, `beside-${visits}`] : [];
      suspects.threadDied([...wall.filter((id) => suspects.cellOf(id) === cell), ...others]);
    }
    assert.equal(suspects.of(killer!), 'found_out');
    assert.ok(visits <= 3 + Math.log2(count), `${visits} visits`);
  });

test('one of which it is told while it rests keeps no place among those that are sought', () => {
  const suspects = new Suspects(new FakeClock());
  for (let death = 0; death < 2; death += 1) suspects.threadDied(['a', 'b']);
  const sought = suspects.enter('a')!;
  suspects.rest('a');
  assert.ok(suspects.isCell(sought));
  suspects.suspect('a');
  suspects.rest('a');
  assert.ok(!suspects.isCell(sought));
  assert.equal(suspects.cellOf('a')?.isToldOf, true);
});

test('a place that was kept for some who rest goes to others as soon as they need one', () => {
  const suspects = new Suspects(new FakeClock());
  const wall = idsOf(128);
  for (let death = 0; death < 8; death += 1) {
    const cell = suspects.enter(wall[0]!);
    suspects.threadDied(wall.filter((id) => suspects.cellOf(id) === cell));
  }
  for (const id of wall) suspects.rest(id);
  const recorded = Array.from({ length: 64 }, (_, index) => `recorded-${index}`);
  for (let death = 0; death < 6; death += 1) {
    const cell = suspects.enter(recorded[0]!);
    suspects.threadDied(recorded.filter((id) => suspects.cellOf(id) === cell));
    assert.ok(recorded.every((id) => suspects.heldOff(id) === null));
  }
});

test('who rests keeps no place that others wait for', () => {
  const suspects = new Suspects(new FakeClock());
  const ids = idsOf(20);
  for (let death = 0; death < 5; death += 1)
    for (const cell of new Set(ids.map((id) => suspects.cellOf(id))))
      suspects.threadDied(ids.filter((id) => suspects.cellOf(id) === cell));
  const waiting = (): number => ids.filter((id) => suspects.heldOff(id) !== null).length;
  const before = waiting();
  assert.ok(before > 0);
  const resting = ids.find((id) => suspects.heldOff(id) === null)!;
  for (const id of suspects.cellOf(resting)!.members) suspects.rest(id);
  assert.ok(waiting() < before);
});

test('one that was found out is tried at once after it rested, and apart for an hour', () => {
  const clock = new FakeClock();
  const suspects = new Suspects(clock);
  for (let death = 0; death < 2; death += 1) suspects.threadDied(['a']);
  suspects.rest('a');
  assert.deepEqual([suspects.heldOff('a'), suspects.cellOf('a')?.members.size], [null, 1]);
  suspects.rest('a');
  clock.advance(61 * MINUTE_MS);
  suspects.clear();
  assert.equal(suspects.cellOf('a'), null);
});

test("one that ends threads is found among those of others' word for which there was no thread", () => {
  const suspects = new Suspects(new FakeClock());
  const ids = idsOf(60);
  for (const id of ids) suspects.suspect(id);
  const isOfMany = (id: string): boolean => suspects.cellOf(id) === null;
  const many = ids.filter(isOfMany);
  const killer = many.at(-1)!;
  let deaths = 0;
  for (; deaths < 10 && suspects.of(killer) !== 'found_out'; deaths += 1) {
    const cell = suspects.cellOf(killer);
    suspects.threadDied(cell === null ? ids.filter(isOfMany) : [...cell.members]);
  }
  assert.ok(deaths <= 7, `${deaths} deaths`);
  assert.ok(ids.every((id) => (suspects.of(id) === 'found_out') === (id === killer)));
});

test('it is being found out who it is as long as threads die; then those that are left are as any other', () => {
  const clock = new FakeClock();
  const suspects = new Suspects(clock);
  const ids = idsOf(8);
  suspects.threadDied(ids);
  assert.ok(
    ids.every((id) => suspects.of(id) === 'none'),
    'it may never happen again',
  );
  suspects.threadDied(ids);
  assert.ok(ids.every((id) => suspects.of(id) === 'suspected'));
  clock.advance(21_000);
  assert.ok(ids.every((id) => suspects.of(id) === 'none' && suspects.cellOf(id) !== null));
});

test('a camera that is another one now is no suspect', () => {
  const suspects = new Suspects(new FakeClock());
  for (let death = 0; death < 2; death += 1) suspects.threadDied(['a']);
  suspects.forget('a');
  assert.deepEqual([suspects.heldOff('a'), suspects.cellOf('a')], [null, null]);
});

test('any number of killers is found, no innocent is held off for long, with never more than 8 threads for them', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 140 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 140 }),
      (count, picks) => {
        const killers = [...new Set(picks.map((pick) => `camera-${pick % count}`))].sort();
        const threads = new Threads(count, killers);
        for (let round = 0; round < 3_000; round += 1) threads.round();
        assert.ok(threads.mostCells <= 8, `${threads.mostCells} cells`);
        const innocent = threads.heldOff.filter((id) => !killers.includes(id));
        assert.deepEqual(innocent, []);
        const before = threads.deaths;
        for (let round = 0; round < 200; round += 1) threads.round();
        const perKiller = (threads.deaths - before) / killers.length;
        assert.ok(perKiller <= 2, `${perKiller} deaths of each in a thousand seconds`);
      },
    ),
    { numRuns: 15 },
  );
});
