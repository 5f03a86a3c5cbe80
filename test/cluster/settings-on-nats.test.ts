import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection, nkeys } from '@nats-io/transport-node';
import { Store } from '../../src/store/store.js';
import { sampleCamera } from '../store/samples.js';
import { makeCertificate } from '../support/mosquitto.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { admin, insist, PREFIX, STREAM, startBox, withAdmin } from './boxes.js';

const tag = (id: string) => ({ id, name: id, color: '#000000' });

const idsOf = (store: Store): string[] => store.tags.list().map(({ id }) => id);

test('what is changed at one box is there at the others, and nothing of it can be read at the servers', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  assert.deepEqual(other.store.users.list(), one.store.users.list());
  const camera = sampleCamera('gate.1', { url: 'rtsp://eve:canary@camera.example/1', tags: ['a'] });
  await one.store.change(() => one.store.cameras.create(camera));
  await until('the other has it', () => other.store.cameras.find('gate.1'));
  assert.deepEqual(other.store.cameras.find('gate.1'), camera);
  await other.store.change(() => other.store.cameras.remove('gate.1', { isPurged: true }));
  await until('it is gone', () => one.store.cameras.find('gate.1') === null);
  assert.deepEqual(one.effects.at(-1)?.removedCameraIds, ['gate.1']);
  await one.store.change(() => one.store.cameras.create(sampleCamera('kept', { url: camera.url })));
  const files = servers.folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.blk'))
      .map((name) => readFileSync(join(folder, name), 'latin1')),
  );
  assert.ok(
    files.some((text) => text.includes('cam/kept')),
    'names are there to be read',
  );
  assert.ok(files.every((text) => !text.includes('canary')));
});

test('boxes that change things at the same time are one after the other: none of it is lost, and rules hold', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const one = await startBox(t, servers.url, (store) => {
    withAdmin(store);
    store.users.create({ ...admin, username: 'boss' });
  });
  const boxes = [one, await startBox(t, servers.url), await startBox(t, servers.url)];
  const made = boxes.flatMap(({ store }, at) =>
    Array.from({ length: 20 }, (_, index) =>
      insist(() => store.change(() => store.tags.create(tag(`${at}-${index}`)))),
    ),
  );
  const removed = await Promise.allSettled(
    ['root', 'boss'].map((name, at) =>
      insist(() => boxes[at]!.store.change(() => boxes[at]!.store.users.remove(name))),
    ),
  );
  await Promise.all(made);
  assert.deepEqual(removed.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  for (const { store } of boxes)
    await until('all is there', () => store.tags.list().length === 60 && store.users.list().length === 1);
});

test('a server that is killed, frozen or led the settings stops no change for longer than an election', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  /** Makes a change, however often it has to be asked for, and waits until the other box has it. */
  const change = async (id: string): Promise<void> => {
    await insist(() => one.store.change(() => one.store.tags.create(tag(id))));
    await until(`the other has ${id}`, () => idsOf(other.store).includes(id));
  };
  await change('before');
  const leader = await until('somebody leads', () => servers.leaderOf(STREAM));
  await servers.kill(leader);
  await change('leader-killed');
  await servers.startOne(leader);
  const second = await until('somebody leads again', () => servers.leaderOf(STREAM));
  servers.freeze(second);
  await change('leader-frozen');
  servers.thaw(second);
  await change('thawed');
  assert.deepEqual(idsOf(one.store), ['before', 'leader-frozen', 'leader-killed', 'thawed']);
  assert.deepEqual(idsOf(other.store), idsOf(one.store));
});

test('without a majority nothing is changed and all is known, also by a box that starts then', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  await one.store.change(() => one.store.tags.create(tag('before')));
  await until('the other has it', () => idsOf(other.store).includes('before'));
  await servers.kill(0);
  await servers.kill(1);
  const refused = one.store.change(() => one.store.tags.create(tag('lost')));
  await assert.rejects(refused, { code: 'cluster_unavailable' });
  assert.deepEqual(idsOf(one.store), ['before'], 'nothing is written that the cluster may not have');
  await until('it says so', () => one.cluster.fault !== null);
  const again = await other.again();
  assert.deepEqual(idsOf(again.store), ['before']);
  await servers.startOne(0);
  await until('it is well again', () => one.cluster.fault === null && again.cluster.fault === null);
  const made = await until('a change is made', () =>
    again.store.change(() => again.store.tags.create(tag('after'))).catch(() => null),
  );
  assert.equal(made.id, 'after');
  await until('the other has it', () => idsOf(one.store).includes('after'));
});

