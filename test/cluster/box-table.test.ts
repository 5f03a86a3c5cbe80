import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type MonotonicMs, systemClock, type WallMs } from '../../src/base/clock.js';
import { type Beat, beatOf, beatText } from '../../src/cluster/boxes/beat.js';
import { BoxTable, type KnownBox } from '../../src/cluster/boxes/box-table.js';
import { ClocksApart } from '../../src/cluster/boxes/clocks.js';
import { RisingNumbers } from '../../src/cluster/rising-numbers.js';

const LOST_MS = 1_500;
const own = {
  boot: 'own-boot',
  capacity: 1,
  load: 0,
  cameras: 0,
  address: null,
  relayPort: null,
  store: null,
  version: '1',
};

const beatBy = (box: string, seq: number, more: Partial<Beat> = {}): Beat => ({
  ...{ box, boot: `${box}-boot`, seq, state: 'here', capacity: 1, load: 0.5, cameras: 3 },
  ...{ address: null, relayPort: null, version: '1', store: null, wallMs: null },
  hears: [{ box: 'own', boot: 'own-boot' }],
  ...more,
});

/** A table whose time is told: 100 ms a step, in each of which those beat who do. */
const open = (known: readonly KnownBox[] = [], hasEcho = true) => {
  let nowMs = 1_000;
  let wallMs = 1_800_000_000_000;
  let seq = 0;
  const table = new BoxTable({ name: 'own', lostMs: LOST_MS, known }, nowMs as MonotonicMs);
  const hear = (beat: Beat) => table.hear(own, beat, nowMs as MonotonicMs);
  const look = (isConnected = true) =>
    table.look({ nowMs: nowMs as MonotonicMs, wallMs: wallMs as WallMs, isConnected });
  const pass = (durationMs: number, beating: readonly string[] = [], isConnected = true): void => {
    for (let passed = 0; passed < durationMs; passed += 100) {
      nowMs += 100;
      wallMs += 100;
      seq += 1;
      for (const box of beating) hear(beatBy(box, seq));
      if (isConnected && hasEcho) hear(beatBy('own', seq, { boot: own.boot }));
      look(isConnected);
    }
  };
  const view = () => table.view({ ...own, isLeaving: false }, 1_000 as MonotonicMs);
  return {
    ...{ table, hear, look, pass, view },
    wall: () => wallMs,
    sleep: (monotonic: number, wall: number) => {
      nowMs += monotonic;
      wallMs += wall;
    },
    here: () =>
      view()
        .boxes.filter(({ isHere }) => isHere)
        .map(({ name }) => name),
  };
};

test('a box whose machine was put back to an earlier moment is heard again when its clock is right', () => {
  let wallMs = 1_800_000_000_000;
  const numbers = () => new RisingNumbers({ ...systemClock, wallMs: () => wallMs as WallMs });
  const [before, putBack] = [numbers(), numbers()];
  const { hear, look, pass, here } = open();
  const speak = (by: RisingNumbers, durationMs: number): void => {
    for (let passed = 0; passed < durationMs; passed += 300) {
      wallMs += 300;
      hear(beatBy('a', by.next()));
      pass(300);
    }
  };
  look();
  speak(putBack, 3_000);
  const snapshotMs = wallMs;
  speak(before, 60_000);
  assert.deepEqual(here(), ['a', 'own']);
  wallMs = snapshotMs;
  speak(putBack, 3_000);
  assert.deepEqual(here(), ['own']);
  wallMs = snapshotMs + 70_000;
  speak(putBack, 3_000);
  assert.deepEqual(here(), ['a', 'own']);
});

test('a thread that goes on for one that died says no number again, though the clock was set back', () => {
  let wallMs = 1_800_000_000_000;
  const clock = { ...systemClock, wallMs: () => wallMs as WallMs };
  const died = new RisingNumbers(clock);
  for (let count = 0; count < 10; count += 1) died.next();
  wallMs -= 3_600_000;
  assert.ok(new RisingNumbers(clock, died.last).next() > died.last);
});

test('a clock that is set back takes no number back', () => {
  let wallMs = 1_800_000_000_000;
  const numbers = new RisingNumbers({ ...systemClock, wallMs: () => wallMs as WallMs });
  const first = numbers.next();
  wallMs -= 3_600_000;
  assert.ok(numbers.next() > first);
});

