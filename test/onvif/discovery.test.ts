import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Clock, systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { type Discovered, discover, networksOf } from '../../src/onvif/discovery/discover.js';
import {
  MAX_REPLY_BYTES,
  PROBED_TYPES,
  probeMessage,
  readReply,
} from '../../src/onvif/discovery/messages.js';
import { readProbe } from '../../src/onvif/server/announcements.js';
import { Announcer } from '../../src/onvif/server/announcer.js';
import { isIn } from '../../src/onvif/server/networks.js';
import { FakeClock } from '../support/fake-clock.js';
import { FakeAnnouncer, matchXml, replyXml } from '../support/onvif/fake-announcer.js';
import { cpuMsOf } from '../support/took.js';
import { until } from '../support/until.js';

const SCOPES =
  'onvif://www.onvif.org/name/Gate%20%3Cb%3E onvif://www.onvif.org/hardware/HD-1 onvif://www.onvif.org/location/Yard';

const loopback = [{ name: 'lo', address: '127.0.0.1' }];
/** When the network is asked, and when nobody listens any more. */
const ROUNDS_AT_MS = [0, 400, 1_200];
const SEARCH_MS = 2_000;
/** A turn of the loop reads 32 datagrams (libuv), and a socket holds some hundreds: behind so many all are read. */
const TURNS = 20;

/** Searches the loopback network by a clock that goes on once each round was answered, and the answers read. */
const searched = async (answered: () => number): Promise<Discovered> => {
  const clock = new FakeClock();
  const search = discover(loopback, SEARCH_MS, { clock });
  await until('it has begun', () => clock.pendingTimers === ROUNDS_AT_MS.length + 1);
  let passedMs = 0;
  for (const [round, atMs] of ROUNDS_AT_MS.entries()) {
    clock.advance(atMs - passedMs);
    passedMs = atMs;
    await until('all is answered', () => answered() >= (round + 1) * PROBED_TYPES.length);
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise(setImmediate);
  }
  clock.advance(SEARCH_MS - passedMs);
  return search;
};

test('devices on a network are found, each once, whatever else answers', async () => {
  const announcer = await FakeAnnouncer.start(() => [
    '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
    Buffer.alloc(20_000, '<'),
    Buffer.from([0, 255, 1]),
    replyXml(matchXml('urn:uuid:1', 'http://10.1.2.3:8000/onvif/device_service', SCOPES)),
    replyXml(
      matchXml('urn:uuid:1', 'http://10.1.2.3/', SCOPES),
      matchXml('urn:uuid:2', 'http://169.254.0.9/x http://127.0.0.1:81/own', ''),
    ),
    replyXml(matchXml('urn:uuid:3', 'ftp://nothing javascript:x', '')),
  ]);
  try {
    const { devices, interfaces } = await searched(() => announcer.probes.length);
    assert.deepEqual(interfaces, [{ name: 'lo', address: '127.0.0.1', error: '' }]);
    assert.deepEqual(
      devices.map(({ endpoint, address, host, name, hardware, location }) => [
        ...[endpoint, address, host, name, hardware, location],
      ]),
      [
        ['urn:uuid:1', 'http://127.0.0.1:8000/onvif/device_service', '127.0.0.1', 'Gate <b>', 'HD-1', 'Yard'],
        ['urn:uuid:2', 'http://127.0.0.1:81/own', '127.0.0.1', '', '', ''],
        ['urn:uuid:3', 'http://127.0.0.1/onvif/device_service', '127.0.0.1', '', '', ''],
      ],
    );
    // Each kind of device is asked for more than once: datagrams get lost.
    for (const types of [
      '<d:Types>dn:NetworkVideoTransmitter<',
      '<d:Types>tds:Device<',
      '<d:Probe></d:Probe>',
    ])
      assert.ok(announcer.probes.filter((probe) => probe.includes(types)).length >= 2, types);
    const ids = announcer.probes.map((probe) => /MessageID>([^<]+)/.exec(probe)?.[1]);
    assert.equal(new Set(ids).size, ids.length);
  } finally {
    await announcer.stop();
  }
});

