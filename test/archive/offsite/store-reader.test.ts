import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { StoreReader } from '../../../src/archive/offsite/store-reader.js';
import { s3Error } from '../../../src/s3/errors.js';
import { FakeClock } from '../../support/fake-clock.js';

const OBJECT = randomBytes(1 << 20);
const BLOCK_BYTES = 64 * 1024;

/** A store that counts what it is asked. */
class Store {
  readonly asked: (readonly [start: number, end: number])[] = [];
  fault: Error | null = null;
  answers: Promise<void> = Promise.resolve();

  async read(_name: string, startByte: number, endByte: number): Promise<Buffer> {
    this.asked.push([startByte, endByte]);
    await this.answers;
    if (this.fault !== null) throw this.fault;
    return Buffer.from(OBJECT.subarray(startByte, endByte));
  }
}

const setUp = () => {
  const [store, clock] = [new Store(), new FakeClock()];
  const told = { away: 0, gone: [] as string[] };
  const reader = new StoreReader(store, clock, {
    onAway: () => {
      told.away += 1;
    },
    onGone: (cameraId) => told.gone.push(cameraId),
  });
  const ask = async (startByte: number, endByte: number) =>
    reader.answer({ object: 'a', objectBytes: OBJECT.length, startByte, endByte });
  return { store, clock, ask, told, reader };
};

test('small pieces are read in blocks, and once; large ones as they are', async () => {
  const { store, clock, ask } = setUp();
  const last = OBJECT.length - 10;
  for (const [start, end] of [
    [0, 8],
    [100, 50_000],
    [BLOCK_BYTES - 4, BLOCK_BYTES + 4],
    [last, OBJECT.length],
    [1_000, 400_000],
  ] as const) {
    const { outcome, bytes } = await ask(start, end);
    assert.equal(outcome, 'read');
    assert.ok(bytes?.equals(OBJECT.subarray(start, end)), `${start}`);
  }
  assert.deepEqual(store.asked, [
    [0, BLOCK_BYTES],
    [BLOCK_BYTES, 2 * BLOCK_BYTES],
    [OBJECT.length - BLOCK_BYTES, OBJECT.length],
    [1_000, 400_000],
  ]);
  assert.equal(clock.pendingTimers, 0);
});

test('while the store is away one tries every few seconds, and nobody waits for that', async () => {
  const { store, clock, ask, told } = setUp();
  store.fault = s3Error('s3_unavailable', 'away');
  assert.equal((await ask(0, 8)).outcome, 'away');
  assert.equal((await ask(0, 8)).outcome, 'away');
  assert.equal(store.asked.length, 1);
  assert.equal(told.away, 1);
  clock.advance(5_000);
  let answer: () => void = () => {};
  store.answers = new Promise((resolve) => {
    answer = resolve;
  });
  const attempt = ask(0, 8);
  assert.equal((await ask(0, 8)).outcome, 'away');
  store.fault = null;
  answer();
  assert.equal((await attempt).outcome, 'read');
  assert.equal((await ask(0, 8)).outcome, 'read');
  assert.equal(store.asked.length, 2);
});

test('what is not there any more is no reason to call the store away', async () => {
  const { store, ask, reader, told } = setUp();
  store.fault = s3Error('s3_not_found', 'gone');
  assert.equal((await ask(0, 8)).outcome, 'gone');
  const object = 'door/2026-11-21/2026-11-21_08-30-00_to_09-30-00_0_box.mp4';
  await reader.answer({ object, objectBytes: 8, startByte: 0, endByte: 8 });
  assert.deepEqual(told, { away: 0, gone: ['door'] }, 'its camera is to be listed anew');
  store.fault = null;
  assert.equal((await ask(0, 8)).outcome, 'read');
});

test('what the store refuses of one object, or answers nonsense to, keeps nobody from another one', async () => {
  const { store, ask, told } = setUp();
  for (const code of ['s3_refused', 's3_bad_answer'] as const) {
    store.fault = s3Error(code, 'not this one');
    assert.equal((await ask(0, 8)).outcome, 'away');
    store.fault = null;
    assert.equal((await ask(BLOCK_BYTES, BLOCK_BYTES + 8)).outcome, 'read', code);
  }
  assert.equal(told.away, 0);
});

test('a clock that is wrong is so for all objects', async () => {
  const { store, ask } = setUp();
  store.fault = s3Error('s3_clock', 'set it right');
  assert.equal((await ask(0, 8)).outcome, 'away');
  assert.equal((await ask(BLOCK_BYTES, BLOCK_BYTES + 8)).outcome, 'away');
  assert.equal(store.asked.length, 1);
});

test('of an object that has grown what is new is read, too', async () => {
  const { reader } = setUp();
  for (const objectBytes of [1_000, 1_500]) {
    const { outcome, bytes } = await reader.answer({
      object: 'b',
      objectBytes,
      startByte: 0,
      endByte: objectBytes,
    });
    assert.equal(outcome, 'read');
    assert.ok(bytes?.equals(OBJECT.subarray(0, objectBytes)), `${objectBytes}`);
  }
});