test('a box that falls silent is lost after the interval, and back with its next word', () => {
  const { pass, here, view } = open();
  pass(2_000, ['a', 'b']);
  assert.deepEqual(here(), ['a', 'b', 'own']);
  pass(1_400, ['a']);
  assert.deepEqual(here(), ['a', 'b', 'own'], 'not too soon');
  pass(200, ['a']);
  assert.deepEqual(here(), ['a', 'own']);
  assert.equal(view().boxes.find(({ name }) => name === 'b')?.isHere, false, 'it is still known');
  pass(100, ['a', 'b']);
  assert.deepEqual(here(), ['a', 'b', 'own']);
});

test('silence says nothing while this box hears nobody because it is cut off, stood still or slept', () => {
  const { pass, here, look, sleep } = open();
  pass(2_000, ['a', 'b']);
  pass(60_000, [], false);
  assert.deepEqual(here(), ['a', 'b', 'own'], 'cut off');
  pass(1_400);
  assert.deepEqual(here(), ['a', 'b', 'own'], 'all have their time again');
  pass(100, ['a', 'b']);
  sleep(10_000, 10_000);
  look();
  assert.deepEqual(here(), ['a', 'b', 'own'], 'stood still');
  pass(100, ['a', 'b']);
  // The monotonic clock of a machine that is suspended doesn't run.
  sleep(100, 3_600_000);
  look();
  pass(1_300);
  assert.deepEqual(here(), ['a', 'b', 'own'], 'slept');
  pass(400);
  assert.deepEqual(here(), ['own'], 'and then silence counts again');
});

test('a majority is more than half of those that are known; of two there is none without the servers', () => {
  const { pass, view } = open();
  pass(2_000, ['a', 'b']);
  pass(2_000, ['a']);
  assert.equal(view().hasMajority, true);
  pass(2_000);
  assert.equal(view().hasMajority, false, 'one of three');
  const two = open();
  two.pass(2_000, ['a']);
  two.pass(2_000);
  assert.equal(two.view().hasMajority, true);
  two.pass(2_000, [], false);
  assert.equal(two.view().hasMajority, false);
});

test('who is away for long, while a majority is here, no longer counts; who said goodbye counts not at all', () => {
  const { pass, view, hear, table } = open();
  pass(2_000, ['a', 'b', 'c']);
  hear(beatBy('c', 1_000, { state: 'gone' }));
  pass(100, ['a', 'b']);
  assert.deepEqual(
    view().boxes.map(({ name }) => name),
    ['a', 'b', 'own'],
  );
  assert.deepEqual(table.known.at(-1), { name: 'c', hasLeft: true });
  pass(11 * 60_000, ['a']);
  assert.deepEqual(table.known, [
    { name: 'a', hasLeft: false },
    { name: 'b', hasLeft: true },
  ]);
  assert.equal(view().boxes.find(({ name }) => name === 'b')?.isHere, false, 'it is still shown as lost');
  pass(2_000);
  assert.equal(view().hasMajority, true, 'one of two, while the servers are there');
});

test('a box that starts waits for those that it knows, and counts them', () => {
  const { pass, view } = open([
    { name: 'a', hasLeft: false },
    { name: 'b', hasLeft: false },
    { name: 'c', hasLeft: true },
    { name: 'own', hasLeft: false },
  ]);
  pass(1_000);
  assert.deepEqual([view().isSettled, view().hasMajority, view().awaited], [false, false, ['a', 'b', 'c']]);
  pass(1_000, ['a']);
  assert.deepEqual([view().isSettled, view().hasMajority, view().awaited], [true, true, ['b', 'c']]);
});

test('what is said again of a boot before, or out of order, is not believed; two of one name are told', () => {
  const { hear, look, view } = open();
  hear(beatBy('a', 7));
  look();
  hear(beatBy('a', 6, { state: 'gone' }));
  assert.equal(view().boxes.length, 2, 'an older word');
  hear(beatBy('a', 1, { boot: 'second' }));
  hear(beatBy('a', 9, { state: 'gone' }));
  assert.equal(view().boxes[0]?.boot, 'second', 'the last word of the boot before');
  assert.equal(view().hasNamesake, false);
  hear(beatBy('own', 1, { boot: 'another' }));
  assert.equal(view().hasNamesake, true);
});

/** What `table` says of whom it hears. */
const bootsIn = ({ hears }: BoxTable): string[] => hears.map(({ boot }) => boot);

