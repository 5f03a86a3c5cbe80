import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.js';
import { Turns, type TurnsOptions } from '../../src/base/turns.js';
import { FakeClock } from '../support/fake-clock.js';

const busy = () => new AppError('busy', 'too much to do');
const options: TurnsOptions = { atOnce: 2, maxWaiting: 10, maxInLane: 4, patienceMs: 15_000 };

/** Work that goes on until it is told to end, and the order in which it began. */
const setUp = (changed: Partial<TurnsOptions> = {}) => {
  const clock = new FakeClock();
  const turns = new Turns({ ...options, ...changed }, { clock, busy });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (lane: string, name = lane, signal?: AbortSignal): Promise<string> =>
    turns.run(
      lane,
      async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
        return name;
      },
      signal,
    );
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await settle();
  };
  return { clock, turns, ask, begun, endOne, settle };
};

test('a crowd in one lane holds up nobody in another, and within a lane the first is first', async () => {
  const { ask, begun, endOne, settle } = setUp({ maxInLane: 10 });
  const asked = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1'].map((name) => ask(name[0]!, name));
  await settle();
  assert.deepEqual(begun, ['a1', 'a2'], 'two at once');
  for (const _ of asked) await endOne();
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
  assert.deepEqual(await Promise.all(asked), ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1']);
});

test('whoever waited long enough is told to come again, and takes no place any more', async () => {
  const { clock, ask, begun, endOne, settle } = setUp();
  const [first, second] = [ask('a'), ask('a')];
  const late = assert.rejects(ask('a', 'late'), { code: 'busy' });
  clock.advance(10_000);
  const patient = ask('a', 'patient');
  clock.advance(5_000);
  await late;
  await endOne();
  assert.deepEqual(begun, ['a', 'a', 'patient']);
  await endOne();
  await endOne();
  await Promise.all([first, second, patient]);
  assert.equal(clock.pendingTimers, 0);
  const after = ask('b');
  await settle();
  assert.equal(begun.at(-1), 'b', 'all places are free again');
  await endOne();
  await after;
});

test('a bounded number waits, in all and in one lane', async () => {
  const { ask, endOne } = setUp();
  const running = [ask('x'), ask('x')];
  const waiting = ['a', 'a', 'a', 'a'].map((lane) => ask(lane));
  await assert.rejects(ask('a'), { code: 'busy' });
  for (const lane of ['b', 'b', 'b', 'b', 'c', 'c']) waiting.push(ask(lane));
  await assert.rejects(ask('d'), { code: 'busy' });
  for (let ended = 0; ended < 12; ended += 1) await endOne();
  await Promise.all([...running, ...waiting]);
});

test('no lane has more places than are meant for one, and what is free is another’s', async () => {
  const { ask, begun, endOne, settle } = setUp({ atOnce: 3, atOnceInLane: 1, maxInLane: 10 });
  const asked = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1'].map((name) => ask(name[0]!, name));
  await settle();
  assert.deepEqual(begun, ['a1', 'b1', 'c1']);
  await endOne();
  assert.deepEqual(begun.slice(3), ['a2']);
  await endOne();
  await endOne();
  assert.deepEqual(begun.slice(4), ['b2', 'd1']);
  for (const _ of asked) await endOne();
  assert.deepEqual(begun.slice(6), ['a3']);
  await Promise.all(asked);
  const again = ask('a', 'again');
  await settle();
  assert.equal(begun.at(-1), 'again', 'all places are free again');
  await endOne();
  await again;
});

test('work that fails gives its place back', async () => {
  const turns = new Turns({ ...options, atOnce: 1 }, { clock: new FakeClock(), busy });
  const failed = turns.run('a', () => Promise.reject(new Error('the disk')));
  const next = turns.run('a', async () => 'done');
  await assert.rejects(failed, /the disk/);
  assert.equal(await next, 'done');
});

test('whoever leaves gives its place up before its turn, and is done when it has begun', async () => {
  const { clock, turns, ask, begun, endOne, settle } = setUp({ atOnce: 1, maxInLane: 2 });
  const leaving = new AbortController();
  const running = ask('a', 'running', leaving.signal);
  await settle();
  const left = assert.rejects(ask('a', 'left', leaving.signal), /nobody wants it/);
  const next = ask('a', 'next');
  await assert.rejects(ask('a'), { code: 'busy' });
  leaving.abort(new Error('nobody wants it'));
  await left;
  assert.equal(turns.waiting, 1);
  await assert.rejects(ask('a', 'late', leaving.signal), /nobody wants it/);
  const last = ask('a', 'last');
  for (let ended = 0; ended < 3; ended += 1) await endOne();
  assert.deepEqual(await Promise.all([running, next, last]), ['running', 'next', 'last']);
  assert.deepEqual(begun, ['running', 'next', 'last']);
  assert.equal(clock.pendingTimers, 0);
});
