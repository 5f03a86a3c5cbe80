import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { copiesPath, otherBoxes, otherDir, readCopies } from '../../../src/archive/offsite/copies-file.js';
import { makeMailbox } from '../../../src/archive/offsite/mailbox.js';
import type { CopyExpiry } from '../../../src/archive/offsite/messages.js';
import { until } from '../../support/until.js';
import { Versitygw, withoutStore } from '../../support/versitygw.js';
import { InlineRunner } from '../inline-runner.js';
import { nobodyWrites } from '../nobody-writes.js';
import { CopierRig, START_MS } from './copier-rig.js';

const skip = withoutStore;
const DAY_MS = 86_400_000;

const expiry = (more: Partial<CopyExpiry> = {}): CopyExpiry => ({
  ...{ cameraIds: ['door'], limits: [], eras: [], spared: [], localBeforeMs: null },
  ...more,
});

/** What a box knows of another one's copies. */
const knownOf = (rig: CopierRig, box: string) => [
  ...(readCopies(copiesPath(otherDir(rig.copiesDir, box), 'door'))?.table ?? []),
];

/** Two boxes of a cluster with one store; each has a recording of `door` of the same minute. */
const twoBoxes = async (t: TestContext) => {
  const store = await Versitygw.start(t);
  const [north, south] = [new CopierRig(t, store), new CopierRig(t, store)];
  const fileName = north.record('door', 0);
  south.record('door', 0);
  north.start({ box: 'north', epoch: 3 });
  south.start({ box: 'south', epoch: 4 });
  const objects = [
    north.objectPath('door', fileName, { box: 'north', epoch: 3 }),
    north.objectPath('door', fileName, { box: 'south', epoch: 4 }),
  ] as const;
  for (const rig of [north, south]) await rig.untilIdle();
  await until('both are there', () => objects.every((path) => existsSync(path)));
  for (const rig of [north, south]) rig.copier.expire(expiry());
  await until('each knows of the other one', () => {
    const found = [knownOf(north, 'south'), knownOf(south, 'north')];
    return found.every(({ length }) => length === 1);
  });
  return { north, south, fileName, objects };
};

const list = (rig: CopierRig, box: string) =>
  new Recordings(
    { archiveDir: rig.archiveDir },
    {
      ...{ runner: new InlineRunner(), live: nobodyWrites },
      maker: { box, epochsOf: () => () => 3 },
      copies: {
        ...{ mailbox: makeMailbox(), isAway: false, otherBoxes: otherBoxes(rig.copiesDir) },
        pathOf: (cameraId) => copiesPath(rig.copiesDir, cameraId),
        otherPathOf: (other, cameraId) => copiesPath(otherDir(rig.copiesDir, other), cameraId),
      },
      others: { of: async () => [], unheard: () => [] },
    },
  );

test('boxes of a cluster leave each other what they copied, by the claims in its names', {
  skip,
}, async (t) => {
  const { north, south, fileName, objects } = await twoBoxes(t);
  assert.ok(objects.every((path) => existsSync(path)));
  assert.deepEqual(
    knownOf(north, 'south').map(({ box, epoch }) => [box, epoch]),
    [['south', 4]],
  );
  const recordings = list(north, 'north');
  const shown = (await recordings.list('door')).map((one) => [one.box, one.epoch, one.stored?.isAlone]);
  assert.deepEqual(shown, [
    ['north', 3, false],
    ['south', 4, true],
  ]);
  assert.equal((await recordings.find('door', fileName)).box, 'south', 'the later claim is meant');
  assert.equal((await recordings.find('door', fileName, 'north')).box, 'north');
  assert.deepEqual(
    (await recordings.all('door')).map(({ box }) => box),
    ['north'],
    'what is deleted here is its own',
  );
  // By age each deletes its own alone while both are here.
  const limits = [{ cameraId: 'door', beforeMs: START_MS + DAY_MS }];
  const cluster = { boxes: ['north', 'south'], isSure: true, cameraIds: ['door'] };
  north.copier.expire(expiry({ limits, cluster }));
  await until('its own is gone', () => !existsSync(objects[0]));
  assert.ok(existsSync(objects[1]));
  await south.stop();
  south.start({ box: 'south', epoch: 4 });
  south.copier.expire(expiry());
  await until('the other one knows that it is gone', () => knownOf(south, 'north').length === 0);
});

test('what turns out to be gone of another box is asked for anew, though all was asked for just before', {
  skip,
}, async (t) => {
  const { north, south, objects } = await twoBoxes(t);
  // The days that it asks for again and again are younger.
  const limits = [{ cameraId: 'door', beforeMs: START_MS + DAY_MS }];
  north.copier.expire(
    expiry({ limits, cluster: { boxes: ['north', 'south'], isSure: true, cameraIds: ['door'] } }),
  );
  await until('it is gone', () => !existsSync(objects[0]));
  await until('it is known no more', () => {
    south.copier.relist('door');
    return knownOf(south, 'north').length === 0;
  });
});

test('what somebody deletes on request goes whichever box put it there', { skip }, async (t) => {
  const { north, objects } = await twoBoxes(t);
  north.copier.forget('door', { fromMs: START_MS, toMs: START_MS + DAY_MS, fileNames: [] });
  await until('both are gone', () => !objects.some((path) => existsSync(path)));
});

test('of a camera that is purged nothing stays, whoever put it there', { skip }, async (t) => {
  const { north, objects } = await twoBoxes(t);
  const limits = [{ cameraId: 'door', beforeMs: Number.POSITIVE_INFINITY }];
  north.copier.expire(
    expiry({ limits, cluster: { boxes: ['north', 'south'], isSure: true, cameraIds: [] } }),
  );
  await until('both are gone', () => !objects.some((path) => existsSync(path)));
});

test('a box that leaves the cluster takes none of its boxes for one that it was', { skip }, async (t) => {
  const { north, south, fileName, objects } = await twoBoxes(t);
  await south.stop();
  await north.stop();
  north.start({ box: 'north' });
  north.copier.expire(expiry());
  const own = readCopies(copiesPath(north.copiesDir, 'door'))!;
  assert.equal(own.table.count, 1);
  // What is written is lost: the store is asked.
  rmSync(copiesPath(north.copiesDir, 'door'));
  await until(
    'it is written again',
    () => readCopies(copiesPath(north.copiesDir, 'door'))?.table.count === 1,
  );
  await north.untilIdle();
  assert.ok(existsSync(objects[1]), fileName);
});
