import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { readFacts } from '../../../src/archive/facts/camera-facts.js';
import { FactsKeeper } from '../../../src/archive/facts/facts-keeper.js';
import { factsPath } from '../../../src/archive/facts/learn-facts.js';
import type { JobInput } from '../../../src/archive/jobs/jobs.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { countBytesRead } from '../../support/bytes-read.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { InlineRunner } from '../inline-runner.js';
import { nobodyWrites } from '../nobody-writes.js';
import { buildRecording, writeClosed, writeOpen } from '../recording-file.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
const HOUR_MS = 3_600_000;
const LATER_MS = 60_000;

/** An archive whose files were written a minute ago, as far as the wall clock says. */
const setUp = (t: TestContext) => {
  const [archiveDir, factsDir] = [tempFolder(t), join(tempFolder(t), 'facts')];
  const folder = join(archiveDir, 'door');
  mkdirSync(folder);
  const { now } = Date;
  t.mock.method(Date, 'now', () => now() + LATER_MS);
  const place = { archiveDir, factsDir };
  /** Another run of the service. */
  const restart = () => {
    const [runner, clock] = [new InlineRunner(), new FakeClock(START_MS)];
    const facts = new FactsKeeper(place, { clock, runner });
    const recordings = new Recordings(place, { runner, live: nobodyWrites, facts });
    const listed = async () =>
      (await recordings.list('door')).map(({ fileName, startMs, endMs, startReason }) => ({
        ...{ fileName, startMs, endMs, startReason },
      }));
    return { runner, clock, facts, recordings, listed };
  };
  /** Looks at all that is there, in the time of the test. */
  const learn = async ({ clock, facts }: ReturnType<typeof restart>): Promise<void> => {
    facts.start();
    await until('all was looked at', () => {
      clock.advance(1_000);
      return facts.waiting === 0;
    });
    facts.stop();
  };
  const keptPath = factsPath(factsDir, 'door');
  return { archiveDir, factsDir, folder, restart, learn, keptPath };
};

test('after a restart no recording is asked again for what it said, and the list is the same', async (t) => {
  const { folder, restart, learn } = setUp(t);
  for (let hour = 0; hour < 80; hour += 1) {
    const startReason = hour === 0 ? 'start' : hour % 7 === 0 ? 'camera_away' : 'rollover';
    writeClosed(folder, { startMs: START_MS + hour * HOUR_MS, startReason });
  }
  const open = writeOpen(folder, { startMs: START_MS + 90 * HOUR_MS, startReason: 'disk' });
  const first = restart();
  const list = await first.listed();
  assert.equal(list.length, 81);
  assert.equal(first.runner.countOf('inspectFiles'), 2);
  await learn(first);
  const readBytes = countBytesRead(t);
  const second = restart();
  assert.deepEqual(await second.listed(), list);
  const looked = second.runner.inputs.flatMap(
    (input) => (input as { files?: { fileName: string }[] }).files ?? [],
  );
  assert.deepEqual(
    looked.map(({ fileName }) => fileName),
    [open],
  );
  const bytes = readBytes();
  assert.ok(bytes < 80 * 100 + 16_384, `${bytes} bytes were read`);
});

test('one recording was asked for before its camera is listed: the others are not asked again either', async (t) => {
  const { folder, restart, learn } = setUp(t);
  const names = [0, 1, 2].map((hour) => writeClosed(folder, { startMs: START_MS + hour * HOUR_MS }));
  await learn(restart());
  const { recordings, listed, runner } = restart();
  await recordings.find('door', names[1]!);
  const before = runner.countOf('inspectFiles');
  assert.equal((await listed()).length, 3);
  assert.equal(runner.countOf('inspectFiles'), before);
});

test('another file under the same name is asked, be it as large and as old; what is gone is forgotten', async (t) => {
  const { folder, restart, learn, keptPath } = setUp(t);
  const names = [0, 1, 2].map((hour) =>
    writeClosed(folder, { startMs: START_MS + hour * HOUR_MS, startReason: 'start' }),
  );
  const [first, second] = names as [string, string];
  const oldSec = START_MS / 1000 - 60;
  utimesSync(join(folder, first), oldSec, oldSec);
  await learn(restart());
  assert.equal(readFacts(keptPath).count, 3);

  const before = statSync(join(folder, first));
  writeFileSync(join(folder, first), buildRecording({ startMs: START_MS + 500, startReason: 'clock' }).bytes);
  utimesSync(join(folder, first), oldSec, oldSec);
  const after = statSync(join(folder, first));
  assert.deepEqual([after.ino, after.size, after.mtimeMs], [before.ino, before.size, before.mtimeMs]);
  rmSync(join(folder, second));
  const { listed, ...run } = restart();
  const list = await listed();
  assert.deepEqual(
    list.map(({ startMs, startReason }) => [startMs, startReason]),
    [
      [START_MS + 500, 'clock'],
      [START_MS + 2 * HOUR_MS, 'start'],
    ],
  );
  await learn({ ...run, listed });
  assert.equal(readFacts(keptPath).count, 2);
  assert.deepEqual(await restart().listed(), list);
});

