import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterModel } from './ownership-rig.js';

const longestGapMs = (model: ClusterModel): number => Math.max(0, ...model.longestGapMs.values());

/** A cluster whose boxes have their shares, and would be given some back. */
const settled = async (boxes: number, cameras: number): Promise<ClusterModel> => {
  const model = new ClusterModel(boxes, cameras);
  for (const box of model.boxes) box.start();
  await model.pass(80_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  model.forgetGaps();
  for (const { takes } of model.boxes) takes.clear();
  return model;
};

test('nobody lets a camera go for a box where it worked for a moment, and does no more', async () => {
  const model = await settled(3, 12);
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  const target = model.boxes.find((box) => box !== owner)!;
  model.claims.isAway = true;
  model.cameras[0]!.box = target.name;
  for (let waited = 0; waited < 5_000 && !target.isReady(id); waited += 50) await model.pass(50);
  await model.pass(500);
  target.unreachable.add(id);
  await model.pass(5_000);
  model.claims.isAway = false;
  await model.pass(60_000);
  assert.deepEqual(model.owners(id), [owner]);
  assert.equal(longestGapMs(model), 0);
});
