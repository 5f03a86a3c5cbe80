import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nkeys } from '@nats-io/transport-node';
import type { Store } from '../../src/store/store.js';
import { sampleCamera } from '../store/samples.js';
import { makeCertificate } from '../support/mosquitto.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { STREAM, startBox } from './boxes.js';

const admin = { username: 'root', password_hash: 'h', role: 'admin' } as const;
const withAdmin = (store: Store): void => void store.users.create(admin);
const tag = (id: string) => ({ id, name: id, color: '#000000' });

/** Asks for a change again where it was refused because too much was going on, as whoever makes it would. */
const insist = async (change: () => Promise<unknown>): Promise<void> => {
  await until('it is made', () =>
    change().then(
      () => true,
      (fault: { code: string }) => {
        // It was made, and the answer was lost.
        if (fault.code === 'exists') return true;
        if (fault.code !== 'cluster_unavailable') throw fault;
        return false;
      },
    ),
  );
};

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

test('a restore of 10,000 cameras comes whole to the other boxes, and quickly', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  const cameras = Array.from({ length: 10_000 }, (_, index) => sampleCamera(`camera-${index}`));
  const users = one.store.exportAll().users;
  await one.store.change(() => one.store.importAll({ cameras, tags: [], folders: [], users }));
  const counts = new Set<number>();
  await until('the other has all', () => {
    const { length } = other.store.cameras.list();
    counts.add(length);
    return length === 10_000;
  });
  assert.deepEqual(
    [...counts].filter((count) => count !== 0 && count !== 10_000),
    [],
    'all at once',
  );
  const late = await startBox(t, servers.url);
  assert.equal(late.store.cameras.list().length, 10_000);
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

test('a box starts by its copy where no server answers; one with another key is refused', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  await assert.rejects(
    startBox(t, servers.url, withAdmin, { secret: 'another secret, of another cluster' }),
    {
      code: 'bad_config',
      message: /CLUSTER_KEY is another/,
    },
  );
  assert.equal(one.cluster.fault, null);
  await servers.kill();
  const again = await one.again();
  assert.deepEqual(
    again.store.users.list().map(({ username }) => username),
    ['root'],
  );
  assert.match(again.lines.join('\n'), /starts by its own copy/);
  assert.notEqual(again.cluster.fault, null);
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
  assert.equal(one.cluster.fault, null);
  const refused = await startBox(t, url, withAdmin, as(theirs));
  assert.match(refused.cluster.fault ?? '', /authorization/i);
  const mistrusting = await startBox(t, url, withAdmin, as(ours, null));
  assert.match(mistrusting.cluster.fault ?? '', /certificate/i);
  const lines = [...refused.lines, ...mistrusting.lines].join('\n');
  assert.match(lines, /starts by its own copy/);
  assert.ok(!lines.includes(Buffer.from(theirs.getSeed()).toString()));
});
