import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { coverageOf, type Span, spansOf } from '../cluster-faults/coverage.js';
import { recordedFrames } from '../cluster-faults/recorded-frames.js';
import { ByteRelay } from '../support/byte-relay.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { type ClusterBox, ClusterRig, FRAME_MS } from './cluster-rig.js';

/** Others take 1.5 s to notice it, and some more to connect; on a machine that has other things to do. */
const MOST_UNRECORDED_MS = 20_000;
const CUT_MS = 4_000;
const LOOK_EVERY_MS = 500;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const recordedBy = (box: ClusterBox, id: string) => recordedFrames(join(box.archiveDir, id));

/** Of each camera: what no box has, and what more than one has. */
const coverage = (rig: ClusterRig, span: Span) =>
  rig.ids.map((id) =>
    coverageOf(
      rig.boxes.map((box) => spansOf(recordedBy(box, id), FRAME_MS)),
      span,
    ),
  );

/** Whoever records a camera has something on its disk that was sent since then: and so all that was sent before. */
const untilWritten = (
  rig: ClusterRig,
  sinceMs = Number.NEGATIVE_INFINITY,
  boxes = rig.boxes,
): Promise<true> =>
  until(
    'all are on a disk',
    async () => {
      // Each look reads all of the files.
      await pause(LOOK_EVERY_MS);
      const isWritten = (box: ClusterBox, id: string) =>
        (recordedBy(box, id).at(-1)?.sentMs ?? Number.NaN) >= sinceMs;
      return rig.ids.every((id) => rig.writers(id, boxes).some((box) => isWritten(box, id)));
    },
    { describe: () => rig.logs() },
  );

const untilOneEach = (rig: ClusterRig, boxes = rig.boxes): Promise<true> =>
  until('each is recorded by one', () => rig.ids.every((id) => rig.writers(id, boxes).length === 1), {
    deadlineMs: 60_000,
    describe: () => rig.logs(),
  });

test('a box that is cut off, and then one that is killed, cost no more than the time until others record', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const linksOf = await Promise.all(
    [0, 1, 2].map(() => Promise.all(servers.ports.map((port) => ByteRelay.start(port)))),
  );
  t.after(() => Promise.all(linksOf.flat().map((link) => link[Symbol.asyncDispose]())));
  const rig = await ClusterRig.start(t, servers, {
    cameras: 12,
    urlOf: (box) => `nats://${linksOf[box]!.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
  });
  const [killed, cutOff, other] = rig.boxes as [ClusterBox, ClusterBox, ClusterBox];
  await untilOneEach(rig);
  await untilWritten(rig);
  const had = rig.ids.filter((id) => rig.writers(id)[0] === cutOff);
  assert.ok(had.length > 0);
  const cutMs = systemClock.monotonicMs();
  for (const link of linksOf[1]!) link.isStill = true;
  await pause(CUT_MS);
  await until(
    'others record them, too',
    () => had.every((id) => rig.writers(id, [killed, other]).length === 1),
    {
      describe: () => rig.logs(),
    },
  );
  assert.deepEqual(
    had.filter((id) => rig.writers(id, [cutOff]).length === 0),
    [],
    'who hears nobody keeps what it has',
  );
  for (const link of linksOf[1]!) link.isStill = false;
  await untilOneEach(rig);
  await rig.untilAllRecorded(cutOff);
  const mendedMs = systemClock.monotonicMs();
  await untilWritten(rig, mendedMs);
  const afterCut = coverage(rig, { fromMs: cutMs, toMs: mendedMs });
  const gaps = afterCut.map(({ longestGapMs }) => Math.round(longestGapMs));
  t.diagnostic(
    `the cut: unrecorded ${Math.max(...gaps)} ms, recorded twice ${Math.round(Math.max(...afterCut.map(({ doubledMs }) => doubledMs)))} ms`,
  );
  assert.deepEqual(
    gaps.filter((ms) => ms > 3 * FRAME_MS),
    [],
    'it has its cameras all the time',
  );

  const before = rig.ids.map((id) => recordedBy(killed, id).length);
  const killedMs = systemClock.monotonicMs();
  killed.service.process.kill('SIGKILL');
  await killed.service.exited;
  await untilOneEach(rig, [cutOff, other]);
  const heldMs = systemClock.monotonicMs();
  await untilWritten(rig, heldMs, [cutOff, other]);
  const longest = Math.max(
    ...coverage(rig, { fromMs: killedMs, toMs: heldMs }).map(({ longestGapMs }) => longestGapMs),
  );
  t.diagnostic(`the kill: unrecorded ${Math.round(longest)} ms`);
  assert.ok(longest < MOST_UNRECORDED_MS, `${longest}`);
  await killed.start(t, rig.password);
  for (const [at, id] of rig.ids.entries()) {
    assert.ok(recordedBy(killed, id).length >= before[at]!, `nothing of ${id} is lost`);
    for (const box of rig.boxes) {
      // Before it is asked: files end meanwhile.
      const closed = box.files(id).filter((name) => !name.includes('_ongoing'));
      const { body } = await box.call('GET', `/api/cameras/${id}/archive`);
      const listed = new Set((body as { filename: string }[]).map(({ filename }) => filename));
      const unlisted = closed.filter((name) => !listed.has(name));
      assert.deepEqual(unlisted, [], `${id} at ${box.name}`);
    }
  }
});
