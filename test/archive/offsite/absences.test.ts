import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Copy } from '../../../src/archive/offsite/copy.js';
import { objectOf } from '../../../src/archive/offsite/object-name.js';
import { START_MS } from './copier-rig.js';
import { Departing } from './departing.js';
import { manyCopies } from './made-copies.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** South, of which this is, and what north put into the store of its camera, a month past its age and a day. */
const twoBoxes = (t: TestContext) => {
  const south = new Departing(t);
  const copy: Copy = { ...manyCopies(1, START_MS)[0]!, box: 'north' };
  const object = objectOf('door', copy);
  south.store.set(object, { name: object, bytes: copy.sizeBytes, etag: 'x' } as never);
  south.others.take('door', new Map([['north', [copy]]]), Number.NEGATIVE_INFINITY, () => false);
  const sweep = ({ boxes = ['south'], isSure = true, cameraIds = ['door'], days = 31 } = {}): boolean => {
    south.departures.expire({
      ...{ cameraIds: ['door'], eras: [], spared: [], localBeforeMs: null },
      limits: [{ cameraId: 'door', beforeMs: START_MS + days * DAY_MS }],
      cluster: { boxes, isSure, cameraIds },
    });
    return south.others.kept('door') === 0;
  };
  /** Hour after hour; whether it is to be deleted by then. */
  const pass = (days: number, more: Parameters<typeof sweep>[0] = {}): boolean => {
    let isGoing = false;
    for (let hour = 0; hour < days * 24; hour += 1) {
      south.nowMs += HOUR_MS;
      isGoing ||= sweep(more);
    }
    return isGoing;
  };
  return { south, sweep, pass, object };
};
const both = { boxes: ['north', 'south'] };

test('what a box put into the store stays while it is away for less than a month, however old it is', async (t) => {
  const { south, sweep, pass, object } = twoBoxes(t);
  assert.equal(sweep(both), false);
  assert.equal(sweep(), false, 'it is away at this moment');
  assert.equal(pass(29.5), false);
  assert.equal(sweep(both), false);
  assert.equal(pass(29.5), false, 'since it was seen last');
  assert.equal(pass(1, { cameraIds: [] }), false, 'another box has its camera');
  assert.equal(pass(0.5, { days: 29 }), false, 'it is too young');
  assert.equal(sweep(), true);
  await south.step(60_000);
  assert.ok(!south.store.has(object));
  assert.equal(await south.step(), false);
});

test('a restart takes nothing from how long a box has been away, and an hour at least is watched anew', (t) => {
  const { south, sweep, pass } = twoBoxes(t);
  sweep();
  assert.equal(pass(20), false);
  south.nowMs = 5;
  south.restart();
  assert.equal(sweep(), false);
  assert.equal(pass(9.5), false);
  south.nowMs = 5;
  south.restart();
  assert.equal(sweep(), false);
  assert.equal(pass(0.75), true);
});

test('a box that has seen another one away for long starts together with it, and deletes nothing', (t) => {
  const { south, sweep, pass } = twoBoxes(t);
  sweep(both);
  sweep();
  pass(40, { days: 29 });
  south.restart();
  assert.equal(sweep(), false);
  south.nowMs += 10 * 60_000;
  assert.equal(sweep(), false);
  assert.equal(sweep(both), false);
  assert.equal(pass(29), false);
});

test('whoever is cut off takes nobody for one that is away', (t) => {
  const { sweep, pass } = twoBoxes(t);
  sweep();
  assert.equal(pass(29), false);
  assert.equal(pass(60, { isSure: false }), false);
  assert.equal(sweep(), false);
  assert.equal(pass(0.5), false);
  assert.equal(pass(1), true);
});

test('what is written of absences and makes no sense is counted anew', (t) => {
  const { south, sweep, pass } = twoBoxes(t);
  sweep();
  pass(29);
  for (const bad of ['', '[1', 'null', '{"north": "long"}']) {
    writeFileSync(join(south.copiesDir, 'absences.json'), bad);
    south.restart();
    assert.equal(sweep(), false);
    assert.equal(pass(1.5), false, bad);
  }
});
