import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { systemClock } from '../../src/base/clock.js';
import { clusterAddressOf } from '../../src/base/cluster-address.js';
import { createLogger } from '../../src/base/log.js';
import { NatsLink } from '../../src/cluster/nats-link.js';
import { Claims } from '../../src/cluster/owners/claims.js';
import { derivedKey, SealedText } from '../../src/cluster/sealed-text.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { claimed, SECRET } from './boxes.js';

/** Servers may stand still for a moment. */
const PATIENT = { timeout: 20_000 };
const BUCKET = '$KV.framering-test-owners.owner';

test('each claim is higher than the last, whatever became of the bucket or was written into it', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const log = createLogger(() => {});
  const address = clusterAddressOf(servers.url)!;
  const link = new NatsLink({ address, ca: null, login: null, boxName: 'one' }, { clock: systemClock, log });
  t.after(() => link.stop());
  await until('it is connected', () => link.connection);
  // Whoever may write there.
  const stranger = await connect({ servers: servers.url });
  t.after(() => stranger.close());
  const claimsBy = (secret: string) =>
    new Claims('test', { link, sealed: new SealedText(derivedKey(secret, 'test', 'owners')) });
  const claims = claimsBy(SECRET);
  const first = await claimed(claims, 1, 1);
  await claimed(claims, 1, first + 1);
  await claimed(claims, 7, 7);
  await stranger.request(`${BUCKET}/cam`, 'garbage', PATIENT);
  const later = await claimed(claims, 8, 8);
  await claimed(claims, 1, later + 1);
  await claimed(claimsBy('another secret of some length'), 10, 10);
  await stranger.request('$JS.API.STREAM.DELETE.KV_framering-test-owners', '', PATIENT);
  // That the bucket is gone is found out by a claim, unless the link was made anew just then.
  const made = await claims.claim('cam', { box: 'one', boot: 'first' }, 11).catch(() => null);
  assert.ok(made === null || made === 11, `${made}`);
  await claimed(claims, 11, made === null ? 11 : 12);
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
  const claim = ({ box, claims }: (typeof boxes)[number]): Promise<number | null> =>
    claims.claim('cam', { box, boot: box }, 1).catch((fault: Error) => {
      // They may be too slow for a moment, and not say no.
      assert.doesNotMatch(fault.message, /sequence/);
      return null;
    });
  await until('many are made', async () => {
    const answers = await Promise.all(boxes.map(claim));
    made.push(...answers.filter((epoch) => epoch !== null));
    return made.length >= 20;
  });
  assert.equal(new Set(made).size, made.length, 'none is given twice');
});
