import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { runService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const CLUSTER_KEY = 'a secret that all boxes of the cluster have';

test('two boxes are one service: what is set at one is so at the other, and a token is good at both', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const startBox = async (env: Readonly<Record<string, string>> = {}) => {
    const box = await startService({
      DATA_DIR: tempFolder(t),
      CLUSTER_URL: servers.url,
      CLUSTER_KEY,
      ...env,
    });
    t.after(() => box.process.kill('SIGKILL'));
    return box;
  };
  const one = await startBox({ BOX_NAME: 'one' });
  const other = await startBox({ BOX_NAME: 'other' });
  assert.equal(other.adminPassword, '', 'there is an administrator already');
  const token = await one.login('admin', one.adminPassword);
  const me = await other.call('GET', '/api/me', { token });
  assert.deepEqual([me.status, me.body.must_change_password], [200, true]);
  const camera = { id: 'gate', url: 'rtsp://eve:canary@127.0.0.1:9/1', comment: 'first' };
  assert.equal((await one.call('POST', '/api/cameras', { token, body: camera })).status, 201);
  const seenAt = async (box: typeof one): Promise<string | undefined> =>
    (await box.call('GET', '/api/cameras', { token })).body[0]?.comment;
  await until('the other shows it', async () => (await seenAt(other)) === 'first');
  await other.call('PUT', '/api/cameras/gate', { token, body: { comment: 'second' } });
  await until('it is changed', async () => (await seenAt(one)) === 'second');
  const eve = { username: 'eve', password: 'correct horse', role: 'viewer' };
  await one.call('POST', '/api/users', { token, body: eve });
  const eves = await until('eve is known', () => other.login('eve', 'correct horse').catch(() => null));
  assert.equal((await one.call('DELETE', '/api/users/eve', { token })).status, 200);
  await until(
    'her token ends there, too',
    async () => (await other.call('GET', '/api/me', { token: eves })).status === 401,
  );
  const ready = await one.call('GET', '/readyz');
  assert.equal(ready.body.remarks.cluster, 'ok');
  await servers.kill();
  const refused = await one.call('PUT', '/api/cameras/gate', { token, body: { comment: 'third' } });
  assert.deepEqual([refused.status, refused.body.code], [503, 'cluster_unavailable']);
  assert.equal(await seenAt(one), 'second');
  await until('probes tell of it, and stay well', async () => {
    const { status, body } = await one.call('GET', '/readyz');
    return status === 200 && body.remarks.cluster !== 'ok';
  });
  assert.doesNotMatch(one.out() + other.out() + one.err() + other.err(), /canary/);
  assert.equal(await one.stop(), 0);
  assert.equal(await other.stop(), 0);
});

test('a box alone loads nothing of a cluster', async (t) => {
  const coverage = tempFolder(t);
  const service = await startService({ DATA_DIR: tempFolder(t), NODE_V8_COVERAGE: coverage });
  t.after(() => service.process.kill('SIGKILL'));
  assert.equal(await service.stop(), 0);
  const loaded = readdirSync(coverage).flatMap((name) =>
    (JSON.parse(readFileSync(join(coverage, name), 'utf8')) as { result: { url: string }[] }).result.map(
      ({ url }) => url,
    ),
  );
  assert.ok(loaded.some((url) => url.endsWith('/src/store/store.js')));
  assert.deepEqual(
    loaded.filter((url) => /@nats-io|\/src\/(?:cluster|relay|store\/shared|archive\/others)\//.test(url)),
    [],
  );
});

test('a box that has nothing to start by says so', { skip: withoutNats }, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const first = await startService({ DATA_DIR: tempFolder(t), CLUSTER_URL: servers.url, CLUSTER_KEY });
  t.after(() => first.process.kill('SIGKILL'));
  const wrong = { CLUSTER_URL: servers.url, CLUSTER_KEY: 'some other secret of thirty-two bytes' };
  const refused = runService({ DATA_DIR: tempFolder(t), ...wrong });
  assert.equal(await refused.exited, 2);
  assert.match(refused.err(), /can't start: .*CLUSTER_KEY is another/);
  await first.stop();
});
