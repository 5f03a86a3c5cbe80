import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { sampleCamera } from '../store/samples.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { insist, startBox, withAdmin } from './boxes.js';

test('a restore of 10,000 cameras comes whole to the other boxes, and quickly', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const one = await startBox(t, servers.url, withAdmin);
  const other = await startBox(t, servers.url);
  const cameras = Array.from({ length: 10_000 }, (_, index) => sampleCamera(`camera-${index}`));
  const users = one.store.exportAll().users;
  await insist(() => one.store.change(() => one.store.importAll({ cameras, tags: [], folders: [], users })));
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

test("a change that another box tells needn't be read, however long it is", {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const one = await startBox(t, servers.url, withAdmin);
  const stranger = await connect({ servers: servers.url });
  t.after(() => stranger.close());
  let looks = 0;
  stranger.subscribe('$JS.API.DIRECT.GET.>', { callback: () => void looks++ });
  const users = one.store.exportAll().users;
  const fill = (turn: number) => {
    const cameras = Array.from({ length: 3_000 }, (_, index) => ({
      ...sampleCamera(`camera-${index}`),
      comment: `turn ${turn}`,
    }));
    return insist(() =>
      one.store.change(() => one.store.importAll({ cameras, tags: [], folders: [], users })),
    );
  };
  const looksDuring = async (work: () => Promise<unknown>): Promise<number> => {
    await stranger.flush();
    const before = looks;
    await work();
    await stranger.flush();
    return looks - before;
  };
  await fill(0);
  let other = one;
  const toRead = await looksDuring(async () => {
    other = await startBox(t, servers.url);
  });
  const told: number[] = [];
  // It is read where the other looks by itself when it is written, before it is told. Here both are one process, so that what
  // came for the one waits until the other has written, and its next look with it.
  for (let turn = 1; turn <= 12 && !told.some((count) => count < toRead / 2); turn += 1) {
    const before = looks;
    await until('somebody has looked', () => looks > before);
    told.push(
      await looksDuring(async () => {
        await fill(turn);
        await until(
          'the other has it',
          () => other.store.cameras.find('camera-2999')?.comment === `turn ${turn}`,
        );
      }),
    );
  }
  assert.ok(Math.min(...told) < toRead / 2, `${told} looks: to read as many cameras takes ${toRead}`);
});
