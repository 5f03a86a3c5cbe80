import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { ClusterRig, PATIENT } from './cluster-rig.js';

test('two boxes of three are lost: the last one takes all once one of them is said to be gone for good', {
  skip: withoutNats,
  timeout: 300_000,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const rig = await ClusterRig.start(t, servers, { cameras: 6, env: PATIENT });
  const [left, ...lost] = rig.boxes;
  const seen = async () => (await left!.call('GET', '/api/cluster')).body;
  const refused = await left!.call('DELETE', '/api/cluster/boxes/box-1');
  assert.deepEqual([refused.status, refused.body.code], [409, 'box_here']);
  const boxesListed = async (): Promise<Set<string>> => {
    const lists = await Promise.all(rig.ids.map((id) => left!.call('GET', `/api/cameras/${id}/archive`)));
    return new Set(lists.flatMap(({ body }) => body.map(({ box }: { box: string }) => box)));
  };
  await until('it lists what all have recorded', async () => (await boxesListed()).size === 3);
  for (const { service } of lost) service.process.kill('SIGKILL');
  const before = await until('both are lost', async () => {
    const shown = await seen();
    return shown.boxes.filter(({ state }: { state: string }) => state === 'lost').length === 2 && shown;
  });
  assert.equal(before.has_majority, false);
  assert.ok(before.cameras_unowned > 0, 'it may not take them');
  const done = await left!.call('DELETE', '/api/cluster/boxes/box-1');
  assert.deepEqual([done.status, done.body.untold], [200, []]);
  await until('it has all', () => rig.ids.every((id) => rig.writers(id, [left!]).length === 1), {
    describe: () => rig.logs(),
  });
  await until('one of two is a majority', async () => {
    const { has_majority: hasMajority, boxes } = await seen();
    return hasMajority && boxes.map(({ name }: { name: string }) => name).join() === 'box-0,box-2';
  });
  await until('what that had is listed no more', async () => {
    const listed = [...(await boxesListed())].sort();
    return listed.join() === 'box-0,box-2';
  });
  assert.equal((await left!.call('DELETE', '/api/cluster/boxes/box-1')).status, 404);
  const { body: audit } = await left!.call('GET', '/api/audit?action=forget_box');
  assert.deepEqual(
    audit.map(({ target }: { target: string }) => target),
    ['box-1'],
  );
});
