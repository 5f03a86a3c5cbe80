import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterModel } from './ownership-rig.js';

/** The most boxes that had any of these at the same time. */
const mostOwners = async (
  model: ClusterModel,
  ids: readonly string[],
  durationMs: number,
): Promise<number> => {
  let most = 0;
  for (let passed = 0; passed < durationMs; passed += 50) {
    await model.pass(50);
    for (const id of ids) most = Math.max(most, model.owners(id).length);
  }
  return most;
};

const takesOf = (model: ClusterModel): number =>
  model.boxes.reduce((sum, { takes }) => sum + [...takes.values()].reduce((all, count) => all + count, 0), 0);

test('when a majority is back each camera that nobody has is taken by one box', async () => {
  const model = new ClusterModel(9, 45);
  for (const box of model.boxes) box.start();
  await model.pass(20_000);
  for (const box of model.boxes.slice(0, 5)) box.kill();
  await model.pass(60_000);
  const orphans = model.cameras.map(({ id }) => id).filter((id) => model.owners(id).length === 0);
  assert.ok(orphans.length > 5, 'four of nine take nothing');
  for (const { takes } of model.boxes) takes.clear();
  model.boxes[0]!.start();
  assert.equal(await mostOwners(model, orphans, 8_000), 1);
  assert.equal(takesOf(model), orphans.length);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
});

test('a camera that is off, and whose box is lost, is taken by one box', async () => {
  const model = new ClusterModel(9, 30);
  for (const box of model.boxes) box.start();
  await model.pass(20_000);
  const { id } = model.cameras[0]!;
  const [owner] = model.owners(id);
  for (const { unreachable } of model.boxes) unreachable.add(id);
  // Between two rounds of trials.
  await model.pass(9 * 60_000);
  owner!.kill();
  assert.equal(await mostOwners(model, [id], 5_000), 1);
  assert.equal(model.owners(id).length, 1);
});
