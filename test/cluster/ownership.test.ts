import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ClusterModel, type ModelBox } from './ownership-rig.js';

const CAMERAS = 12;

/** A cluster whose boxes have their shares. */
const settled = async (boxes = 3): Promise<ClusterModel> => {
  const model = new ClusterModel(boxes, CAMERAS);
  for (const box of model.boxes) box.start();
  await model.pass(6_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  model.forgetGaps();
  return model;
};

const longestGap = (model: ClusterModel): number => Math.max(0, ...model.longestGapMs.values());

const unrecorded = (model: ClusterModel): string[] =>
  model.cameras
    .filter(({ id }) => !model.boxes.some((box) => box.isHere && box.isReady(id)))
    .map(({ id }) => id);

const cutOff = (model: ClusterModel, cut: ModelBox): void => {
  for (const box of model.boxes)
    if (box !== cut) {
      box.deaf.add(cut.name);
      cut.deaf.add(box.name);
    }
};

test('boxes that start together share the cameras, and one that is lost is replaced at once', async () => {
  const model = await settled();
  const [lost] = model.boxes;
  for (const box of model.boxes) assert.ok(box.ownership!.count > 0, box.name);
  model.claims.isAway = true;
  lost!.kill();
  await model.pass(5_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]), 'no leader is needed for that');
  assert.ok(longestGap(model) < 3_500, `${longestGap(model)} ms`);
});

test('a box that is back gets its cameras one by one after a minute, and none is missed meanwhile', async () => {
  const model = await settled();
  const [box] = model.boxes;
  const share = box!.ownership!.count;
  box!.kill();
  await model.pass(5_000);
  model.forgetGaps();
  box!.start();
  await model.pass(55_000);
  assert.equal(box!.ownership!.count, 0);
  await model.pass(60_000);
  assert.equal(box!.ownership!.count, share);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  assert.equal(longestGap(model), 0);
});

test('a new box gets its share at once, however long it took to start', async () => {
  const model = new ClusterModel(3, CAMERAS);
  const [one, two, late] = model.boxes;
  one!.start();
  two!.start();
  await model.pass(20_000);
  late!.start(20_000);
  await model.pass(40_000);
  assert.ok(late!.ownership!.count > 0);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
});

test('a box that hands over is left when all that it had works elsewhere', async () => {
  const model = await settled();
  const leaving = model.boxes[1]!.leave();
  await model.pass(5_000);
  await leaving;
  assert.equal(model.boxes[1]!.isHere, false);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  assert.equal(longestGap(model), 0);
  const rest = model.boxes[0]!.leave();
  await model.pass(5_000);
  await rest;
  assert.equal(longestGap(model), 0);
  // The last one has nobody to wait for.
  const startMs = model.clock.monotonicMs();
  await model.boxes[2]!.leave();
  assert.equal(model.clock.monotonicMs(), startMs);
});

