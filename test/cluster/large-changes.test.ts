import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { connect, headers } from '@nats-io/transport-node';
import { systemClock } from '../../src/base/clock.js';
import { clusterAddressOf } from '../../src/base/cluster-address.js';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import { NatsLink } from '../../src/cluster/nats-link.js';
import { SealedText } from '../../src/cluster/sealed-text.js';
import { SettingsLog } from '../../src/cluster/settings-log.js';
import { sampleCamera } from '../store/samples.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { insist, PREFIX, STREAM, startBox, withAdmin } from './boxes.js';

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

/** Answers reads in the place of servers: what there is by then, up to `known()`. */
const standIn = async (
  t: TestContext,
  url: string,
  known: (ask: number) => number,
): Promise<() => number> => {
  const connection = await connect({ servers: url });
  t.after(() => connection.close());
  let asks = 0;
  connection.subscribe(`$JS.API.DIRECT.GET.${STREAM}`, {
    callback: (_fault, message) => {
      asks += 1;
      const { seq, batch } = message.json<{ seq: number; batch: number }>();
      const last = known(asks);
      const end = Math.min(seq + batch - 1, last);
      for (let sequence = seq; sequence <= end; sequence += 1) {
        const head = headers();
        head.set('Nats-Stream', STREAM);
        head.set('Nats-Subject', `${PREFIX}x/${sequence}`);
        head.set('Nats-Sequence', String(sequence));
        head.set('Nats-Time-Stamp', '2026-11-21T08:30:00Z');
        head.set('Nats-Num-Pending', String(last - sequence));
        message.respond('nobody can open it', { headers: head });
      }
      message.respond('', { headers: end < seq ? headers(404, 'Message Not Found') : headers(204, 'EOB') });
    },
  });
  await connection.flush();
  return () => asks;
};

/** How many such a server is read to have, or why it isn't; and how often it was asked. */
const readFrom = async (t: TestContext, known: (ask: number) => number) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const asks = await standIn(t, servers.url, known);
  const link = new NatsLink(
    { address: clusterAddressOf(servers.url)!, ca: null, login: null, boxName: 'one' },
    { clock: systemClock, log: createLogger(() => {}) },
  );
  t.after(() => link.stop());
  await until('it is connected', () => link.connection);
  const settings = new SettingsLog('test', {
    ...{ clock: systemClock, link, sealed: new SealedText(Buffer.alloc(32)) },
  });
  const read = await settings.readAfter(0).then(
    ({ length }) => length,
    (fault: AppError) => fault,
  );
  return { read, asks: asks() };
};

const MOST_TRIES = 5;
/** Who stands still for a second counts as away. */
const isSilence = (read: number | AppError): boolean =>
  read instanceof AppError && /say nothing|timeout|no server answers|closed/i.test(read.message);

for (const [name, known, expected] of [
  [
    "of a server that hasn't all of it yet the rest is asked for again",
    (ask) => (ask === 2 ? 600 : 1_200),
    1_200,
  ],
  ['of one that has none of it, too', (ask) => (ask === 2 ? 0 : 1_200), 1_200],
  ['of one of two that answer by turns, too', (ask) => (ask % 2 === 0 ? 9_999 : 10_000), 10_000],
  ['what is never all there is refused', (ask) => (ask >= 2 ? 600 : 1_200), null],
] as [string, (ask: number) => number, number | null][])
  test(`settings in pages: ${name}`, { skip: withoutNats }, async (t) => {
    let { read, asks } = await readFrom(t, known);
    for (let tries = 1; isSilence(read) && tries < MOST_TRIES; tries += 1)
      ({ read, asks } = await readFrom(t, known));
    if (expected !== null) assert.equal(read, expected);
    else {
      assert.ok(read instanceof AppError && read.code === 'cluster_unavailable');
      assert.match(read.message, /hasn't all of it yet/);
      assert.ok(asks > 2);
    }
  });
