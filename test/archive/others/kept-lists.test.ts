import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KeptLists } from '../../../src/archive/others/kept-lists.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { writeClosed, writeOpen } from '../recording-file.js';
import { CAMERA, OWNER, twoBoxes } from './two-boxes.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);
const HOUR_MS = 3_600_000;

test('what another box has is known with its times, its size, its claim and its name; what is written, too', async (t) => {
  const { folder, lists, known, recordings } = twoBoxes(t);
  const fileName = writeClosed(folder, { startMs: START_MS });
  writeOpen(folder, { startMs: START_MS + HOUR_MS });
  writeFileSync(join(folder, '2026-11-21_08-30-00.detections'), 'seen');
  await lists.poll();
  const own = await recordings.list(CAMERA);
  const others = await until('both are known', async () => {
    const found = await known.of(CAMERA, true);
    return found.length === 2 && found;
  });
  assert.deepEqual(
    others.map(({ stored: _, ...one }) => one),
    own,
  );
  assert.deepEqual(
    others.map(({ box, epoch, isOpen, stored }) => [box, epoch, isOpen, stored?.ofBox, stored?.sidecarBytes]),
    [
      [OWNER, 7, false, OWNER, 4],
      [OWNER, 7, true, OWNER, 0],
    ],
  );
  assert.ok(others[0]!.stored!.object.endsWith(`/${CAMERA}/${fileName}`));
  const away = await known.of(CAMERA, false);
  assert.ok(away.every(({ isAway }) => isAway === true));
  assert.equal((await known.of(CAMERA, false))[0], away[0], 'they are made once');
});

test('only cameras of which there is news are asked for; what goes is known, a folder that goes, too', async (t) => {
  const { archiveDir, folder, clock, lists, known, asked } = twoBoxes(t);
  const first = writeClosed(folder, { startMs: START_MS });
  writeClosed(join(archiveDir, 'gate'), { startMs: START_MS });
  const after = async (what: () => void): Promise<string[]> => {
    what();
    clock.advance(2_000);
    asked.length = 0;
    await lists.poll();
    return asked.filter((one) => one !== 'news').sort();
  };
  assert.deepEqual(await after(() => {}), [`list ${CAMERA}`, 'list gate']);
  assert.deepEqual(await after(() => {}), []);
  assert.deepEqual(await after(() => writeClosed(folder, { startMs: START_MS + HOUR_MS })), [
    `list ${CAMERA}`,
  ]);
  assert.equal((await known.of(CAMERA, true)).length, 2);
  await after(() => rmSync(join(folder, first)));
  assert.equal((await known.of(CAMERA, true)).length, 1);
  assert.deepEqual(await after(() => rmSync(folder, { recursive: true })), [`list ${CAMERA}`]);
  assert.equal((await known.of(CAMERA, true)).length, 0);
  // What was added to late shows in no folder: each is looked at once more.
  clock.advance(80_000);
  assert.deepEqual(await after(() => {}), [`list ${CAMERA}`, 'list gate']);
  assert.deepEqual(await after(() => {}), []);
});