test('who hears nobody keeps what it has and takes nothing; what was recorded twice comes down to one', async () => {
  const model = await settled();
  const [cut] = model.boxes;
  const had = model.cameras.filter(({ id }) => cut!.ownership!.has(id));
  cutOff(model, cut!);
  await model.pass(6_000);
  assert.equal(cut!.ownership!.count, had.length, 'it keeps what it has');
  for (const { id } of had) assert.equal(model.owners(id).length, 2, 'the others have it, too');
  for (const box of model.boxes) box.deaf.clear();
  await model.pass(3_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  assert.equal(cut!.ownership!.count, 0, 'the later claim wins');
  assert.equal(longestGap(model), 0);
});

test('a camera that only one box can reach stays with it', async () => {
  const model = await settled();
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  const other = model.boxes.find((box) => box !== owner)!;
  other.unreachable.add(id);
  model.cameras[0]!.box = other.name;
  for (let waited = 0; waited < 20_000; waited += 500) {
    await model.pass(500);
    assert.equal(owner.ownership!.has(id), true);
    for (const box of model.boxes)
      if (box !== other) assert.equal(box.ownership!.boxOf(id), owner.name, 'it is shown where it works');
  }
  await model.pass(60_000);
  assert.deepEqual(model.owners(id), [owner], 'it was given up there');
  assert.equal(longestGap(model), 0);
});

test('a camera that is pinned goes there, and back when that box is lost', async () => {
  const model = await settled();
  const { id } = model.cameras[0]!;
  const target = model.boxes.find((box) => box !== model.owners(id)[0])!;
  model.cameras[0]!.box = target.name;
  await model.pass(6_000);
  assert.deepEqual(model.owners(id), [target]);
  assert.equal(longestGap(model), 0);
  target.kill();
  await model.pass(5_000);
  assert.equal(model.owners(id).length, 1);
});

test('boxes that all end and start again take what they had, not what is others', async () => {
  const model = await settled();
  const before = model.cameras.map(({ id }) => model.owners(id)[0]?.name);
  for (const box of model.boxes) box.kill();
  await model.pass(1_000);
  for (const box of model.boxes) {
    box.start();
    await model.pass(2_500);
  }
  await model.pass(5_000);
  assert.deepEqual(
    model.cameras.map(({ id }) => model.owners(id)[0]?.name),
    before,
  );
});

const events = ['kill', 'start', 'cut', 'mend', 'deafen', 'away', 'there', 'blind', 'see'] as const;

type Step = readonly [what: (typeof events)[number], box: number];

test('whatever happens to boxes, one box has each camera when that is over', async () => {
  const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom(...events), fc.nat(2));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(step, fc.integer({ min: 1, max: 80 })), { maxLength: 12 }),
      async (steps) => {
        const model = await settled();
        const does: Record<Step[0], (at: number) => void> = {
          kill: (at) => model.boxes[at]!.kill(),
          start: (at) => {
            if (!model.boxes[at]!.isHere) model.boxes[at]!.start();
          },
          cut: (at) => {
            for (const box of model.boxes) {
              box.deaf.add(model.boxes[at]!.name);
              model.boxes[at]!.deaf.add(box.name);
            }
          },
          deafen: (at) => {
            for (const box of model.boxes) model.boxes[at]!.deaf.add(box.name);
          },
          mend: () => {
            for (const box of model.boxes) box.deaf.clear();
          },
          away: () => {
            model.claims.isAway = true;
          },
          there: () => {
            model.claims.isAway = false;
          },
          blind: (at) => {
            for (const { id } of model.cameras) model.boxes[at]!.unreachable.add(id);
          },
          see: (at) => model.boxes[at]!.unreachable.clear(),
        };
        for (const [[what, at], ticks] of steps) {
          does[what](at);
          await model.pass(ticks * 50);
        }
        does.mend(0);
        does.there(0);
        for (const at of [0, 1, 2]) {
          does.see(at);
          does.start(at);
        }
        await model.pass(20_000);
        assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
        assert.deepEqual(unrecorded(model), []);
      },
    ),
    { numRuns: 40 },
  );
});

test('each box knows which other one to ask for pictures, and hears when that is another', async () => {
  const model = await settled();
  const assertAsked = (): void => {
    const living = model.boxes.filter(({ isHere }) => isHere);
    for (const { name, ownership } of living)
      for (const { id } of model.cameras) {
        const owner = living.find((box) => box.ownership!.has(id))!;
        const expected = owner.name === name ? null : { box: owner.name, host: owner.name, port: 7440 };
        assert.deepEqual(ownership!.relayOf(id), expected, `${id} at ${name}`);
      }
  };
  assertAsked();
  const [lost, heir, watcher] = model.boxes;
  const inherited = model.cameras.filter(({ id }) => lost!.ownership!.has(id)).map(({ id }) => id);
  const heard = new Set<string>();
  watcher!.ownership!.changed.on((ids) => {
    for (const id of ids) heard.add(id);
  });
  lost!.kill();
  await model.pass(1_000);
  for (const id of inherited)
    assert.equal(watcher!.ownership!.relayOf(id)?.box, lost!.name, 'who watches waits where it is');
  await model.pass(4_000);
  assertAsked();
  for (const id of inherited) assert.ok(heard.has(id));
  assert.ok(inherited.some((id) => heir!.ownership!.has(id)));
});

