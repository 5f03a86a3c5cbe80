import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { JobPool, type JobPoolOptions } from '../../../src/archive/jobs/job-pool.js';
import { AppError } from '../../../src/base/errors.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { writeClosed } from '../recording-file.js';

const options = { threads: 2, maxWaiting: 2, patienceMs: 1_000, deadlineMs: 1_000 };
const entry = new URL('./hanging-tasks.js', import.meta.url);

const patient = { deadlineMs: 60_000 };

/** A pool of threads that hang on a pipe, until `release`. */
const hangingPool = (
  t: TestContext,
  poolOptions: JobPoolOptions = options,
  whyNot: () => string | null = () => null,
) => {
  const clock = new FakeClock();
  const pool = new JobPool(poolOptions, { clock, entry, whyNot });
  const pipe = join(tempFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const lines = (path: string): number => (existsSync(path) ? statSync(path).size : 0);
  const hanging = (count: number): Promise<boolean> =>
    until(`${count} threads hang`, () => lines(`${pipe}.here`) === count, patient);
  const release = (count: number): Promise<boolean> =>
    until(
      `${count} threads go on`,
      () => {
        try {
          closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
        } catch {
          // Nobody has opened it for reading yet, or any more.
        }
        return lines(`${pipe}.gone`) === count;
      },
      patient,
    );
  return { clock, pool, pipe, hanging, release, run: (folder: string) => pool.run('scanFolder', { folder }) };
};

test('jobs run in threads, and memory comes over', async (t) => {
  const pool = new JobPool(options, { clock: new FakeClock() });
  t.after(() => pool.stop());
  const folder = tempFolder(t);
  const name = writeClosed(folder, { startMs: Date.UTC(2026, 10, 21, 8) });
  const { names, stamps } = await pool.run('scanFolder', { folder });
  assert.deepEqual(names, [name]);
  assert.equal(stamps.length, 4);
  const [inspection] = await pool.run('inspectFiles', {
    folder,
    files: [{ fileName: name, sizeBytes: 1 << 20, fromBytes: 0 }],
  });
  assert.equal(inspection?.endMs, Date.UTC(2026, 10, 21, 8) + 4000);
});

test('an error keeps its code across threads, and a thread that dies fails its job alone', async (t) => {
  const { pool, run } = hangingPool(t);
  await assert.rejects(run('ours'), { code: 'bad_seq', details: { at: 7 } });
  await assert.rejects(run('disk'), { code: 'archive_unavailable' });
  await assert.rejects(run('throw'), { code: 'archive_unavailable' });
  await assert.rejects(run('exit'), { code: 'archive_unavailable' });
  assert.equal(await run('fine'), 'fine');
  assert.equal(await pool.stop(), true);
  await assert.rejects(run('fine'), { code: 'archive_unavailable' });
});

test('a disk that hangs holds the threads, nobody waits past the deadline, and it all comes back', async (t) => {
  const { clock, pool, pipe, hanging, release, run } = hangingPool(t);
  const waiting = [run(pipe), run(pipe), run('third'), run('fourth')].map((job) =>
    assert.rejects(job, { code: 'archive_unavailable' }),
  );
  await assert.rejects(run('fifth'), { code: 'archive_busy' });
  await hanging(2);
  clock.advance(1_000);
  await Promise.all(waiting);
  const late = run('late');
  await release(2);
  assert.equal(await late, 'late');
  assert.equal(await pool.stop(), true);
});

test('where callers can wait, a deadline begins with the work, however long others took before', async (t) => {
  const waits = { threads: 1, maxWaiting: 8, patienceMs: null, deadlineMs: 1_000 };
  const { clock, pool, pipe, hanging, release, run } = hangingPool(t, waits);
  const givenUp = assert.rejects(run(pipe), { code: 'archive_unavailable' });
  await hanging(1);
  const waiting = [run('second'), run('third')];
  clock.advance(1_000);
  await givenUp;
  clock.advance(600_000);
  await release(1);
  assert.deepEqual(await Promise.all(waiting), ['second', 'third']);
  assert.equal(await pool.stop(), true);
  assert.equal(clock.pendingTimers, 0);
});

test('threads that are still starting are stopped, and take nobody along', async () => {
  const start = () => {
    // On a clock that stands still: `stop` gives no thread up for being slow.
    const pool = new JobPool(options, { clock: new FakeClock() });
    return { pool, job: pool.run('scanFolder', { folder: '/does/not/exist' }) };
  };
  const stopAt = async (ms: number): Promise<void> => {
    const { pool, job } = start();
    const outcome = job.then(
      () => 'done',
      (fault: unknown) => (fault instanceof AppError ? fault.code : fault),
    );
    await setTimeout(ms);
    assert.equal(await pool.stop(), true);
    assert.ok(['done', 'archive_unavailable'].includes(String(await outcome)));
  };
  const startMs = performance.now();
  const wholes = [start(), start(), start(), start()];
  await Promise.all(wholes.map(({ job }) => job));
  const wholeMs = performance.now() - startMs;
  await Promise.all(wholes.map(({ pool }) => pool.stop()));
  // All along what a thread loads before its first job is done.
  for (let share = 0.2; share < 1.2; share += 0.04) {
    await Promise.all([0, 0.01, 0.02, 0.03].map((more) => stopAt(wholeMs * (share + more))));
  }
});

test('stop gives up a thread that hangs', async (t) => {
  const { clock, pool, pipe, hanging, release, run } = hangingPool(t);
  const jobs = [run(pipe), run(pipe), run('waiting')].map((job) =>
    assert.rejects(job, { code: 'archive_unavailable' }),
  );
  await hanging(2);
  const stopped = pool.stop();
  assert.equal(pool.stop(), stopped);
  await Promise.all(jobs);
  clock.advance(2_000);
  assert.equal(await stopped, false);
  await release(2);
});

test('what waited while the archive went is not done on what took its place', async (t) => {
  let fault: string | null = null;
  const one = { ...options, threads: 1 };
  const { pool, run, pipe, hanging, release } = hangingPool(t, one, () => fault);
  t.after(() => pool.stop());
  const running = run(pipe);
  await hanging(1);
  const waiting = run('elsewhere');
  fault = 'its disk is gone';
  await assert.rejects(run('later'), { code: 'archive_unavailable', message: /its disk is gone/ });
  const refused = assert.rejects(waiting, { code: 'archive_unavailable', message: /its disk is gone/ });
  await release(1);
  await Promise.all([running, refused]);
  fault = null;
  assert.equal(await run('back'), 'back');
});
