import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Bell, BellListener } from '../../src/ring/doorbell.js';
import { messageOf, startThread } from '../support/ring-threads.js';

const startRinger = async (
  bursts: number,
  pauseMs: number,
): Promise<{ ringer: Worker; bell: SharedArrayBuffer; counter: SharedArrayBuffer }> => {
  const counter = new SharedArrayBuffer(4);
  const ringer = startThread('ring-ringer', { counter, bursts, pauseMs });
  return { ringer, bell: await messageOf<SharedArrayBuffer>(ringer), counter };
};

test('every listener, in this thread and others, hears of the last commit', { timeout: 20_000 }, async () => {
  for (const [bursts, pauseMs] of [
    [3000, 0],
    [40, 2],
  ] as const) {
    const { ringer, bell, counter } = await startRinger(bursts, pauseMs);
    const target = bursts * 3;
    const threads = [1, 2].map(() => startThread('ring-listener', { bell, counter, target }));
    await Promise.all(threads.map((thread) => messageOf(thread)));
    const done = Promise.all(threads.map((thread) => messageOf<number>(thread)));
    const exits = threads.map((thread) => once(thread, 'exit'));
    let calls = 0;
    const heard = new Promise<void>((resolve) => {
      const listener = new BellListener(bell, () => {
        calls += 1;
        if (Atomics.load(new Int32Array(counter), 0) < target) return;
        listener.stop();
        resolve();
      });
      listener.start();
    });
    ringer.postMessage('go');
    await heard;
    for (const threadCalls of await done) assert.ok(threadCalls <= bursts + 2, 'one call a ringing at most');
    assert.ok(calls <= bursts + 2);
    await Promise.all(exits);
    await ringer.terminate();
  }
});

test('a listener keeps no thread alive', { timeout: 20_000 }, async () => {
  const bell = new Bell();
  const thread = startThread('ring-listener', {
    bell: bell.memory,
    counter: new SharedArrayBuffer(4),
    target: Number.POSITIVE_INFINITY,
  });
  const [code] = (await once(thread, 'exit')) as [number];
  assert.equal(code, 0);
});

test('a listener that dies while it waits harms nobody, nor does a dead producer', {
  timeout: 20_000,
}, async () => {
  const { ringer, bell, counter } = await startRinger(5, 0);
  const doomed = startThread('ring-listener', { bell, counter, target: 1_000_000 });
  await messageOf(doomed);
  await doomed.terminate();
  const heard = new Promise<BellListener>((resolve) => {
    const listener = new BellListener(bell, () => {
      if (Atomics.load(new Int32Array(counter), 0) === 15) resolve(listener);
    });
    listener.start();
  });
  ringer.postMessage('go');
  const listener = await heard;
  await ringer.terminate();
  listener.stop();
});

test('rings once for many commits, not at all for none, and never after stop', {
  timeout: 20_000,
}, async () => {
  const bell = new Bell();
  let calls = 0;
  const listener = new BellListener(bell.memory, () => {
    calls += 1;
  });
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 20; i += 1) await turn();
  };
  listener.start();
  listener.start();
  await settle();
  assert.equal(calls, 1, 'the first call is for what was there before');
  bell.ringIfNeeded();
  await settle();
  assert.equal(calls, 1);
  for (let i = 0; i < 10; i += 1) bell.markPublished();
  bell.ringIfNeeded();
  await settle();
  assert.equal(calls, 2);
  listener.stop();
  listener.stop();
  bell.markPublished();
  bell.ringIfNeeded();
  await settle();
  assert.equal(calls, 2);
  listener.start();
  await settle();
  assert.equal(calls, 3);
  bell.markPublished();
  bell.ringIfNeeded();
  await settle();
  assert.equal(calls, 4, 'one wait, not one for each start');
  listener.stop();
});