test('a flood of one sender is not read to its end, and ends with the search', async () => {
  let count = 0;
  const announcer = await FakeAnnouncer.start(() =>
    Array.from({ length: 100 }, () => {
      count += 1;
      return replyXml(matchXml(`urn:uuid:${count}`, 'http://127.0.0.1/', ''));
    }),
  );
  try {
    const { devices } = await searched(() => announcer.probes.length);
    assert.ok(devices.length > 0 && devices.length <= 64, String(devices.length));
  } finally {
    await announcer.stop();
  }
});

test('a search ends when nobody waits for it, and says where it could not ask', {
  timeout: 30_000,
}, async () => {
  const gone = new AbortController();
  const search = discover(loopback, 60_000, { clock: systemClock, signal: gone.signal });
  gone.abort();
  assert.deepEqual((await search).devices, []);
  const nowhere = await discover([{ name: 'x', address: '203.0.113.9' }], 60_000, { clock: systemClock });
  assert.match(nowhere.interfaces[0]?.error ?? '', /EADDRNOTAVAIL/);
});

test('networks are named by interface or address; all of them are those to others', () => {
  const own = Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ family }) => family === 'IPv4')
      .map(({ address, internal }) => ({ name, address, internal })),
  );
  const lo = own.find(({ address }) => address === '127.0.0.1')!;
  assert.deepEqual(networksOf(lo.name), networksOf('127.0.0.1'));
  assert.deepEqual(
    networksOf('all').map(({ address }) => address),
    own.filter(({ internal }) => !internal).map(({ address }) => address),
  );
  assert.throws(() => networksOf('nothing0'), /this machine has .*127\.0\.0\.1/);
});

test('nothing that a datagram holds throws, grows, or names another host', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  const reply = fc
    .tuple(text, fc.oneof(text, fc.webUrl()), text)
    .map(([endpoint, xaddrs, scopes]) =>
      replyXml(matchXml(endpoint, xaddrs, `onvif://www.onvif.org/name/${scopes}`)),
    );
  fc.assert(
    fc.property(fc.oneof(reply, text), (datagram) => {
      for (const device of readReply(Buffer.from(datagram), '192.0.2.7')) {
        assert.equal(new URL(device.address).hostname, '192.0.2.7');
        assert.ok(JSON.stringify(device).length < 3_000);
        assert.doesNotMatch(device.name + device.endpoint, /\p{Cc}/u);
      }
    }),
  );
  assert.deepEqual(readReply(Buffer.alloc(MAX_REPLY_BYTES + 1, ' '), '192.0.2.7'), []);
});

test('nothing that one sender tells hides the others, however many devices it claims to be', async () => {
  let count = 0;
  const announcer = await FakeAnnouncer.start(() =>
    Array.from({ length: 8 }, () =>
      replyXml(...Array.from({ length: 16 }, () => matchXml(`urn:uuid:${++count}`, 'http://127.0.0.1/', ''))),
    ),
  );
  try {
    const { devices } = await searched(() => announcer.probes.length);
    assert.ok(devices.length > 0 && devices.length <= 64, String(devices.length));
  } finally {
    await announcer.stop();
  }
});

test('a datagram of nothing takes no time', () => {
  const datagram = Buffer.from(`${'\0'.repeat(MAX_REPLY_BYTES - 1)}<`);
  const padded = Buffer.from(`${replyXml(matchXml('urn:uuid:1', '', ''))}\0\0`);
  const tookMs = cpuMsOf(() => {
    for (let times = 0; times < 64; times += 1) assert.deepEqual(readReply(datagram, '192.0.2.7'), []);
  });
  assert.ok(tookMs < 1_000, `${tookMs} ms`);
  assert.equal(readReply(padded, '192.0.2.7').length, 1);
});