test('whatever becomes of what is kept, the list is right', async (t) => {
  const { folder, restart, learn, keptPath, factsDir, archiveDir } = setUp(t);
  for (let hour = 0; hour < 5; hour += 1) writeClosed(folder, { startMs: START_MS + hour * HOUR_MS });
  const list = await restart().listed();
  await learn(restart());
  const whole = readFileSync(keptPath);
  const isRight = async (kept: Buffer): Promise<void> => {
    writeFileSync(keptPath, kept);
    assert.deepEqual(await restart().listed(), list);
  };
  for (const length of [0, 7, 16, whole.length - 1]) await isRight(whole.subarray(0, length));
  await isRight(Buffer.concat([whole, Buffer.alloc(72)]));
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
      const damaged = Buffer.from(whole);
      damaged[at] = damaged[at]! ^ change;
      await isRight(damaged);
    }),
    { numRuns: 100 },
  );
  await learn(restart());
  assert.equal(readFacts(keptPath).count, 5, 'made anew');

  // Neither is it of any use where no file can be, which is as good as a full disk.
  rmSync(factsDir, { recursive: true });
  writeFileSync(factsDir, 'x');
  const run = restart();
  run.facts.start();
  assert.deepEqual(await run.listed(), list);
  run.facts.stop();
  rmSync(factsDir);
  mkdirSync(keptPath, { recursive: true });
  await learn(restart());
  assert.deepEqual(await restart().listed(), list);
  rmSync(keptPath, { recursive: true });

  // Of another camera's files it says nothing, and it goes with its camera's folder.
  await learn(restart());
  writeClosed(join(archiveDir, 'gate'), { startMs: START_MS + 900 });
  writeFileSync(factsPath(factsDir, 'gate'), whole);
  const { recordings } = restart();
  assert.equal((await recordings.list('gate'))[0]?.startMs, START_MS + 900);
  rmSync(join(archiveDir, 'gate'), { recursive: true });
  await learn(restart());
  assert.equal(existsSync(factsPath(factsDir, 'gate')), false);
});

test('what was written just now, or says nothing, is not kept, and holds up nothing behind it', async (t) => {
  const { folder, restart, learn, keptPath } = setUp(t);
  for (let hour = 0; hour < 70; hour += 1)
    writeFileSync(
      join(folder, writeClosed(folder, { startMs: START_MS + hour * HOUR_MS })),
      Buffer.alloc(5_000),
    );
  writeClosed(folder, { startMs: START_MS + 100 * HOUR_MS });
  const { now } = Date;
  const fresh = t.mock.method(Date, 'now', () => now() - LATER_MS);
  await learn(restart());
  assert.equal(readFacts(keptPath).count, 0);
  fresh.mock.restore();
  t.mock.method(Date, 'now', now);
  await learn(restart());
  assert.equal(readFacts(keptPath).count, 1);
});

test('a camera that has something new is looked at by and by', async (t) => {
  const { folder, restart, keptPath } = setUp(t);
  writeClosed(folder, { startMs: START_MS });
  const run = restart();
  run.facts.start();
  await until('it is learned', () => {
    run.clock.advance(1_000);
    return readFacts(keptPath).count === 1;
  });
  writeClosed(folder, { startMs: START_MS + HOUR_MS });
  run.facts.learnSoon('door');
  await until('it is learned', () => {
    run.clock.advance(1_000);
    return readFacts(keptPath).count === 2;
  });
  run.facts.stop();
  assert.equal(run.clock.pendingTimers, 0);
});

/** Looks at the camera as often as it takes until nothing is asked any more. */
const settle = async (run: ReturnType<ReturnType<typeof setUp>['restart']>): Promise<void> => {
  const looks = run.runner.countOf('unlearned');
  await until('it is looked at', () => {
    run.clock.advance(1_000);
    return run.runner.countOf('unlearned') > looks && run.facts.waiting === 0;
  });
};

test('a camera of many recordings is read once, not once a job, and what says nothing is asked once until it changes', async (t) => {
  const { folder, restart, keptPath } = setUp(t);
  for (let hour = 0; hour < 600; hour += 1) writeClosed(folder, { startMs: START_MS + hour * HOUR_MS });
  const silent = writeClosed(folder, { startMs: START_MS + 700 * HOUR_MS });
  writeFileSync(join(folder, silent), Buffer.alloc(5_000));
  const run = restart();
  run.facts.start();
  await settle(run);
  assert.deepEqual([run.runner.countOf('unlearned'), run.runner.countOf('keepFacts')], [1, 1]);
  assert.equal(readFacts(keptPath).count, 600);
  const asked = (): string[] =>
    run.runner.inputs
      .splice(0)
      .flatMap((input) => (input as { files?: { fileName: string }[] }).files ?? [])
      .map(({ fileName }) => fileName);
  assert.ok(asked().includes(silent));
  const next = [1, 2, 3].map((hour) => writeClosed(folder, { startMs: START_MS + (700 + hour) * HOUR_MS }));
  for (const _ of [1, 2]) {
    run.facts.learnSoon('door');
    await settle(run);
  }
  assert.deepEqual(asked(), next, 'what said nothing is not asked again, nor anything else');
  writeFileSync(join(folder, silent), buildRecording({ startMs: START_MS + 700 * HOUR_MS }).bytes);
  run.facts.learnSoon('door');
  await settle(run);
  assert.deepEqual(asked(), [silent]);
  run.facts.stop();
});

