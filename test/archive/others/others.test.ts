import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.js';
import { CAMERA, near, othersRig, rowOf } from './others-rig.js';

const START_MS = Date.UTC(2026, 10, 21, 8, 0);
const HOUR_MS = 3_600_000;

test('what a lost box wrote last may lie within a time that is deleted: it is said that it stays', async (t) => {
  const { others, write } = othersRig(t, [near('north', false), near('south', false)]);
  write('north', [rowOf('north', START_MS, null)]);
  write('south', [rowOf('south', START_MS, START_MS + HOUR_MS)]);
  const left = async (fromMs: number, toMs: number): Promise<string[]> =>
    (await others.deleteWithin(CAMERA, fromMs, toMs)).left.map(({ box }) => box).sort();
  assert.deepEqual(await left(START_MS, START_MS + HOUR_MS), ['north', 'south']);
  assert.deepEqual(await left(START_MS - 1, START_MS + 1), ['north'], 'where it ends is not known');
  assert.deepEqual(await left(START_MS + 1, START_MS + HOUR_MS), [], 'what begins before stays anyhow');
  assert.deepEqual(await left(START_MS - HOUR_MS, START_MS), []);
});

test('of a box that does not delete it is said why, and the log has it', async (t) => {
  const { others, asks, nothing, lines } = othersRig(t, [near('north'), near('south'), near('west')]);
  asks.ask = async (box, question) => {
    if (question['what'] !== 'delete') return nothing(box, question);
    if (box === 'north') return { deleted: 3 };
    throw new AppError(box === 'south' ? 'archive_unavailable' : 'relay_stalled', 'it does not');
  };
  const { deletedCount, left } = await others.deleteWithin(CAMERA, START_MS, START_MS + HOUR_MS);
  assert.equal(deletedCount, 3);
  assert.deepEqual(left, [
    { box: 'south', code: 'archive_unavailable' },
    { box: 'west', code: null },
  ]);
  const told = lines.filter(({ message }) => message === 'another box does not delete recordings');
  assert.deepEqual(
    told.map(({ fields }) => [fields['box'], fields['code']]),
    [
      ['south', 'archive_unavailable'],
      ['west', 'relay_stalled'],
    ],
  );
});

test('a box without an address can not be asked: what it has stays, and that is said', async (t) => {
  const boxes = [{ ...near('north'), address: null }, near('south')];
  const { others, asked } = othersRig(t, boxes);
  const { left } = await others.deleteWithin(CAMERA, START_MS, START_MS + HOUR_MS);
  assert.deepEqual(left, [{ box: 'north', code: null }]);
  assert.ok(asked.length > 0 && asked.every((one) => one.startsWith('south')), asked.join());
});

test('boxes that live and do not tell what they have of a camera are known, until they do', async (t) => {
  const boxes = [near('north'), { ...near('south'), address: null }, near('west', false)];
  const { others, asks, nothing, clock } = othersRig(t, boxes);
  const hanging: ((fault: Error) => void)[] = [];
  asks.ask = () => new Promise((_, reject) => hanging.push(reject));
  const listed = async (): Promise<readonly string[]> => {
    const list = others.of(CAMERA, true);
    const passing = setInterval(() => clock.advance(500), 1);
    await list;
    clearInterval(passing);
    return others.unheard(CAMERA);
  };
  assert.deepEqual(others.unheard(CAMERA), [], 'nobody has asked');
  assert.deepEqual(await listed(), ['north', 'south']);
  boxes[1] = near('south');
  asks.ask = nothing;
  for (const reject of hanging) reject(new AppError('relay_stalled', 'it does not answer in time'));
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(30_000);
  assert.deepEqual(await listed(), []);
  // What is being written there is asked for again and again.
  const restarted = othersRig(t, [near('south')]);
  restarted.write('south', [rowOf('south', clock.wallMs() - HOUR_MS, null)]);
  await restarted.others.of(CAMERA, true);
  assert.deepEqual(restarted.others.unheard(CAMERA), []);
  restarted.asks.ask = async () => {
    throw new AppError('relay_unreachable', 'it does not listen');
  };
  restarted.clock.advance(12_000);
  assert.equal((await restarted.others.of(CAMERA, true)).length, 1);
  assert.deepEqual(restarted.others.unheard(CAMERA), ['south']);
});

test('of a box that is gone for good nothing is known any more; one that is here stays, or comes back', async (t) => {
  const boxes = [near('north', false), near('south')];
  const { others, boxesDir, write } = othersRig(t, boxes);
  const row = (box: string) => rowOf(box, START_MS, START_MS + HOUR_MS);
  write('north', [row('north')]);
  write('south', [row('south')]);
  const listed = async (): Promise<string[]> =>
    (await others.of(CAMERA, true)).map(({ box, isAway }) => `${box} ${isAway === true}`).sort();
  assert.deepEqual(await listed(), ['north true', 'south false']);
  assert.equal(others.knows('north'), true);
  await others.forget('north');
  await others.forget('south');
  await others.forget('../north');
  assert.deepEqual(await listed(), ['south false']);
  assert.equal(others.knows('north'), false);
  assert.deepEqual(readdirSync(boxesDir), ['south']);
  assert.deepEqual((await others.deleteWithin(CAMERA, START_MS, START_MS + HOUR_MS)).left, []);
  boxes[0] = near('north');
  write('north', [row('north')]);
  await listed();
  assert.equal(others.knows('north'), true);
});
