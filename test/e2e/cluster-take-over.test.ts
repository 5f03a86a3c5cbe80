import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseRecordingName } from '../../src/archive/files/file-name.js';
import type { Inspection } from '../../src/archive/list/inspect-files.js';
import { Rendezvous } from '../../src/cluster/owners/rendezvous.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { type ClusterBox, ClusterRig, PATIENT } from './cluster-rig.js';

test('three boxes share the cameras; what one of them had when it was killed, the others record', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const rig = await ClusterRig.start(t, servers, { cameras: 24, env: PATIENT });
  const [lost, ...others] = rig.boxes;
  const shares = new Rendezvous(rig.boxes.map(({ name }) => ({ name, capacity: 1 })));
  // Each hears of the others' once a second: what changed hands, or came back, in this second is shown in the next.
  let wrong: readonly string[] = [];
  const isAsShown = async (): Promise<boolean> => {
    const seen = await Promise.all(rig.boxes.map((box) => box.cameras()));
    wrong = seen.flatMap((cameras, box) =>
      cameras.flatMap(({ id, owner, recording }) => {
        const writers = rig.writers(id).map(({ name }) => name);
        // What another one took at first, as its box was late, comes over yet.
        const isSettled = writers.length === 1 && writers[0] === shares.ownerOf(id);
        const isRight = isSettled && owner === writers[0] && recording;
        return isRight ? [] : [`box-${box}: ${id} of ${owner || 'nobody'}, ${recording}; by ${writers}`];
      }),
    );
    return wrong.length === 0 && seen.every(({ length }) => length === rig.ids.length);
  };
  await until('each is recorded by the one whose it is, and that all boxes show', isAsShown, {
    // A box that stood still for a second is given what is its own a minute later, one camera after the other.
    deadlineMs: 240_000,
    describe: () => wrong.join('\n'),
  });
  const had = rig.ids.filter((id) => rig.writers(id)[0] === lost);
  assert.ok(had.length > 0 && had.length < rig.ids.length, `${had.length} of ${rig.ids.length}`);
  const kept = new Map(rig.ids.filter((id) => !had.includes(id)).map((id) => [id, rig.writers(id)[0]!]));
  const files = new Map([...kept].map(([id, box]) => [id, box.openFiles(id)]));
  const killedMs = performance.now();
  lost!.service.process.kill('SIGKILL');
  await until('one each records them', () => had.every((id) => rig.writers(id, others).length === 1), {
    describe: () => rig.logs(),
  });
  t.diagnostic(
    `${had.length} cameras were recorded elsewhere after ${Math.round(performance.now() - killedMs)} ms`,
  );
  for (const [id, box] of kept) assert.deepEqual(box.openFiles(id), files.get(id), 'nothing else moved');
  await rig.untilAllRecorded(others[0]);
  let shown = '';
  // Of two that took one at the same moment the later claim wins.
  await until(
    'one is lost, and each camera has one box',
    async () => {
      const { body } = await others[0]!.call('GET', '/api/cluster');
      const states = body.boxes.map((box: { name: string; state: string }) => `${box.name} ${box.state}`);
      shown = [...states, body.has_majority, body.cameras_unowned, body.cameras_doubled].join();
      return shown === 'box-0 lost,box-1 here,box-2 here,true,0,0';
    },
    { describe: () => shown },
  );
  let metrics = '';
  await until(
    'its metrics say so, too',
    async () => {
      metrics = await (await fetch(`${others[0]!.service.metricsUrl}/metrics`)).text();
      const isLost = /^svc_cluster_box_up\{box="box-0"\} 0$/m.test(metrics);
      return isLost && /^svc_cluster_cameras\{owner="none"\} 0$/m.test(metrics);
    },
    { describe: () => metrics },
  );
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
    describe: () => rig.logs(),
  });
  t.diagnostic(
    `${had.length} cameras were recorded elsewhere after ${Math.round(performance.now() - killedMs)} ms`,
  );
});

const untilOneEach = (rig: ClusterRig, boxes = rig.boxes): Promise<true> =>
  until('each is recorded by one', () => rig.ids.every((id) => rig.writers(id, boxes).length === 1), {
    describe: () => rig.logs(),
  });

/** Answers it, the others, and the cameras that it had. */
const endOne = async (
  t: TestContext,
  rig: ClusterRig,
  at: number,
): Promise<[ending: ClusterBox, others: ClusterBox[], had: string[]]> => {
  await untilOneEach(rig);
  const ending = rig.boxes[at]!;
  const had = rig.ids.filter((id) => rig.writers(id)[0] === ending);
  assert.ok(had.length > 0);
  const askedMs = performance.now();
  assert.equal(await ending.service.stop(), 0, rig.logs());
  t.diagnostic(`${had.length} cameras were handed over in ${Math.round(performance.now() - askedMs)} ms`);
  return [ending, rig.boxes.filter((box) => box !== ending), had];
};

/** Nothing where it was given its last name just then. */
const seenIn = (box: ClusterBox, id: string, name: string): Inspection[] => {
  try {
    return [box.inspect(id, name)];
  } catch {
    return [];
  }
};

test('a box that ends hands its cameras over: the next recording begins before the last one ends', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const rig = await ClusterRig.start(t, servers, { cameras: 12, env: PATIENT });
  let [ending, others, had] = await endOne(t, rig, 0);
  for (let at = 1; ending.endedTooSoon && at < rig.boxes.length; at += 1) {
    await ending.start(t, rig.password);
    [ending, others, had] = await endOne(t, rig, at);
  }
  const overlapOf = async (id: string): Promise<number> => {
    const lastName = ending.files(id).at(-1)!;
    assert.notEqual(parseRecordingName(lastName)?.endMs ?? null, null, `${lastName} is closed`);
    const { endMs } = ending.inspect(id, lastName);
    const startMs = await until('another one has recorded beyond its end', () => {
      // Of two that took it at once one has closed its file again.
      const begun = others.flatMap((box) => box.files(id).flatMap((name) => seenIn(box, id, name)));
      const starts = begun.flatMap((one) => ((one.endMs ?? 0) > endMs! ? (one.startMs ?? []) : []));
      return starts.length > 0 && Math.min(...starts);
    });
    return Math.round(endMs! - startMs);
  };
  const overlaps = await Promise.all(had.map(overlapOf));
  t.diagnostic(`they were recorded twice for ${overlaps} ms`);
  for (const overlap of overlaps) assert.ok(overlap > 0, `${overlaps}`);
  await untilOneEach(rig, others);
});

test('a box that stood still finds its cameras taken, and lets go of them', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const rig = await ClusterRig.start(t, servers, { cameras: 12, env: PATIENT });
  const [frozen, ...others] = rig.boxes;
  const had = rig.ids.filter((id) => rig.writers(id)[0] === frozen);
  process.kill(frozen!.pid, 'SIGSTOP');
  await until('others record them meanwhile', () => had.every((id) => rig.writers(id, others).length === 1), {
    describe: () => rig.logs(),
  });
  const thawedMs = performance.now();
  process.kill(frozen!.pid, 'SIGCONT');
  await untilOneEach(rig);
  t.diagnostic(
    `${had.length} cameras had one owner again after ${Math.round(performance.now() - thawedMs)} ms`,
  );
  await rig.untilAllRecorded(frozen);
  for (const id of had) assert.equal(rig.writers(id, others).length, 1, `${id} stays where it is`);
});
