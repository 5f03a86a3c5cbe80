import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClusterModel, type ModelBox, settledModel } from './ownership-rig.js';

const longestGapMs = (model: ClusterModel): number => Math.max(0, ...model.longestGapMs.values());

const unrecorded = (model: ClusterModel): string[] =>
  model.cameras
    .filter(({ id }) => !model.boxes.some((box) => box.isHere && box.isReady(id)))
    .map(({ id }) => id);

test('nobody lets a camera go for a box where it worked for a moment, and does no more', async () => {
  const model = await settledModel(3, 12);
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

const blind = (model: ClusterModel, box: ModelBox): void => {
  for (const { id } of model.cameras) box.unreachable.add(id);
};

const tookOf = (model: ClusterModel): number =>
  model.boxes.reduce((sum, { takes }) => sum + [...takes.values()].reduce((all, count) => all + count, 0), 0);

const MOST_GAP_MS = 5_000;

for (const [boxes, cameras] of [
  [3, 60],
  [2, 300],
  [5, 120],
] as const)
  test(`the cameras of a box that loses them are recorded by others: ${boxes} boxes, ${cameras} cameras`, async () => {
    const model = await settledModel(boxes, cameras);
    const [cut] = model.boxes;
    const had = cut!.ownership!.count;
    blind(model, cut!);
    await model.pass(40_000);
    assert.ok(longestGapMs(model) <= MOST_GAP_MS, `${longestGapMs(model)} ms`);
    assert.equal(cut!.ownership!.count, 0);
    assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
    assert.equal(tookOf(model), had, 'each was taken once');
    // It reaches them again.
    cut!.unreachable.clear();
    model.forgetGaps();
    await model.pass(20 * 60_000);
    assert.equal(cut!.ownership!.count, had);
    assert.equal(longestGapMs(model), 0);
    assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  });

test('of what was silent for less than some seconds nothing moves', async () => {
  const model = await settledModel(3, 60);
  const [cut] = model.boxes;
  const had = cut!.ownership!.count;
  blind(model, cut!);
  await model.pass(6_000);
  assert.ok(longestGapMs(model) <= MOST_GAP_MS, `${longestGapMs(model)} ms`);
  cut!.unreachable.clear();
  await model.pass(2_000);
  assert.equal(cut!.ownership!.count, had);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
});

test('a camera that stops for a moment again and again stays where it is', async () => {
  const model = await settledModel(3, 60);
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  for (let time = 0; time < 30; time++) {
    for (const { unreachable } of model.boxes) unreachable.add(id);
    await model.pass(4_000);
    for (const { unreachable } of model.boxes) unreachable.delete(id);
    await model.pass(26_000);
    assert.deepEqual(model.owners(id), [owner]);
  }
  assert.ok(tookOf(model) <= 8, `${tookOf(model)} trials`);
});

test('where all boxes lose all cameras nobody tries those of others', async () => {
  const model = await settledModel(3, 60);
  for (const box of model.boxes) blind(model, box);
  await model.pass(25_000);
  assert.equal(tookOf(model), 0);
  const before = model.boxes.map(({ ownership }) => ownership!.count);
  for (const { unreachable } of model.boxes) unreachable.clear();
  await model.pass(20_000);
  assert.deepEqual(unrecorded(model), []);
  assert.deepEqual(
    model.boxes.map(({ ownership }) => ownership!.count),
    before,
  );
});

test('of a camera that is off no trial is written down, as it has no recording', async () => {
  const model = await settledModel(3, 12);
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  const others = model.boxes.filter((box) => box !== owner);
  for (const { unreachable } of model.boxes) unreachable.add(id);
  for (let seconds = 0; seconds < 120; seconds++) {
    await model.pass(1_000);
    for (const { written } of others) assert.equal(written.has(id), false);
  }
  assert.ok(tookOf(model) > 1);
  owner.kill();
  await model.pass(5_000);
  for (const { unreachable } of model.boxes) unreachable.clear();
  await model.pass(60_000);
  const [now] = model.owners(id);
  assert.equal(now!.written.get(id), model.claims.epochs.get(id));
});

test('a box that lives, and says no more what it has, is not believed what it said before', async () => {
  const model = await settledModel(3, 12);
  const [mute, ...others] = model.boxes;
  mute!.isMute = true;
  blind(model, mute!);
  await model.pass(60_000);
  for (const { id } of model.cameras)
    assert.ok(
      others.some((box) => box.isReady(id)),
      id,
    );
  mute!.isMute = false;
  await model.pass(3_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  assert.deepEqual(unrecorded(model), []);
  // Who hears nobody is it that is cut off.
  for (const { takes } of model.boxes) takes.clear();
  for (const box of others) box.isMute = true;
  await model.pass(60_000);
  assert.equal(mute!.takes.size, 0);
});

test('a claim that somebody else was before is tried again, and not all the time', async () => {
  const model = await settledModel(3, 12);
  model.claims.isBehind = true;
  const before = model.claims.asked;
  model.boxes[0]!.kill();
  await model.pass(10_000);
  const cameras = 12;
  assert.ok(model.claims.asked - before <= 20 * cameras, `${model.claims.asked - before} times`);
  model.claims.isBehind = false;
  await model.pass(1_000);
  for (const { id } of model.cameras)
    assert.equal(model.owners(id)[0]!.written.get(id), model.claims.epochs.get(id));
});

test('a camera that refuses its box is left alone by all others, and goes on there when it is let in again', async () => {
  const model = await settledModel(3, 12);
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  model.refusing.add(id);
  await model.pass(10 * 60_000);
  assert.deepEqual(model.owners(id), [owner]);
  assert.equal(tookOf(model), 0, 'nobody else tried its password');
  model.refusing.delete(id);
  await model.pass(5_000);
  assert.deepEqual(unrecorded(model), []);
});

test("a camera that ends its box's threads is taken by the others knowing that, be it when that box is gone", async () => {
  const model = await settledModel(5, 12);
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  owner.unreachable.add(id);
  owner.suspicions.set(id, 'found_out');
  await model.pass(20_000);
  const [taker] = model.owners(id);
  assert.ok(taker !== undefined && taker !== owner, 'it may be that box');
  assert.deepEqual([...taker.takenAsEnders], [id]);
  owner.kill();
  taker.kill();
  await model.pass(10_000);
  const [last] = model.owners(id);
  assert.deepEqual([...last!.takenAsEnders], [id]);
});

test('while a box finds out which camera ends its threads no other takes any of them, but for half a minute at most', async () => {
  const model = await settledModel(3, 12);
  const owner = model.boxes.find((box) => box.ownership!.count > 1)!;
  const ids = model.cameras.map(({ id }) => id).filter((id) => owner.ownership!.has(id));
  for (const id of ids) {
    owner.unreachable.add(id);
    owner.suspicions.set(id, 'suspected');
  }
  await model.pass(25_000);
  assert.equal(tookOf(model), 0);
  await model.pass(20_000);
  assert.deepEqual(unrecorded(model), []);
});

test('a camera that comes under suspicion while another box stands in stays no less, and comes back no sooner', async () => {
  const model = await settledModel(3, 12);
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  owner.unreachable.add(id);
  await model.pass(6_000);
  assert.ok(model.owners(id).some((box) => box !== owner && box.isReady(id)));
  owner.suspicions.set(id, 'suspected');
  await model.pass(4_000);
  assert.ok(model.owners(id).includes(owner), 'it may work there again');
  await model.pass(10_000);
  const [taker] = model.owners(id);
  assert.notEqual(taker, owner);
  owner.unreachable.clear();
  owner.suspicions.clear();
  await model.pass(5 * 60_000);
  assert.deepEqual(model.owners(id), [taker]);
  await model.pass(6 * 60_000);
  assert.deepEqual(model.owners(id), [owner]);
});

test('a box whose threads die takes none from others meanwhile, though it is not known which camera it is', async () => {
  const model = await settledModel(3, 24);
  const [sick, other, third] = model.boxes;
  for (const { id } of model.cameras)
    if (sick!.ownership!.has(id)) {
      sick!.unreachable.add(id);
      sick!.suspicions.set(id, 'suspected');
    }
  await model.pass(3_000);
  for (const { id } of model.cameras)
    if (other!.ownership!.has(id)) for (const box of [other!, third!]) box.unreachable.add(id);
  for (const { takes } of model.boxes) takes.clear();
  await model.pass(15_000);
  assert.equal(sick!.takes.size, 0);
});

test('that a camera ends threads is forgotten an hour after it did, also where it is', async () => {
  const model = await settledModel(3, 12);
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  owner.suspicions.set(id, 'found_out');
  await model.pass(2_000);
  assert.ok(model.boxes.every(({ ownership }) => ownership!.endsThreads(id)));
  owner.suspicions.clear();
  let isTold = 0;
  owner.ownership!.changed.on((ids) => {
    isTold += ids.includes(id) ? 1 : 0;
  });
  await model.pass(62 * 60_000);
  assert.ok(!model.boxes.some(({ ownership }) => ownership!.endsThreads(id)));
  assert.equal(isTold, 1);
});

test('a camera that was silent, was sought, and is silent again is tried by one box after the other', async () => {
  const model = await settledModel(5, 12);
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  for (const { unreachable } of model.boxes) unreachable.add(id);
  await model.pass(4_000);
  assert.ok(tookOf(model) > 0);
  owner.suspicions.set(id, 'suspected');
  await model.pass(20_000);
  owner.suspicions.set(id, 'found_out');
  for (let passed = 0; passed < 5_000; passed += 250) {
    await model.pass(250);
    assert.ok(model.owners(id).length <= 2, `${model.owners(id).length} boxes`);
  }
});
