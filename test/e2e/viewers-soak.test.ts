import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { recordsOf } from '../support/service.js';
import { until } from '../support/until.js';
import { Crowd } from './viewings/crowd.js';
import { heldBytes, Memory } from './viewings/memory.js';
import { type Census, censusOf, sumOf, taskCount } from './viewings/process-figures.js';
import { SoakScene } from './viewings/soak-scene.js';
import { pause, YARD } from './viewings/wall.js';

/** A longer one, beyond what test/run.mjs waits for: `VIEWERS_SOAK_SECONDS=600 node dist/test/e2e/viewers-soak.test.js`. */
const SECONDS = Number(process.env['VIEWERS_SOAK_SECONDS'] ?? 60);
/** What comes to a busy wall in an hour comes in a minute. */
const VISITS_PER_SECOND = 36;
/** However slow the machine. */
const LEAST_VISITS = SECONDS * 10;

/** A camera's live HLS rests 60 s after the last request. */
const HLS_REST_MS = 65_000;
/** A silent WebRTC viewer is gone within 30 s, an idle thread of the archive too. */
const CLEAN_UP_MS = 60_000;
/** The DTLS library repeats itself for 33 s to a viewer that went away in the middle of the handshake. */
const HANDSHAKE_MS = 45_000;
/** A thread writes its census every 5 s. */
const CENSUS_MS = 12_000;

/** What a thread may hold more as time goes by: what V8 learns about the code, caches, recordings to know of. */
const GROWTH_MARGIN_BYTES = 5e6;
/** In the end, compared with the first visits: all the code that no visit had needed before, and segments. */
const LEFT_MARGIN_BYTES = 8e6;
/** On top comes V8's room for new objects, which each of the threads grows to 48 MB as it sees fit. */
const RESIDENT_MARGIN_BYTES = 64e6;
/** The UDP port that all WebRTC viewers share stays open, for IPv4 and IPv6: nothing else does. */
const DOOR_SOCKETS = 2;
/** Pipes, an epoll and eventfds of one thread. */
const DESCRIPTORS_A_THREAD = 8;
/** Beats of a thread's clock that may come over half a second late, beyond those that this process has late itself. */
const LATE_SHARE = 0.02;
const LATE_MS = 500;
/** As each thread of the service has it. */
const BEAT_MS = 200;

/** What the service has open, and how many threads; called when no connection of ours was open just before. */
const standing = async (scene: SoakScene) => {
  const [descriptors, tasks] = [scene.descriptors(), taskCount(scene.pid)];
  return { ...descriptors, tasks, threads: sumOf(await scene.metrics(), /^svc_threads /) };
};

type Standing = Awaited<ReturnType<typeof standing>>;

/** The same twice in a row: nothing of it is there for a moment only. */
const settled = async (scene: SoakScene): Promise<Standing> => {
  let last = await standing(scene);
  return await until('nothing comes or goes', async () => {
    await pause(500);
    const [before, now] = [last, await standing(scene)];
    last = now;
    return isDeepStrictEqual(now, before) && now;
  });
};

/** Whether nothing is there that wasn't there before; WebRTC threads that came with the crowd may stay. */
const isBack = (now: Standing, before: Standing): boolean => {
  const newThreads = Math.max(0, now.threads - before.threads);
  return (
    isDeepStrictEqual(now.files, before.files) &&
    now.sockets === before.sockets &&
    now.udpSockets === before.udpSockets &&
    newThreads < Math.max(1, availableParallelism() - 1) &&
    now.tasks <= before.tasks + newThreads &&
    now.others <= before.others + newThreads * DESCRIPTORS_A_THREAD
  );
};

/** Timers, sockets and handles of each thread that are more than before. */
const surplus = (before: ReadonlyMap<string, Census>, now: ReadonlyMap<string, Census>): string[] =>
  [...before].flatMap(([name, census]) =>
    Object.entries(now.get(name)?.resources ?? {})
      .filter(([kind, count]) => count > (census.resources[kind] ?? 0))
      .map(([kind, count]) => `${name}: ${count} ${kind}, not ${census.resources[kind] ?? 0}`),
  );

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const listed = (growth: ReadonlyMap<string, number>): string =>
  [...growth].map(([name, bytes]) => `${name} ${megabytes(bytes)}`).join(', ');

