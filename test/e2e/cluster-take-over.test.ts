import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { ClusterRig } from './cluster-rig.js';

/** They take 5 s on a machine that has nothing else to do. */
const PATIENCE_MS = 20_000;

test('three boxes share the cameras; what one of them had when it was killed, the others record', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const rig = await ClusterRig.start(t, servers, { cameras: 24 });
  for (const id of rig.ids) assert.equal(rig.writers(id).length, 1, `${id} is recorded by one`);
  const [lost, ...others] = rig.boxes;
  const seen = await Promise.all(rig.boxes.map((box) => box.cameras()));
  for (const shown of seen)
    for (const { id, owner, recording } of shown)
      assert.deepEqual([owner, recording], [rig.writers(id)[0]?.name, true], `${id}, as each box shows it`);
  const had = rig.ids.filter((id) => rig.writers(id)[0] === lost);
  assert.ok(had.length > 0 && had.length < rig.ids.length, `${had.length} of ${rig.ids.length}`);
  const kept = new Map(rig.ids.filter((id) => !had.includes(id)).map((id) => [id, rig.writers(id)[0]!]));
  const files = new Map([...kept].map(([id, box]) => [id, box.openFiles(id)]));
  const killedMs = performance.now();
  lost!.service.process.kill('SIGKILL');
  await until('others record all of them', () => had.every((id) => rig.writers(id, others).length > 0), {
    deadlineMs: PATIENCE_MS,
    describe: () => rig.logs(),
  });
  t.diagnostic(
    `${had.length} cameras were recorded elsewhere after ${Math.round(performance.now() - killedMs)} ms`,
  );
  for (const id of had) assert.equal(rig.writers(id, others).length, 1, id);
  for (const [id, box] of kept) assert.deepEqual(box.openFiles(id), files.get(id), 'nothing else moved');
  await rig.untilAllRecorded(others[0]);
});
