import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { clusterAddressOf } from '../../src/base/cluster-address.js';
import { createLogger } from '../../src/base/log.js';
import { NatsLink } from '../../src/cluster/nats-link.js';
import { Claims } from '../../src/cluster/owners/claims.js';
import { derivedKey, SealedText } from '../../src/cluster/sealed-text.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { SECRET } from './boxes.js';

const BUCKET = '$KV.framering-test-owners.owner';

test('each claim is higher than the last, whatever became of the bucket or was written into it', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const log = createLogger(() => {});
  const address = clusterAddressOf(servers.url)!;
  const link = new NatsLink({ address, ca: null, login: null, boxName: 'one' }, { clock: systemClock, log });
  t.after(() => link.stop());
  const connection = await until('it is connected', () => link.connection);
  const claimsBy = (secret: string) =>
    new Claims('test', { link, sealed: new SealedText(derivedKey(secret, 'test', 'owners')) });
  const claims = claimsBy(SECRET);
  const by = { box: 'one', boot: 'first' };
  assert.equal(await claims.claim('cam', by, 1), 1);
  assert.equal(await claims.claim('cam', by, 1), 2);
  assert.equal(await claims.claim('cam', by, 7), 7);
  // Whoever may write there.
  await connection.request(`${BUCKET}/cam`, 'garbage');
  assert.equal(await claims.claim('cam', by, 8), 8);
  assert.equal(await claims.claim('cam', by, 1), 9);
  assert.equal(await claimsBy('another secret of some length').claim('cam', by, 10), 10);
  await connection.request('$JS.API.STREAM.DELETE.KV_framering-test-owners', '');
  const again = await until('there is another bucket', () => claims.claim('cam', by, 11).catch(() => null));
  assert.equal(again, 11);
});

test('of many claims at the same time each is made or another was first, and none counts as servers that are away', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t);
  const log = createLogger(() => {});
  const address = clusterAddressOf(servers.url)!;
  const sealed = new SealedText(derivedKey(SECRET, 'test', 'owners'));
  const boxes = await Promise.all(
    ['one', 'two', 'three'].map(async (box) => {
      const link = new NatsLink(
        { address, ca: null, login: null, boxName: box },
        { clock: systemClock, log },
      );
      t.after(() => link.stop());
      await until('it is connected', () => link.connection);
      return { box, claims: new Claims('test', { link, sealed }) };
    }),
  );
  await until('there is a bucket', () =>
    boxes[0]!.claims.claim('first', { box: 'one', boot: 'one' }, 1).catch(() => null),
  );
  const made: number[] = [];
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(
      boxes.map(({ box, claims }) => claims.claim('cam', { box, boot: box }, 1)),
    );
    made.push(...answers.filter((epoch) => epoch !== null));
  }
  assert.ok(made.length >= 20);
  assert.equal(new Set(made).size, made.length, 'none is given twice');
});