/** How much more each thread of `before` holds now. */
const leftIn = (
  before: ReadonlyMap<string, Census>,
  now: ReadonlyMap<string, Census>,
): Map<string, number> => {
  const left = new Map<string, number>();
  for (const [name, census] of before) {
    const after = now.get(name);
    if (after !== undefined) left.set(name, heldBytes(after) - heldBytes(census));
  }
  return left;
};

const assertSmall = (growth: ReadonlyMap<string, number>, marginBytes: number): void => {
  for (const [name, bytes] of growth)
    assert.ok(bytes < marginBytes, `${name} holds ${megabytes(bytes)} more`);
};

type Beats = { late: number; all: number };

/** Late beats of all threads, and all beats. */
const beatsOf = (metrics: string): Beats => {
  const all = sumOf(metrics, /^svc_thread_loop_lag_seconds_count/);
  return { late: all - sumOf(metrics, /^svc_thread_loop_lag_seconds_bucket\{.*le="0.5"/), all };
};

/** Those of this process: what the machine alone makes late. */
const ownBeats = (t: TestContext): Beats => {
  const beats = { late: 0, all: 0 };
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    beats.all += 1;
    if (nowMs - lastMs - BEAT_MS > LATE_MS) beats.late += 1;
    lastMs = nowMs;
  }, BEAT_MS);
  t.after(() => clearInterval(timer));
  return beats;
};

test('an hour of viewers that come and go leaves nothing behind', {
  timeout: (SECONDS + 450) * 1_000,
}, async (t) => {
  const own = ownBeats(t);
  const scene = await SoakScene.start(t);
  const crowd = new Crowd(scene.wall);
  const memory = new Memory(scene);
  t.after(() => memory.stop());
  await crowd.first();
  const hlsHeader = await scene.hlsHeader(YARD);
  const hlsAskedMs = performance.now();
  await pause(CENSUS_MS);
  const before = await settled(scene);
  const censusBefore = censusOf(scene.censusDir);
  assert.ok(before.udpSockets <= DOOR_SOCKETS, `${before.udpSockets} UDP sockets`);
  const isEmpty = async (): Promise<boolean> => (await scene.viewers()).every((count) => count === 0);
  await until('the first have gone', isEmpty);

  const crowding = crowd.come(SECONDS * 1_000, VISITS_PER_SECOND, LEAST_VISITS).finally(() => memory.stop());
  await Promise.all([crowding, memory.run()]);
  t.diagnostic(`${crowd.total} visits, RSS/held MB: ${memory.summary}`);
  assert.deepEqual(crowd.faults, []);
  const growth = memory.growth();
  const resident = megabytes(growth.residentBytes);
  t.diagnostic(`from before the middle to the last third RSS grew by ${resident}, ${listed(growth.threads)}`);
  assertSmall(growth.threads, GROWTH_MARGIN_BYTES);
  assert.ok(growth.residentBytes < RESIDENT_MARGIN_BYTES, `${resident} more RSS`);

  let now = before;
  await until(
    'all are gone',
    async () => {
      await pause(500);
      now = await standing(scene);
      return isBack(now, before) && (await isEmpty());
    },
    { deadlineMs: CLEAN_UP_MS, describe: () => JSON.stringify({ now, before }) },
  );
  const recordings = scene.openRecordings();
  assert.ok(recordings.length <= 2, `beside the recording and one that is being closed: ${recordings}`);
  await pause(Math.max(0, HLS_REST_MS - (performance.now() - hlsAskedMs)));
  assert.equal(await scene.statusOf(hlsHeader), 404, 'live HLS rests when nobody asks');
  await pause(CENSUS_MS);
  let censusNow = censusBefore;
  const surplusNow = (): string[] => surplus(censusBefore, censusNow);
  await until(
    'no thread has more timers than before',
    async () => {
      await pause(500);
      censusNow = censusOf(scene.censusDir);
      return surplusNow().length === 0;
    },
    { deadlineMs: HANDSHAKE_MS, describe: () => surplusNow().join('; ') },
  );
  const left = leftIn(censusBefore, censusNow);
  t.diagnostic(`left in the end: ${listed(left)}`);
  assertSmall(left, LEFT_MARGIN_BYTES);

  const { late, all } = beatsOf(await scene.metrics());
  const said = `${late} of ${all} beats came over half a second late, and ${own.late} of ${own.all} here`;
  assert.ok(late / all <= LATE_SHARE + own.late / own.all, said);
  assert.equal(await scene.service.stop(), 0);
  const bad = recordsOf(scene.service.out()).filter(({ level }) => level === 'error' || level === 'fatal');
  assert.deepEqual([bad, scene.service.err()], [[], '']);
});
