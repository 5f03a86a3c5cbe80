import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRecordingName } from '../../src/archive/files/file-name.js';
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
  const [lost, ...others] = rig.boxes;
  // Each hears of the others' once a second: what changed hands, or came back, in this second is shown in the next.
  let wrong: readonly string[] = [];
  const isAsShown = async (): Promise<boolean> => {
    const seen = await Promise.all(rig.boxes.map((box) => box.cameras()));
    wrong = seen.flatMap((cameras, box) =>
      cameras.flatMap(({ id, owner, recording }) => {
        const writers = rig.writers(id).map(({ name }) => name);
        const isRight = writers.length === 1 && owner === writers[0] && recording;
        return isRight ? [] : [`box-${box}: ${id} of ${owner || 'nobody'}, ${recording}; by ${writers}`];
      }),
    );
    return wrong.length === 0 && seen.every(({ length }) => length === rig.ids.length);
  };
  await until('each is recorded by the one that all boxes show', isAsShown, {
    deadlineMs: PATIENCE_MS,
    describe: () => wrong.join('\n'),
  });
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
  // Of two that took one at the same moment the later claim wins.
  const body = await until('each has one box', async () => {
    const { body: shown } = await others[0]!.call('GET', '/api/cluster');
    return shown.cameras_doubled === 0 ? shown : null;
  });
  const states = body.boxes.map((box: { name: string; state: string }) => [box.name, box.state]);
  assert.deepEqual(states, [
    ['box-0', 'lost'],
    ['box-1', 'here'],
    ['box-2', 'here'],
  ]);
  assert.deepEqual([body.has_majority, body.cameras_unowned, body.cameras_doubled], [true, 0, 0]);
  const metrics = await (await fetch(`${others[0]!.service.metricsUrl}/metrics`)).text();
  assert.match(metrics, /^svc_cluster_box_up\{box="box-0"\} 0$/m);
  assert.match(metrics, /^svc_cluster_cameras\{owner="none"\} 0$/m);
});

test('with the server that leads the bucket of owners a box is replaced as soon as without', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const rig = await ClusterRig.start(t, servers, { cameras: 12 });
  const leader = await until('there is a leader', () => servers.leaderOf('KV_framering-test-owners'));
  const [lost, ...others] = rig.boxes;
  const had = rig.ids.filter((id) => rig.writers(id)[0] === lost);
  const killedMs = performance.now();
  lost!.service.process.kill('SIGKILL');
  await servers.kill(leader);
  await until('others record all of them', () => had.every((id) => rig.writers(id, others).length > 0), {
    deadlineMs: PATIENCE_MS,
    describe: () => rig.logs(),
  });
  t.diagnostic(
    `${had.length} cameras were recorded elsewhere after ${Math.round(performance.now() - killedMs)} ms`,
  );
});

test('a box that ends hands its cameras over: the next recording begins before the last one ends', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const rig = await ClusterRig.start(t, servers, { cameras: 12 });
  const [ending, ...others] = rig.boxes;
  const had = rig.ids.filter((id) => rig.writers(id)[0] === ending);
  assert.ok(had.length > 0);
  const askedMs = performance.now();
  assert.equal(await ending!.service.stop(), 0, rig.logs());
  const tookMs = Math.round(performance.now() - askedMs);
  const overlaps = had.map((id) => {
    const lastName = ending!.files(id).at(-1)!;
    assert.notEqual(parseRecordingName(lastName)?.endMs ?? null, null, `${lastName} is closed`);
    const { endMs } = ending!.inspect(id, lastName);
    const heir = rig.writers(id, others)[0]!;
    const { startMs } = heir.inspect(id, heir.openFiles(id)[0]!);
    return Math.round(endMs! - startMs!);
  });
  t.diagnostic(`${had.length} cameras changed hands in ${tookMs} ms; recorded twice for ${overlaps} ms`);
  for (const overlap of overlaps) assert.ok(overlap > 0, `${overlaps}`);
  for (const id of rig.ids) assert.equal(rig.writers(id, others).length, 1, id);
});

test('a box that stood still finds its cameras taken, and lets go of them', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const rig = await ClusterRig.start(t, servers, { cameras: 12 });
  const [frozen, ...others] = rig.boxes;
  const had = rig.ids.filter((id) => rig.writers(id)[0] === frozen);
  process.kill(frozen!.pid, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  assert.deepEqual(
    had.filter((id) => rig.writers(id, others).length !== 1),
    [],
    'others record them meanwhile',
  );
  const thawedMs = performance.now();
  process.kill(frozen!.pid, 'SIGCONT');
  await until('each is recorded by one', () => rig.ids.every((id) => rig.writers(id).length === 1), {
    deadlineMs: PATIENCE_MS,
    describe: () => rig.logs(),
  });
  t.diagnostic(
    `${had.length} cameras had one owner again after ${Math.round(performance.now() - thawedMs)} ms`,
  );
  await rig.untilAllRecorded(frozen);
  for (const id of had) assert.equal(rig.writers(id, others).length, 1, `${id} stays where it is`);
});
