import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { mock, test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { clusterAddressOf } from '../../src/base/cluster-address.js';
import { createLogger } from '../../src/base/log.js';
import { NatsLink } from '../../src/cluster/nats-link.js';
import { SealedText } from '../../src/cluster/sealed-text.js';
import { SettingsLog } from '../../src/cluster/settings-log.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { until } from '../support/until.js';

const openLink = (servers: NatsServers): NatsLink =>
  new NatsLink(
    { address: clusterAddressOf(servers.url)!, ca: null, login: null, boxName: 'box' },
    { clock: systemClock, log: createLogger(() => {}) },
  );

test('a clock that is set back by an hour while the servers are away keeps nobody from them', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const link = openLink(servers);
  t.after(() => link.stop());
  await until('there is a connection', () => link.connection);
  await servers.kill();
  await until('it is lost', () => link.connection === null);
  const now = Date.now;
  const back = mock.method(Date, 'now', () => now() - 3_600_000);
  t.after(() => back.mock.restore());
  await servers.startOne(0);
  await until('there is a connection again', () => link.connection);
});

test('a server that takes the connection and says nothing is told of as one that does not answer', async (t) => {
  const silent = createServer((socket) => void t.after(() => socket.destroy())).listen(0, '127.0.0.1');
  t.after(() => silent.close());
  await once(silent, 'listening');
  const address = clusterAddressOf(`nats://127.0.0.1:${(silent.address() as AddressInfo).port}`)!;
  const link = new NatsLink(
    { address, ca: null, login: null, boxName: 'box' },
    { clock: systemClock, log: createLogger(() => {}) },
  );
  t.after(() => link.stop());
  await until('it says so', () => link.fault === 'no answer within 1 s', {
    describe: () => String(link.fault),
  });
});

test('two servers are too few to keep what three copies are made of, and that is said', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 2 });
  const link = openLink(servers);
  t.after(() => link.stop());
  await until('there is a connection', () => link.connection);
  const log = new SettingsLog('test', { clock: systemClock, link, sealed: new SealedText(Buffer.alloc(32)) });
  let message = '';
  const hasSaid = (): Promise<boolean> =>
    log.state().then(
      () => false,
      (fault: Error) => {
        ({ message } = fault);
        return /three of its servers/.test(message);
      },
    );
  await until('it says so', hasSaid, { describe: () => message });
});

test('what is read when the connection ends is refused, and not waited for', {
  skip: withoutNats,
}, async (t) => {
  const servers = await NatsServers.start(t, { count: 1 });
  const link = openLink(servers);
  t.after(() => link.stop());
  const connection = await until('there is a connection', () => link.connection);
  const log = new SettingsLog('test', { clock: systemClock, link, sealed: new SealedText(Buffer.alloc(32)) });
  await until('there is a log', () => log.state().catch(() => null));
  servers.freeze(0);
  const read = log.readAfter(0);
  await connection.close();
  await assert.rejects(read, { code: 'cluster_unavailable' });
});