const recordOf = async (connection: NatsConnection, name: string) => {
  const manager = await jetstreamManager(connection);
  const found = await manager.direct.getMessage(STREAM, { last_by_subj: PREFIX + name });
  return { data: found!.data, headers: found!.header };
};

test('what is written into the settings without the key is not taken over by any box, and put right', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  const stranger = await connect({ servers: servers.url });
  t.after(() => stranger.close());
  const deleted = headers();
  deleted.set('KV-Operation', 'DEL');
  await one.store.change(() => one.store.users.create({ ...admin, username: 'mallory' }));
  await one.store.change(() => one.store.tags.create(tag('a')));
  const mallory = await recordOf(stranger, 'user/mallory');
  await until('the other has the user', () => other.store.users.find('mallory'));
  await one.store.change(() => one.store.users.remove('mallory'));
  await until('the other has it', () => other.store.users.find('mallory') === null);
  stranger.publish(`${PREFIX}hello`, 'garbage');
  stranger.publish(`${PREFIX}no.name.of.ours`, 'garbage');
  stranger.publish(`${PREFIX}user/root`, '', { headers: deleted });
  stranger.publish(`${PREFIX}tag/a`, 'garbage');
  stranger.publish(`${PREFIX}user/mallory`, mallory.data);
  stranger.publish(`${PREFIX}mark`, '', { headers: deleted });
  await stranger.flush();
  await until('it is told', () => [one, other].some(({ lines }) => /has written over/.test(lines.join())));
  await one.store.change(() => one.store.tags.create(tag('b')));
  for (const name of ['user/root', 'user/mallory', 'hello', 'mark'])
    await until(`${name} is put right`, async () => {
      const { data } = await recordOf(stranger, name);
      return data.length > 20 && !Buffer.from(data).equals(Buffer.from(mallory.data));
    });
  await until('nothing is wrong any more', () => [one, other].every(({ cluster }) => cluster.fault === null));
  // As a batch, with all that came with it then.
  const again = mallory.headers;
  stranger.publish(`${PREFIX}user/mallory`, mallory.data, { headers: again });
  again.set('Nats-Batch-Id', `${again.get('Nats-Batch-Id')}x`);
  again.set('Nats-Batch-Sequence', '1');
  again.set('Nats-Batch-Commit', '1');
  again.delete('Nats-Expected-Last-Sequence');
  await stranger.request(`${PREFIX}user/mallory`, mallory.data, { headers: again, timeout: 5_000 });
  await other.store.change(() => other.store.tags.create(tag('c')));
  await until('it is put right, too', async () => {
    const { data } = await recordOf(stranger, 'user/mallory');
    return !Buffer.from(data).equals(Buffer.from(mallory.data));
  });
  const late = await startBox(t, servers.url);
  for (const { store, cluster } of [one, late, await other.again()]) {
    await until('it has all', () => idsOf(store).length === 3);
    assert.deepEqual(
      store.users.list().map(({ username }) => username),
      ['root'],
    );
    await until('it is well', () => cluster.fault === null);
  }
  const told = one.lines.join('\n') + other.lines.join('\n');
  assert.ok(['hello', 'user/root', 'user/mallory', 'tag/a'].every((key) => told.includes(`"${key}"`)));
  assert.deepEqual(
    [...one.effects, ...other.effects].flatMap(({ revokedUsernames }) => revokedUsernames),
    ['mallory'],
  );
});

