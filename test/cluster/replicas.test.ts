import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { systemClock } from '../../src/base/clock.js';
import { clusterAddressOf } from '../../src/base/cluster-address.js';
import { createLogger } from '../../src/base/log.js';
import { NatsLink } from '../../src/cluster/nats-link.js';
import { Claims } from '../../src/cluster/owners/claims.js';
import { derivedKey, SealedText } from '../../src/cluster/sealed-text.js';
import { SettingsLog } from '../../src/cluster/settings-log.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';
import { claimed, SECRET } from './boxes.js';

/** As many servers, connected to, and what a box makes of them. */
const start = async (t: TestContext, count: number) => {
  const servers = await NatsServers.start(t, { count });
  const log = createLogger(() => {});
  const address = clusterAddressOf(servers.url)!;
  const link = new NatsLink({ address, ca: null, login: null, boxName: 'one' }, { clock: systemClock, log });
  t.after(() => link.stop());
  const connection = await until('it is connected', () => link.connection);
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const open = () => {
    const sealed = (purpose: string) => new SealedText(derivedKey(SECRET, 'test', purpose));
    return {
      settings: new SettingsLog('test', { clock: systemClock, link, sealed: sealed('settings') }),
      claims: new Claims('test', { link, sealed: sealed('owners') }),
    };
  };
  return { connection, manager, open };
};

test('buckets that one of three servers has alone are soon at all of them, with what is in them', {
  skip: withoutNats,
}, async (t) => {
  const { manager, open } = await start(t, 3);
  const before = open();
  const made = await until('there are buckets', () => before.settings.state().catch(() => null));
  const epoch = await claimed(before.claims, 0, 1);
  const streams = ['KV_framering-test-settings', 'KV_framering-test-owners'];
  const replicas = () =>
    Promise.all(streams.map(async (name) => (await manager.streams.info(name)).config.num_replicas));
  for (const name of streams)
    await until('one has it alone', async () => {
      const { config } = await manager.streams.info(name);
      const { config: after } = await manager.streams.update(name, { ...config, num_replicas: 1 });
      return after.num_replicas === 1;
    });
  assert.deepEqual(await replicas(), [1, 1]);
  const after = open();
  const { created } = await until('there is a majority', () => after.settings.state().catch(() => null));
  assert.equal(created, made.created, 'it is the same log');
  await claimed(after.claims, 0, epoch + 1);
  assert.deepEqual(await replicas(), [3, 3]);
});

test('servers that are too few for three copies are not asked for them all the time', {
  skip: withoutNats,
}, async (t) => {
  const { connection, manager, open } = await start(t, 2);
  await until('there is a leader', () =>
    manager.streams
      .add({
        ...{ name: 'KV_framering-test-settings', subjects: ['$KV.framering-test-settings.>'] },
        ...{ num_replicas: 1, allow_direct: true, allow_atomic: true },
      })
      .catch(() => null),
  );
  let times = 0;
  connection.subscribe('$JS.API.STREAM.UPDATE.>', { callback: () => void times++ });
  await connection.flush();
  const { settings } = open();
  for (let count = 0; count < 5; count++)
    await until('they answer', () => settings.state().catch(() => null));
  await connection.flush();
  assert.equal(times, 1);
});
