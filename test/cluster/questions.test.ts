import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { type Clock, systemClock } from '../../src/base/clock.js';
import { clusterAddressOf } from '../../src/base/cluster-address.js';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import type { BoxView } from '../../src/cluster/boxes/box-table.js';
import { NatsLink } from '../../src/cluster/nats-link.js';
import { Questions } from '../../src/cluster/questions.js';
import { derivedKey, SealedText } from '../../src/cluster/sealed-text.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';

const viewOf = (name: string, isHere = true): BoxView => ({
  ...{ name, boot: `${name}-boot`, isHere, isLeaving: false, sinceMs: 0 as BoxView['sinceMs'] },
  ...{
    capacity: 1,
    load: 0,
    cameras: 0,
    address: null,
    relayPort: null,
    version: '1',
    store: null,
    hears: [],
    aheadMs: 0,
  },
});

/** One of the boxes north, south and west, of which the last is lost; by another boot or key, if so. */
const startBox = async (
  t: TestContext,
  url: string,
  {
    box,
    boot = `${box}-boot`,
    secret = 'what all have',
    clock = systemClock,
  }: { box: string; boot?: string; secret?: string; clock?: Clock },
): Promise<Questions> => {
  const log = createLogger(() => {});
  const address = clusterAddressOf(url)!;
  const link = new NatsLink({ address, ca: null, login: null, boxName: box }, { clock: systemClock, log });
  t.after(() => link.stop());
  const connection = await until('it is connected', () => link.connection);
  const questions = new Questions(
    'test',
    { box, boot },
    {
      ...{ clock, log, link, sealed: new SealedText(derivedKey(secret, 'test', 'questions')) },
      boxes: () => [viewOf('north.site'), viewOf('south'), viewOf('west', false)],
    },
  );
  questions.listen(connection);
  await connection.flush();
  return questions;
};

const hasCode = (code: string) => (fault: unknown) => fault instanceof AppError && fault.code === code;

test('a box asks another, which answers or says why not; what was overheard is not asked again', {
  skip: withoutNats,
  timeout: 90_000,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const north = await startBox(t, servers.url, { box: 'north.site' });
  const south = await startBox(t, servers.url, { box: 'south' });
  const eve = await connect({ servers: servers.url.replace('nats://', '') });
  t.after(() => eve.close());
  const overheard: { subject: string; data: Uint8Array }[] = [];
  eve.subscribe('framering.test.ask.>', {
    callback: (_, { subject, data }) => void overheard.push({ subject, data }),
  });
  await eve.flush();
  const asked: unknown[] = [];
  north.answer('double', async (content) => {
    asked.push(content);
    if (typeof content !== 'number') throw new AppError('no_number', 'only of numbers');
    if (content < 0) throw new Error('nobody is to read this');
    return content * 2;
  });
  assert.equal(await south.ask('north.site', 'double', 21), 42);
  await assert.rejects(south.ask('north.site', 'double', 'x'), hasCode('no_number'));
  const inside = await south.ask('north.site', 'double', -1).catch((fault: AppError) => fault);
  assert.ok(inside instanceof AppError && inside.code === 'internal_error', String(inside));
  assert.doesNotMatch(inside.message, /nobody/);
  await assert.rejects(south.ask('north.site', 'halve', 1), hasCode('box_unreachable'));
  for (const box of ['west', 'unknown'])
    await assert.rejects(south.ask(box, 'double', 1), hasCode('box_unreachable'), box);
  assert.deepEqual(asked, [21, 'x', -1]);
  // Whoever is asked and who listens hear of it apart from each other.
  await until('all of it was overheard', () => overheard.length >= 4);
  assert.equal(overheard.length, 4);
  assert.doesNotMatch(Buffer.concat(overheard.map(({ data }) => data)).toString('latin1'), /double/);
  for (const { subject, data } of overheard) eve.publish(subject, data, { reply: 'framering.test.eve' });
  // Of another start of a box, of one that isn't here, and of somebody with another key.
  const strangers = await Promise.all([
    startBox(t, servers.url, { box: 'south', boot: 'past-boot' }),
    startBox(t, servers.url, { box: 'west' }),
    startBox(t, servers.url, { box: 'south', secret: 'something else' }),
  ]);
  for (const stranger of strangers) stranger.ask('north.site', 'double', 666).catch(() => undefined);
  await eve.flush();
  assert.equal(await south.ask('north.site', 'double', 4), 8);
  assert.deepEqual(asked, [21, 'x', -1, 4]);
});

test('a box whose machine was put back to an earlier moment is answered when its clock is right again', {
  skip: withoutNats,
  timeout: 90_000,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const north = await startBox(t, servers.url, { box: 'north.site' });
  north.answer('double', async (content) => 2 * (content as number));
  const time = { behindMs: 10_000 };
  const clock: Clock = {
    ...systemClock,
    wallMs: () => (systemClock.wallMs() - time.behindMs) as ReturnType<Clock['wallMs']>,
  };
  const putBack = await startBox(t, servers.url, { box: 'south', clock });
  const before = await startBox(t, servers.url, { box: 'south' });
  // All the same until then.
  assert.equal(await putBack.ask('north.site', 'double', 1), 2);
  for (let count = 0; count < 5; count++) await before.ask('north.site', 'double', count);
  // Some time has gone by since.
  time.behindMs = -1_000;
  assert.equal(await putBack.ask('north.site', 'double', 4), 8);
});