test('a bucket that somebody fills is not read any more; boxes go on, say so, and fill the next one', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  await other.stop();
  const stranger = await connect({ servers: servers.url });
  t.after(() => stranger.close());
  for (let index = 0; index <= 100_000; index++) {
    stranger.publish(`${PREFIX}x/${index}`, 'y');
    if (index % 5_000 === 0) await stranger.flush();
  }
  await stranger.flush();
  await until('it is told', () => /more than 100000 are not read/.test(one.cluster.fault ?? ''), {
    deadlineMs: 90_000,
  });
  const again = await other.again();
  await until('it is told', () => /more than 100000 are not read/.test(again.cluster.fault ?? ''));
  assert.deepEqual(again.store.users.list(), one.store.users.list());
  const manager = await jetstreamManager(stranger);
  await manager.streams.delete(STREAM);
  await until('all is well', () => [one, again].every(({ cluster }) => cluster.fault === null), {
    deadlineMs: 90_000,
  });
  await insist(() => one.store.change(() => one.store.tags.create(tag('a'))));
  await until('the other has it', () => idsOf(again.store).includes('a'));
});

test('however often somebody says that there is news, a box looks ten times a second at most', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  await startBox(t, servers.url, withAdmin);
  const stranger = await connect({ servers: servers.url });
  t.after(() => stranger.close());
  let looks = 0;
  const passedSec = (): number => (performance.now() - beganMs) / 1_000;
  stranger.subscribe('$JS.API.DIRECT.GET.>', { callback: () => void looks++ });
  const beganMs = performance.now();
  // Also where all stand still for a moment at first. Nobody who isn't told looks as often.
  await until('some are seen', async () => {
    stranger.publish('framering.test.settings');
    await stranger.flush();
    return passedSec() >= 1.5 && looks >= 5 + 3 * passedSec();
  });
  // Besides once a second, and twice for a check.
  assert.ok(looks <= 10 * passedSec() + 5, `${looks} looks`);
});

test('boxes that have a copy start by it whatever was done to the settings meanwhile, and put it right', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  const behind = await startBox(t, servers.url);
  await behind.stop();
  await one.store.change(() => one.store.tags.create(tag('a')));
  const stranger = await connect({ servers: servers.url });
  t.after(() => stranger.close());
  await one.stop();
  for (const name of ['tag/a', 'mark', 'hello']) stranger.publish(PREFIX + name, 'garbage');
  await stranger.flush();
  const second = await behind.again();
  assert.deepEqual(second.store.users.list().length, 1);
  await until('it says what is wrong', () => /written over/.test(second.cluster.fault ?? ''));
  const first = await one.again();
  assert.deepEqual(idsOf(first.store), ['a']);
  await until('all is well', () => [first, second].every(({ cluster }) => cluster.fault === null));
  await until('who was behind has what it lacked', () => idsOf(second.store).includes('a'));
  const late = await startBox(t, servers.url);
  assert.deepEqual(idsOf(late.store), ['a']);
});

test('what the servers have lost of the last changes is put back by the boxes that have it', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  const away = await startBox(t, servers.url);
  await away.stop();
  await one.store.change(() => one.store.tags.create(tag('before')));
  const [folder = ''] = servers.folders;
  const saved = join(tempFolder(t), 'saved');
  await servers.kill();
  cpSync(folder, saved, { recursive: true });
  await servers.startOne(0);
  const newer = () => one.store.change(() => one.store.tags.create(tag('newer')));
  await until('it is made', () =>
    newer().then(
      () => true,
      () => false,
    ),
  );
  await until('the other has it', () => idsOf(other.store).includes('newer'));
  await servers.kill();
  rmSync(folder, { recursive: true });
  cpSync(saved, folder, { recursive: true });
  const restarted = await other.again();
  await servers.startOne(0);
  const late = await until('a box joins', () => startBox(t, servers.url).catch(() => null));
  await until('a box says so', () =>
    /had lost its last changes/.test([...one.lines, ...restarted.lines].join()),
  );
  for (const box of [one, restarted, late, await away.again()]) {
    await until('it has all', () => idsOf(box.store).length === 2 && box.cluster.fault === null);
    assert.deepEqual(idsOf(box.store), ['before', 'newer']);
    assert.deepEqual(
      readdirSync(box.folder).filter((name) => name.includes('before-cluster')),
      [],
    );
  }
});