test('what was said to nobody, or to this box before it started anew, is not believed until who said it hears it', () => {
  const { hear, look, pass, here, table } = open();
  pass(2_000, ['a']);
  const before = { hears: [{ box: 'own', boot: 'boot-before' }] };
  for (let seq = 0; seq < 20; seq++) {
    hear(beatBy('ghost', seq, before));
    hear(beatBy('new', seq, { hears: [] }));
    pass(100, ['a']);
  }
  assert.deepEqual(here(), ['a', 'own'], 'neither of them');
  assert.deepEqual(bootsIn(table).sort(), ['a-boot', 'ghost-boot', 'new-boot'], 'it answers them');
  hear(beatBy('new', 20));
  look();
  assert.deepEqual(here(), ['a', 'new', 'own']);
  pass(2_000, ['a']);
  assert.deepEqual(bootsIn(table), ['a-boot']);
  // Whoever is there and hears this box no more has as good as gone.
  for (let seq = 1_000; seq < 1_020; seq++) {
    hear(beatBy('a', seq, { hears: [] }));
    pass(100);
  }
  assert.deepEqual(here(), ['own']);
  assert.deepEqual(bootsIn(table), ['a-boot'], 'and it still hears that one');
});

test('a word of goodbye counts once, whenever it is said again', () => {
  const { hear, look, pass, here } = open();
  pass(1_000, ['a']);
  const goodbye = beatBy('a', 11, { state: 'gone' });
  hear(goodbye);
  look();
  assert.deepEqual(here(), ['own']);
  hear(beatBy('a', 1, { boot: 'second' }));
  hear(goodbye);
  hear(beatBy('a', 10));
  look();
  assert.deepEqual(here(), ['a', 'own']);
  hear(beatBy('a', 2, { boot: 'second', state: 'gone', hears: [] }));
  look();
  assert.deepEqual(here(), ['a', 'own'], 'and not where it was said to nobody');
});

test('a box goes on when another one of its name has come and ended', () => {
  const { hear, pass, here, view } = open();
  pass(1_000, ['a']);
  hear(beatBy('a', 1, { boot: 'second' }));
  pass(1_000, ['a']);
  assert.equal(view().boxes[0]?.boot, 'second');
  pass(1_000, ['a']);
  assert.deepEqual(here(), ['a', 'own']);
  assert.equal(view().boxes[0]?.boot, 'a-boot');
});

test('a box that does not hear itself knows that it hears nobody', () => {
  const { pass, view } = open([{ name: 'a', hasLeft: false }], false);
  pass(20_000, ['a']);
  assert.deepEqual([view().isSettled, view().hasMajority, view().isUnheard], [false, true, true]);
  pass(20_000);
  assert.equal(view().boxes[0]?.isHere, true, 'the silence of others says nothing');
  const alone = open([{ name: 'a', hasLeft: false }], false);
  alone.pass(20_000);
  assert.deepEqual([alone.view().hasMajority, alone.view().isUnheard], [false, true]);
  alone.pass(1_000, [], false);
  assert.equal(alone.view().isUnheard, false, 'it has no server: that is told otherwise');
});

test('a box that is gone for good is counted no more, nor is one that was never heard again, and one that is here stays', () => {
  const { table, pass, here, view } = open([{ name: 'past', hasLeft: false }]);
  const forget = (name: string): void => table.forget(name, 1_000 as MonotonicMs);
  pass(2_000, ['a', 'b', 'c']);
  pass(2_000, ['a']);
  assert.deepEqual([here(), view().hasMajority, view().awaited], [['a', 'own'], false, ['past']]);
  forget('a');
  forget('nobody');
  assert.deepEqual([here(), view().hasMajority], [['a', 'own'], false]);
  forget('b');
  assert.equal(view().hasMajority, false, 'two of four');
  forget('past');
  assert.deepEqual(
    [view().hasMajority, view().awaited, view().boxes.map(({ name }) => name)],
    [true, [], ['a', 'c', 'own']],
    'two of three',
  );
  const left = table.known.filter(({ hasLeft }) => hasLeft).map(({ name }) => name);
  assert.deepEqual(left, ['b', 'past'], 'nor does the next start wait for them');
  pass(500, ['a', 'b']);
  assert.deepEqual(here(), ['a', 'b', 'own'], 'it was not gone after all');
});