test('a box that begins anew is asked for all; one that is away for nothing, and what is known stays', async (t) => {
  const { folder, clock, lists, known, asked, lines, state, restart } = twoBoxes(t);
  writeClosed(folder, { startMs: START_MS });
  await lists.poll();
  assert.equal((await known.of(CAMERA, true)).length, 1);
  state.isHere = false;
  clock.advance(2_000);
  await lists.poll();
  assert.equal((await known.of(CAMERA, false)).length, 1);
  state.isHere = true;
  restart();
  renameSync(
    join(folder, '2026-11-21_08-30-00_to_08-30-05.mp4'),
    join(folder, '2026-11-21_08-30-00_to_08-30-06.mp4'),
  );
  clock.advance(2_000);
  asked.length = 0;
  await lists.poll();
  assert.ok(asked.includes(`list ${CAMERA}`));
  assert.match((await known.of(CAMERA, true))[0]!.fileName, /08-30-06\.mp4$/);
  assert.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('nobody waits for a box that is silent, and after that nobody at all for a while', async (t) => {
  const { clock, lists, asked, state } = twoBoxes(t);
  state.isSilent = true;
  const waiting = lists.refresh(CAMERA, 2_000, 1_000);
  await until('it is asked', () => asked.length === 1);
  clock.advance(1_000);
  await waiting;
  await lists.refresh(CAMERA, 2_000, 1_000);
  assert.equal(asked.length, 1);
  assert.equal(clock.pendingTimers, 0);
});

test('whatever a box tells, nothing is written but lists of cameras', async (t) => {
  const asked: unknown[] = [];
  const { log, lines } = logLines();
  const answers: unknown[] = [
    { boot: 'b', upTo: 3, cameraIds: ['../door', 5, null, '.', 'door'], isMore: false },
    { boot: 5 },
    { boot: 'b', upTo: 4, cameraIds: 'all', isMore: true },
    { boot: 'b', upTo: 4, cameraIds: [], isMore: true },
    { boot: 'b', upTo: 4, cameraIds: [], isMore: true },
  ];
  const lists = new KeptLists(
    { box: OWNER, boxesDir: tempFolder(t) },
    {
      ...{ clock: new FakeClock(), log, runner: new InlineRunner(), isHere: () => true, onTaken: () => {} },
      asker: {
        ask: async (_box, { what, cameraId }) => {
          if (what === 'list') asked.push(cameraId);
          const content = (what === 'list' ? { gone: 'all', isMore: 'yes' } : answers.shift()) ?? {};
          return { content: content as Record<string, unknown>, bytes: new Uint8Array(5) };
        },
      },
    },
  );
  while (answers.length > 0) await lists.poll();
  assert.deepEqual(asked, ['door']);
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['warn', 'info'],
  );
});

test('what a box wrote when it was lost lasts until it was heard last, also after a restart', async (t) => {
  const { boxesDir, folder, clock, runner, lists, known } = twoBoxes(t);
  const startMs = clock.wallMs();
  writeOpen(folder, { startMs: startMs - HOUR_MS });
  writeOpen(folder, { startMs });
  await lists.poll();
  const [, told] = await known.of(CAMERA, true);
  assert.ok(told!.endMs < startMs + 60_000);
  // It grows, of which no folder tells.
  for (let passed = 0; passed < 600; passed += 2) {
    clock.advance(2_000);
    await lists.poll();
  }
  const heardMs = clock.wallMs();
  clock.advance(60_000);
  const [earlier, last] = await known.of(CAMERA, false);
  assert.deepEqual([last!.isAway, last!.endMs], [true, heardMs]);
  assert.ok(earlier!.endMs < startMs, 'but only what it began last');
  assert.equal((await known.of(CAMERA, false))[1], last, 'it is made once');
  await lists.keepHeard();
  const kept = await runner.run('listsOfBoxes', { boxesDir });
  assert.deepEqual(kept, [{ box: OWNER, cameraIds: [CAMERA], heardMs }]);
  clock.advance(25 * HOUR_MS);
  await lists.poll();
  assert.equal((await known.of(CAMERA, false))[1]!.endMs, startMs + 25 * HOUR_MS, 'none is longer');
});

test('where a box is merely late with one camera, the others are not made to wait for it', async (t) => {
  const { clock, folder, lists, asked, state } = twoBoxes(t);
  writeClosed(folder, { startMs: START_MS });
  await lists.poll();
  state.silentOf = CAMERA;
  const waiting = lists.refresh(CAMERA, 0, 1_000);
  await until('it is asked', () => asked.at(-1) === `list ${CAMERA}`);
  clock.advance(1_000);
  await waiting;
  asked.length = 0;
  await lists.refresh(CAMERA, 0, 1_000);
  assert.deepEqual(asked, [], 'not even asked, for a while');
  await lists.refresh('gate', 0, 1_000);
  assert.deepEqual(asked, ['list gate']);
  assert.equal(lists.isCurrent('gate', 1_000), true);
});

test('what becomes news while a list is on its way is asked for when that is here', async (t) => {
  const { clock, folder, lists, known, asked, state } = twoBoxes(t);
  writeClosed(folder, { startMs: START_MS });
  await lists.poll();
  const held = state.hold();
  const first = lists.refresh(CAMERA, 0, 60_000);
  await until('it was answered', () => held.isAnswered);
  writeClosed(folder, { startMs: START_MS + HOUR_MS });
  clock.advance(2_000);
  const polled = lists.poll();
  await until('the news is known', () => !lists.isCurrent(CAMERA, HOUR_MS));
  held.release();
  await Promise.all([first, polled]);
  assert.equal((await known.of(CAMERA, true)).length, 2);
  assert.equal(asked.filter((one) => one === `list ${CAMERA}`).length, 3);
});

test('a camera that is refused is asked for ever less often, and holds up no other one', async (t) => {
  const { archiveDir, clock, folder, lists, known, asked, lines, state } = twoBoxes(t);
  writeClosed(folder, { startMs: START_MS });
  writeClosed(join(archiveDir, 'gate'), { startMs: START_MS });
  state.refused = CAMERA;
  const minutes = async (count: number): Promise<number> => {
    asked.length = 0;
    for (let passed = 0; passed < count * 60; passed += 2) {
      clock.advance(2_000);
      await lists.poll();
    }
    return asked.filter((one) => one === `list ${CAMERA}`).length;
  };
  await minutes(20);
  assert.equal((await known.of('gate', true)).length, 1);
  assert.ok((await minutes(60)) <= 7);
  assert.equal(lines.filter(({ level }) => level === 'warn').length, 1, 'it is told once');
  state.refused = null;
  assert.ok((await minutes(20)) <= 2);
  assert.equal((await known.of(CAMERA, true)).length, 1);
  assert.equal(lines.filter(({ level }) => level === 'info').length, 1);
});

test('a box whose disk is back is asked at once for all that it refused', async (t) => {
  const { clock, folder, lists, runner, state } = twoBoxes(t);
  writeClosed(folder, { startMs: START_MS });
  await lists.poll();
  // What is told once more, as files are added to late, is told.
  clock.advance(80_000);
  await lists.poll();
  assert.equal(lists.isCurrent(CAMERA, 60_000), true);
  [runner.failing, state.refused] = ['changedFolders', CAMERA];
  lists.doubt(CAMERA);
  for (let passed = 0; passed < 3_600; passed += 2) {
    clock.advance(2_000);
    await lists.poll();
  }
  assert.equal(lists.isCurrent(CAMERA, 60_000), false);
  [runner.failing, state.refused] = [null, null];
  clock.advance(2_000);
  await lists.poll();
  assert.equal(lists.isCurrent(CAMERA, 60_000), true);
});

test('where nothing can be written here, boxes make lists for nothing once a minute at most', async (t) => {
  const { archiveDir, clock, lists, runner, asked } = twoBoxes(t);
  for (const cameraId of ['a', 'b', 'c']) writeClosed(join(archiveDir, cameraId), { startMs: START_MS });
  runner.failing = 'takeRows';
  const minutes = async (count: number): Promise<number> => {
    asked.length = 0;
    for (let passed = 0; passed < count * 60; passed += 2) {
      clock.advance(2_000);
      await lists.poll();
      await lists.refresh('b', 0, 1_000);
    }
    return asked.filter((one) => one !== 'news').length;
  };
  await minutes(5);
  assert.ok((await minutes(10)) <= 11);
  runner.failing = null;
  await minutes(2);
  assert.equal(lists.isCurrent('a', HOUR_MS) && lists.isCurrent('c', HOUR_MS), true);
});

test('what a box has is not known any more where it tells no news for a while, until it does', async (t) => {
  const { clock, folder, lists, state } = twoBoxes(t);
  writeClosed(folder, { startMs: START_MS });
  const isCurrentAfter = async (seconds: number): Promise<boolean> => {
    for (let passed = 0; passed < seconds; passed += 2) {
      clock.advance(2_000);
      await lists.poll();
    }
    return lists.isCurrent(CAMERA, HOUR_MS);
  };
  assert.equal(await isCurrentAfter(60), true);
  state.isHere = false;
  assert.equal(await isCurrentAfter(10), true);
  assert.equal(await isCurrentAfter(10), false);
  state.isHere = true;
  assert.equal(await isCurrentAfter(2), true);
});