test('settings that the servers have lost altogether are put back by boxes that run', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  const stranger = await connect({ servers: servers.url });
  t.after(() => stranger.close());
  await (await jetstreamManager(stranger)).streams.delete(STREAM);
  await until('a change is made', () =>
    one.store
      .change(() => one.store.tags.create(tag('a')))
      .then(
        () => true,
        ({ code }: { code: string }) => code === 'exists',
      ),
  );
  await until('the other has it', () => idsOf(other.store).includes('a'));
  for (const { cluster, folder } of [one, other]) {
    await until('it is well', () => cluster.fault === null);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('before-cluster')),
      [],
    );
  }
});

test('what a member was set to while it ran alone is kept when the cluster takes its place', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  await one.store.change(() => one.store.tags.create(tag('shared')));
  await one.stop();
  const alone = new Store(join(one.folder, 'framering.db'));
  await alone.change(() => alone.tags.create(tag('alone')));
  alone.close();
  const again = await one.again();
  // At once, or a moment after it has started by its own.
  await until("it has the cluster's", () => idsOf(again.store).join() === 'shared');
  assert.match(again.lines.join('\n'), /have taken the place of this box's own, which are kept/);
  const [name = ''] = readdirSync(one.folder).filter((file) => file.startsWith('framering-before-cluster-'));
  const kept = new Store(join(one.folder, name));
  assert.deepEqual(idsOf(kept), ['alone', 'shared']);
  kept.close();
});

test('a box starts by its copy where no server answers; one with another key is refused', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  // It has nothing to start by where the servers take long.
  const options = { secret: 'another secret, of another cluster' };
  await assert.rejects(
    startBox(t, servers.url, () => {}, options),
    {
      code: 'bad_config',
      message: /CLUSTER_KEY is another/,
    },
  );
  await until('the first is well', () => one.cluster.fault === null);
  await servers.kill();
  const again = await one.again();
  assert.deepEqual(
    again.store.users.list().map(({ username }) => username),
    ['root'],
  );
  assert.match(again.lines.join('\n'), /starts by its own copy/);
  assert.notEqual(again.cluster.fault, null);
});

test('with a new key and a new name boxes go on as the cluster that they were', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  await one.store.change(() => one.store.tags.create(tag('a')));
  await until('the other has it', () => idsOf(other.store).length === 1);
  const exported = one.store.exportAll();
  await one.stop();
  await other.stop();
  const options = { secret: 'another secret that all boxes have', clusterName: 'next' };
  for (const { folder } of [one, other]) {
    const { store, cluster } = await startBox(t, servers.url, () => {}, options, folder);
    assert.deepEqual(store.exportAll(), exported);
    await until('it is well', () => cluster.fault === null);
    assert.ok(!readdirSync(folder).some((name) => name.includes('before-cluster')), 'nothing was replaced');
  }
});

test('over TLS a box shows who it is; the servers refuse another, which says so and starts by its copy', {
  skip: withoutNats,
}, async (t) => {
  const folder = tempFolder(t);
  makeCertificate(folder);
  const [ours, theirs] = [nkeys.createUser(), nkeys.createUser()];
  const servers = await NatsServers.start(t, {
    count: 1,
    config: `tls { cert_file: "${join(folder, 'cert.pem')}", key_file: "${join(folder, 'key.pem')}" }
             authorization { users: [{ nkey: ${ours.getPublicKey()} }] }`,
  });
  const url = servers.url.replace('nats://', 'tls://');
  const as = (key: typeof ours, ca: Buffer | null = readFileSync(join(folder, 'cert.pem'))) => ({
    ca,
    login: { kind: 'nkey', secret: Buffer.from(key.getSeed()) } as const,
  });
  const one = await startBox(t, url, withAdmin, as(ours));
  await until('it is well', () => one.cluster.fault === null);
  const refused = await startBox(t, url, withAdmin, as(theirs));
  await until('it says why', () => /authorization/i.test(refused.cluster.fault ?? ''));
  const mistrusting = await startBox(t, url, withAdmin, as(ours, null));
  await until('it says why', () => /certificate/i.test(mistrusting.cluster.fault ?? ''));
  const lines = [...refused.lines, ...mistrusting.lines].join('\n');
  assert.match(lines, /starts by its own copy/);
  assert.ok(!lines.includes(Buffer.from(theirs.getSeed()).toString()));
});