test('of a camera of many recordings not all is written again for a new one: it is asked once in this run all the same', async (t) => {
  const { folder, restart, learn, keptPath } = setUp(t);
  for (let hour = 0; hour < 600; hour += 1) writeClosed(folder, { startMs: START_MS + hour * HOUR_MS });
  await learn(restart());
  const run = restart();
  run.facts.start();
  await settle(run);
  const counts: number[] = [];
  for (let hour = 600; hour < 604; hour += 1) {
    writeClosed(folder, { startMs: START_MS + hour * HOUR_MS });
    run.facts.learnSoon('door');
    await settle(run);
    counts.push(readFacts(keptPath).count);
  }
  assert.deepEqual(counts, [600, 600, 603, 603]);
  assert.equal(run.runner.countOf('lookInto'), 4);
  run.facts.stop();
});

test('where facts can not be kept, one camera a minute is looked at in vain, and all goes on once they can be', async (t) => {
  const { archiveDir, factsDir, restart } = setUp(t);
  for (const cameraId of ['gate', 'roof', 'yard'])
    writeClosed(join(archiveDir, cameraId), { startMs: START_MS });
  const { facts, clock, runner } = restart();
  let [failed, isBroken] = [0, true];
  const run = runner.run.bind(runner);
  runner.run = async (name, input) => {
    if (name !== 'keepFacts' || !isBroken) return run(name, input);
    failed += 1;
    throw new Error('ENOSPC');
  };
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1_000);
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  facts.start();
  await pass(65);
  assert.equal(failed, 1);
  isBroken = false;
  // Thrown away while the service runs.
  rmSync(factsDir, { recursive: true });
  await pass(120);
  facts.stop();
  assert.deepEqual(
    ['gate', 'roof', 'yard'].map((cameraId) => existsSync(factsPath(factsDir, cameraId))),
    [false, true, true],
  );
});

test('where facts can not be kept no recording is asked in vain again, and what was learned is kept once they can be', async (t) => {
  const { archiveDir, factsDir, restart } = setUp(t);
  const cameraIds = ['gate', 'roof'];
  for (const cameraId of cameraIds)
    for (let hour = 0; hour < 20; hour += 1)
      writeClosed(join(archiveDir, cameraId), { startMs: START_MS + hour * HOUR_MS });
  const run = restart();
  const asked: string[] = [];
  let isBroken = true;
  const runJob = run.runner.run.bind(run.runner);
  run.runner.run = async (name, input) => {
    if (name === 'keepFacts' && isBroken) throw new Error('ENOSPC');
    if (name === 'lookInto') {
      const { cameraId, files } = input as JobInput<'lookInto'>;
      asked.push(...files.map(({ fileName }) => `${cameraId}/${fileName}`));
    }
    return runJob(name, input);
  };
  const lookAtAll = async (): Promise<void> => {
    for (const cameraId of cameraIds) run.facts.learnSoon(cameraId);
    await settle(run);
  };
  run.facts.start();
  await settle(run);
  const firstAsked = asked.length;
  for (let hour = 20; hour < 24; hour += 1) {
    writeClosed(join(archiveDir, 'gate'), { startMs: START_MS + hour * HOUR_MS });
    await lookAtAll();
  }
  assert.equal(asked.length, firstAsked, 'while none can be kept');
  isBroken = false;
  await lookAtAll();
  assert.deepEqual([asked.length, new Set(asked).size], [44, 44]);
  assert.deepEqual(
    cameraIds.map((cameraId) => readFacts(factsPath(factsDir, cameraId)).count),
    [24, 20],
  );
  run.facts.stop();
});

test('a disk that fails amid the reading costs what was asked of it before no second time', async (t) => {
  const { folder, restart, keptPath } = setUp(t);
  for (let hour = 0; hour < 600; hour += 1) writeClosed(folder, { startMs: START_MS + hour * HOUR_MS });
  const run = restart();
  let looks = 0;
  const counts: number[] = [];
  const runJob = run.runner.run.bind(run.runner);
  run.runner.run = async (name, input) => {
    if (name !== 'lookInto') return runJob(name, input);
    looks += 1;
    if (looks === 2) throw new Error('EIO');
    const found = await runJob(name, input);
    counts.push((found as readonly unknown[]).length);
    return found;
  };
  run.facts.start();
  await settle(run);
  run.facts.learnSoon('door');
  await settle(run);
  run.facts.stop();
  assert.equal(readFacts(keptPath).count, 600);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    600,
  );
});