const startAnnouncer = async (uuid: string, clock: Clock = systemClock): Promise<Announcer> => {
  const options = {
    ...{ host: '127.0.0.1', uuid },
    urlAt: (address: string) => `http://${address}:8080`,
  };
  const announcer = await Announcer.start(options, { clock, log: createLogger(() => {}) });
  assert.ok(announcer);
  return announcer;
};

test('the service says hello, is found as the device that it is, and says goodbye', async () => {
  const listener = await FakeAnnouncer.start(() => []);
  const uuid = randomUUID();
  const heard = (action: string): boolean =>
    listener.probes.some((text) => text.includes(uuid) && text.includes(`/discovery/${action}<`));
  let answers = 0;
  const clock: Clock = {
    ...systemClock,
    after: (ms, answer) =>
      systemClock.after(ms, () => {
        answer();
        answers += 1;
      }),
  };
  try {
    const announcer = await startAnnouncer(uuid, clock);
    await until('it says hello', () => heard('Hello'));
    const { devices } = await searched(() => answers);
    const endpoint = `urn:uuid:${uuid}`;
    const found = devices.filter((device) => device.endpoint === endpoint);
    assert.deepEqual(found, [
      {
        endpoint,
        address: 'http://127.0.0.1:8080/onvif/device_service',
        ...{ host: '127.0.0.1', name: 'Framering', hardware: 'Framering', location: '' },
      },
    ]);
    await announcer.stop();
    await until('it says goodbye', () => heard('Bye'));
  } finally {
    await listener.stop();
  }
});

test('nobody is answered often', async () => {
  const uuid = randomUUID();
  const announcer = await startAnnouncer(uuid);
  const socket = createSocket('udp4');
  let answers = 0;
  socket.on('message', (bytes) => {
    if (bytes.includes(uuid)) answers += 1;
  });
  try {
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.2', resolve));
    socket.setMulticastInterface('127.0.0.1');
    for (let count = 0; count < 100; count += 1)
      socket.send(probeMessage(randomUUID(), 'dn:NetworkVideoTransmitter'), 3_702, '239.255.255.250');
    await until('it answers', () => answers >= 60);
    // No answer waits for longer than half a second.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.equal(answers, 60);
  } finally {
    socket.close();
    await announcer.stop();
  }
});

test('questions for others are not answered, nor what is none', () => {
  const probe = (types: string, scopes = ''): Buffer => {
    const inside = scopes === '' ? '' : `<d:Scopes>${scopes}</d:Scopes>`;
    return Buffer.from(probeMessage('1', types).replace('</d:Probe>', `${inside}</d:Probe>`));
  };
  const isMeant = (bytes: Buffer): boolean => readProbe(bytes) === 'urn:uuid:1';
  for (const bytes of [
    ...[probe(''), probe('dn:NetworkVideoTransmitter'), probe('tds:Device dn:NetworkVideoTransmitter')],
    ...[probe('', 'onvif://www.onvif.org/type'), probe('', 'onvif://www.onvif.org/Profile/Streaming')],
  ])
    assert.ok(isMeant(bytes), bytes.toString());
  for (const bytes of [
    ...[probe('wsdp:Printer'), probe('tds:Device wsdp:Printer'), probe('', 'onvif://www.onvif.org/Prof')],
    ...[Buffer.alloc(0), Buffer.alloc(5_000, ' '), Buffer.from('<a/>'), Buffer.from(replyXml())],
  ])
    assert.ok(!isMeant(bytes), bytes.toString());
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const id = readProbe(Buffer.from(probeMessage(text, text)));
      assert.ok(id === null || id.length <= 128);
    }),
  );
  assert.ok(isIn({ address: '192.168.1.9', netmask: '255.255.255.0' }, '192.168.1.200'));
  for (const other of ['192.168.2.9', '8.8.8.8', '::1', ''])
    assert.ok(!isIn({ address: '192.168.1.9', netmask: '255.255.255.0' }, other), other);
});