test('a database that takes nothing ends no recording: who has which camera is written down when it does', async () => {
  const model = await settled();
  const [lost, heir, other] = model.boxes;
  const before = new Map(heir!.written);
  heir!.isDiskFull = true;
  lost!.kill();
  await model.pass(5_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  assert.ok(longestGap(model) < 3_500, `${longestGap(model)} ms`);
  assert.deepEqual(heir!.written, before);
  assert.match(heir!.ownership!.fault!, /written down: disk full/);
  assert.equal(other!.ownership!.fault, null);
  // One goes meanwhile.
  const gone = model.cameras.findIndex(({ id }) => before.has(id));
  const { id } = model.cameras.splice(gone, 1)[0]!;
  await model.pass(2_000);
  assert.ok(heir!.written.has(id));
  heir!.isDiskFull = false;
  await model.pass(1_100);
  const held = model.cameras.filter((camera) => heir!.ownership!.has(camera.id)).map((camera) => camera.id);
  assert.deepEqual([...heir!.written.keys()].sort(), held.sort());
  for (const cameraId of held) assert.equal(heir!.written.get(cameraId), model.claims.epochs.get(cameraId));
  assert.equal(heir!.ownership!.fault, null);
});

test('servers that lose all claims leave no camera with two, and later claims are still higher', async () => {
  const model = await settled();
  const [cut] = model.boxes;
  const epochs = new Map(model.claims.epochs);
  cutOff(model, cut!);
  model.claims.epochs.clear();
  await model.pass(6_000);
  for (const [id, epoch] of model.claims.epochs) assert.ok(epoch > epochs.get(id)!, id);
  for (const box of model.boxes) box.deaf.clear();
  await model.pass(3_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
});

test('of two that have it by the same claim one lets go', async () => {
  const model = await settled();
  const [cut, ...others] = model.boxes;
  cutOff(model, cut!);
  for (const box of others) {
    // As one that never heard of the claims before, with servers that forgot them.
    box.kill();
    (box.written as Map<string, number>).clear();
  }
  model.claims.epochs.clear();
  await model.pass(2_000);
  for (const box of others) box.start();
  await model.pass(30_000);
  assert.equal(Math.max(...model.ownerCounts), 2);
  model.forgetGaps();
  for (const box of model.boxes) box.deaf.clear();
  await model.pass(5_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  assert.equal(longestGap(model), 0);
});

test('a camera that is off everywhere holds up none that comes over after it', async () => {
  const model = await settled();
  const [box] = model.boxes;
  const share = model.cameras.filter(({ id }) => box!.ownership!.has(id)).map(({ id }) => id);
  for (const { unreachable } of model.boxes) unreachable.add(share[0]!);
  box!.kill();
  await model.pass(5_000);
  box!.start();
  await model.pass(115_000);
  for (const id of share.slice(1)) assert.deepEqual(model.owners(id), [box], id);
});

test('however many cameras do not come over, the others do', async () => {
  const model = new ClusterModel(2, 80);
  for (const box of model.boxes) box.start();
  await model.pass(6_000);
  const [box] = model.boxes;
  const share = model.cameras.filter(({ id }) => box!.ownership!.has(id)).map(({ id }) => id);
  assert.ok(share.length > 24, String(share.length));
  for (const id of share.slice(0, 22)) box!.unreachable.add(id);
  box!.kill();
  await model.pass(5_000);
  box!.start();
  // Each is tried for half a minute, and after ten the first of them would be tried again.
  await model.pass(60_000 + 22 * 35_000);
  for (const id of share.slice(22)) assert.deepEqual(model.owners(id), [box], id);
  for (const id of share.slice(0, 22))
    assert.ok(!model.owners(id).includes(box!) || model.owners(id).length === 2, id);
});

test('cameras of a box that records nothing are recorded by those that can, and stay there', async () => {
  const model = await settled();
  const [lost, broken, healthy] = model.boxes;
  for (const { id } of model.cameras) broken!.unreachable.add(id);
  await model.pass(60_000);
  assert.deepEqual(unrecorded(model), [], 'its own');
  lost!.kill();
  await model.pass(60_000);
  assert.deepEqual(unrecorded(model), [], 'and what it inherited');
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  const takes = new Map(broken!.takes);
  await model.pass(8 * 60_000);
  assert.deepEqual(broken!.takes, takes);
  assert.equal(healthy!.ownership!.count, model.cameras.length);
  // It is mended.
  broken!.unreachable.clear();
  model.forgetGaps();
  await model.pass(10 * 60_000);
  assert.ok(broken!.ownership!.count > 0);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  assert.equal(longestGap(model), 0);
});

test('a camera that only one of two can reach is recorded by that, whose it ever is and whoever starts anew', async () => {
  const model = await settled(2);
  const [a, b] = model.boxes;
  const before = model.cameras.length;
  for (let at = 0; at < 8; at++) {
    model.cameras.push({ id: `new-${at}`, box: null });
    b!.unreachable.add(`new-${at}`);
  }
  for (const box of model.boxes) box.ownership!.lookSoon();
  await model.pass(45_000);
  assert.deepEqual(unrecorded(model), []);
  for (const { id } of model.cameras.slice(before)) assert.deepEqual(model.owners(id), [a], id);
  for (const box of [b, a]) {
    box!.kill();
    await model.pass(3_000);
    box!.start();
    await model.pass(60_000);
    assert.deepEqual(unrecorded(model), [], box!.name);
  }
});

test('a camera that is off is tried elsewhere now and then, and is recorded as soon as it is on', async () => {
  const model = await settled();
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  const others = model.boxes.filter((box) => box !== owner);
  for (const { unreachable } of model.boxes) unreachable.add(id);
  for (const { takes } of model.boxes) takes.clear();
  let most = 0;
  for (let minute = 0; minute < 25; minute++) {
    await model.pass(60_000);
    most = Math.max(most, model.owners(id).length);
    assert.ok(owner.ownership!.has(id), 'who has it never lets go for that');
  }
  assert.ok(most <= 2, `${most} have it at the same time`);
  for (const { name, takes } of others) {
    const tries = takes.get(id) ?? 0;
    assert.equal(tries, 3, `${name}: when it falls silent, when it fails, and after ten minutes`);
  }
  for (const { unreachable } of model.boxes) unreachable.clear();
  await model.pass(15_000);
  assert.deepEqual(unrecorded(model), []);
  assert.equal(model.owners(id).length, 1);
});

test('cameras that nobody takes, though a box is here that they are of, are taken by the next one', async () => {
  const model = await settled();
  const [winner] = model.boxes;
  const before = model.cameras.length;
  for (let at = 0; at < 12; at++) {
    model.cameras.push({ id: `new-${at}`, box: null });
    winner!.unaware.add(`new-${at}`);
  }
  await model.pass(12_000);
  assert.deepEqual(unrecorded(model), []);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  model.forgetGaps();
  winner!.unaware.clear();
  await model.pass(40_000);
  assert.ok(model.cameras.slice(before).some(({ id }) => winner!.ownership!.has(id)));
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  assert.equal(longestGap(model), 0);
});

test('a box that starts again and again, and never says what it has, holds up no other', async () => {
  const model = await settled(5);
  const [lost, , , looping] = model.boxes;
  const loop = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) {
      looping!.kill();
      await model.pass(1_000);
      looping!.start();
      looping!.ownership!.stop();
      await model.pass(1_000);
    }
  };
  await loop(2);
  lost!.kill();
  await loop(20);
  assert.deepEqual(unrecorded(model), []);
});

test('who is cut off takes nothing of what it had long ago', async () => {
  const model = await settled();
  const [box, other] = model.boxes;
  const had = model.cameras.filter(({ id }) => box!.ownership!.has(id));
  box!.kill();
  await model.pass(3_000);
  for (const camera of had) camera.box = other!.name;
  await model.pass(20_000);
  box!.start();
  await model.pass(120_000);
  assert.equal(box!.ownership!.count, 0);
  cutOff(model, box!);
  await model.pass(10_000);
  assert.equal(box!.ownership!.count, 0);
});

test('a recording whose file ends just as another box takes the camera goes on until that has it on its disk', async () => {
  const model = await settled();
  const { id } = model.cameras[0]!;
  const owner = model.owners(id)[0]!;
  const target = model.boxes.find((box) => box !== owner)!;
  model.cameras[0]!.box = target.name;
  owner.betweenFiles.add(id);
  for (let waited = 0; !target.ownership!.has(id) && waited < 5_000; waited += 50) await model.pass(50);
  await model.pass(700);
  owner.betweenFiles.delete(id);
  await model.pass(3_000);
  assert.deepEqual(model.owners(id), [target]);
  assert.equal(longestGap(model), 0);
});

test('what another start of a box said of its cameras, said again, changes nothing', async () => {
  const model = await settled();
  const [box, other] = model.boxes;
  const { id } = model.cameras.find((camera) => other!.ownership!.has(camera.id))!;
  box!.ownership!.hear({ box: other!.name, boot: 'before', seq: 7, part: [0, 1], rows: [], dropped: [] });
  assert.equal(box!.ownership!.boxOf(id), other!.name);
  assert.deepEqual(box!.ownership!.counts, { unowned: 0, doubled: 0 });
});
