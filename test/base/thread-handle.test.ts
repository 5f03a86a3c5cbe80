import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BeatWatch } from '../../src/base/beat-watch.js';
import { type KillableThread, startThread } from '../../src/base/thread-handle.js';
import { readBeats, ThreadStats } from '../../src/base/thread-stats.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';

/** A thread that beats, and does what it is told: ends, loops for ever, or waits in a system call for 12 s. */
const code = `
  import { execSync } from 'node:child_process';
  import { parentPort } from 'node:worker_threads';
  import { systemClock } from '${new URL('../../src/base/clock.js', import.meta.url).href}';
  import { ThreadStats } from '${new URL('../../src/base/thread-stats.js', import.meta.url).href}';
  const stats = new ThreadStats(systemClock);
  stats.start();
  parentPort.postMessage(stats.shared);
  parentPort.on('message', ({ type }) => {
    if (type === 'loop') for (;;);
    if (type === 'system call') execSync('sleep 12');
    if (type === 'stop') parentPort.close();
  });
`;
const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`);

type Running = { thread: KillableThread<{ type: string }>; lost: string[]; shared: SharedArrayBuffer };

const start = async (): Promise<Running> => {
  const lost: string[] = [];
  const shared: SharedArrayBuffer[] = [];
  const options = { entry, name: 'victim', workerData: null, stopTimeoutMs: 200 };
  const thread = startThread<{ type: string }, SharedArrayBuffer>(options, {
    onMessage: (stats) => shared.push(stats),
    onLost: (reason) => lost.push(reason),
  });
  await until('it runs', () => shared.length === 1, { deadlineMs: 20_000 });
  return { thread, lost, shared: shared[0]! };
};

test('a thread beats while its loop turns; one that is busy for ever does not, and is killed', async () => {
  const { thread, lost, shared } = await start();
  const first = readBeats(shared);
  await until('it beats', () => readBeats(shared) > first + 1, { deadlineMs: 20_000 });
  thread.send({ type: 'loop' });
  thread.kill('it hung');
  await until('it is gone', () => lost.length > 0, { deadlineMs: 20_000 });
  assert.deepEqual(lost, ['it hung']);
  const last = readBeats(shared);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(readBeats(shared), last);
});

test('a thread that is killed in a system call is given up after some seconds, and nothing more is heard of it', async () => {
  const { thread, lost } = await start();
  thread.send({ type: 'system call' });
  await new Promise((resolve) => setTimeout(resolve, 300));
  thread.kill('it hung');
  await until('it is given up', () => lost.length > 0, { deadlineMs: 20_000 });
  assert.deepEqual(lost, ['it hung, and does not end']);
});

test('stopping a thread does not wait for a system call either', async () => {
  const { thread, lost } = await start();
  thread.send({ type: 'system call' });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const stopped = thread.stop().then(() => 'stopped');
  const returned = new Promise((resolve) => setTimeout(resolve, 11_000, 'the system call returned').unref());
  assert.equal(await Promise.race([stopped, returned]), 'stopped');
  assert.deepEqual(lost, [], 'it was asked to end');
});

test('a watch tells a thread that misses its beats for ten rounds, and waits longer for one that starts', () => {
  const watch = new BeatWatch();
  const roundsUntilHung = (): number => {
    for (let round = 1; ; round += 1) if (watch.round()) return round;
  };
  assert.equal(roundsUntilHung(), 60);
  const stats = new ThreadStats(new FakeClock());
  watch.begin(stats.shared);
  for (let round = 0; round < 100; round += 1) {
    if (round % 9 === 0) stats.sample();
    assert.equal(watch.round(), false);
  }
  stats.sample();
  assert.equal(roundsUntilHung(), 11, 'the first round sees the last beat');
});

test('a thread that can not be started is told as lost, behind the call, unless nobody wants it any more', async () => {
  // What can't be cloned stands for a machine without room: both throw where the thread is made.
  const options = { entry, name: 'none', workerData: { not: () => 'cloned' }, stopTimeoutMs: 1_000 };
  const lost: string[] = [];
  const events = { onMessage: () => {}, onLost: (reason: string) => void lost.push(reason) };
  const thread = startThread<{ type: string }, unknown>(options, events);
  assert.deepEqual(lost, []);
  thread.send({ type: 'loop' });
  await until('it is told', () => lost.length === 1);
  assert.match(lost[0]!, /^it could not be started: /);
  const unwanted = startThread<{ type: string }, unknown>(options, events);
  await unwanted.stop();
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  assert.equal(lost.length, 1);
});