test('of each box it is known how far its clock is ahead, be some of what it says late', () => {
  const { hear, look, sleep, view, wall } = open();
  look();
  const clocks = new ClocksApart();
  const ahead = (name: string): number | null =>
    view().boxes.find((box) => box.name === name)?.aheadMs ?? null;
  const beat = (seq: number, behindMs: number, lateMs = 0): void => {
    sleep(300, 300);
    look();
    hear(beatBy('a', seq, { wallMs: wall() - behindMs - lateMs }));
    hear(beatBy('b', seq));
  };
  for (const [at, lateMs] of [2_500, 2_600].entries()) beat(at, 0, lateMs);
  assert.equal(ahead('a'), null, 'both may have been late');
  for (let seq = 2; seq < 20; seq += 1) beat(seq, 0, seq % 3 === 0 ? 5 : 2_900);
  assert.equal(ahead('a'), -5);
  assert.equal(ahead('b'), null, 'it does not say');
  assert.deepEqual(clocks.look(view().boxes), { parted: [], joined: [] });
  assert.equal(clocks.fault, null);
  for (let seq = 20; seq < 40; seq += 1) beat(seq, 3_600_000, 20);
  assert.deepEqual(clocks.look(view().boxes).parted, ['a']);
  assert.deepEqual(clocks.look(view().boxes).parted, [], 'once');
  assert.match(clocks.fault!, /that of a is 3600\.0 s behind this one's/);
  for (let seq = 40; seq < 60; seq += 1) beat(seq, 1_500);
  assert.notEqual(clocks.fault, null);
  assert.deepEqual(clocks.look(view().boxes).joined, []);
  for (let seq = 60; seq < 80; seq += 1) beat(seq, 900);
  assert.deepEqual(clocks.look(view().boxes).joined, ['a']);
  assert.equal(clocks.fault, null);
  for (let seq = 80; seq < 100; seq += 1) beat(seq, -7_000);
  clocks.look(view().boxes);
  assert.match(clocks.fault!, /7\.0 s ahead of/);
  hear(beatBy('a', 100, { state: 'gone' }));
  clocks.look(view().boxes);
  assert.equal(clocks.fault, null, 'nobody is told of one that is not here');
});

test('a beat comes back as it was sent, and nothing else is taken for one', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,20}[A-Za-z0-9])?$/);
  const bootId = fc.stringMatching(/^[\w-]{1,64}$/);
  const beat: fc.Arbitrary<Beat> = fc.record({
    ...{ box: name, boot: bootId, seq: fc.nat() },
    state: fc.constantFrom('here', 'leaving', 'gone'),
    ...{
      capacity: fc.nat(1_000),
      load: fc.double({ min: 0, max: 100, noNaN: true }),
      cameras: fc.nat(10_000),
    },
    address: fc.constantFrom(null, 'https://box:8443', 'http://127.0.0.1:8080'),
    relayPort: fc.option(fc.integer({ min: 1, max: 65_535 })),
    wallMs: fc.option(fc.integer({ min: -1e12, max: 1e13 })),
    store: fc.option(
      fc
        .record({ isUp: fc.boolean(), waiting: fc.nat(), oldestSec: fc.nat() })
        .map((queue) => ({ ...queue })),
    ),
    ...{
      version: fc.string({ maxLength: 20 }),
      hears: fc.array(fc.record({ box: name, boot: bootId }, { noNullPrototype: true }), { maxLength: 5 }),
    },
  });
  fc.assert(
    fc.property(beat, (sent) => {
      // JSON knows no negative nought.
      const normal = { ...sent, load: sent.load + 0 };
      assert.deepEqual(beatOf(beatText(normal)), normal);
    }),
  );
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void beatOf(text)));
  const good = { ...beatBy('a', 1) };
  assert.notEqual(beatOf(JSON.stringify({ ...good, newer: 1 })), null);
  const bad: readonly object[] = [
    { box: '../a' },
    { seq: -1 },
    { seq: 1.5 },
    { state: 'dead' },
    { capacity: 1e9 },
    { load: '1' },
    { address: 'javascript:alert(1)' },
    { relayPort: 65_536 },
    { relayPort: '7440' },
    { address: 'http://eve@host' },
    { hears: ['a'] },
    { hears: [null] },
    { hears: [{ box: 'a/b', boot: 'boot' }] },
    { hears: [{ box: 'a', boot: '' }] },
    { hears: new Array(129).fill({ box: 'a', boot: 'boot' }) },
    { boot: '' },
    { version: 'x'.repeat(65) },
  ];
  for (const change of bad)
    assert.equal(beatOf(JSON.stringify({ ...good, ...change })), null, JSON.stringify(change));
});
