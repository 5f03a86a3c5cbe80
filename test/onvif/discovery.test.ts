import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock.js';
import { discover, networksOf } from '../../src/onvif/discovery/discover.js';
import { MAX_REPLY_BYTES, readReply } from '../../src/onvif/discovery/messages.js';
import { FakeAnnouncer, matchXml, replyXml } from '../support/onvif/fake-announcer.js';

const SCOPES =
  'onvif://www.onvif.org/name/Gate%20%3Cb%3E onvif://www.onvif.org/hardware/HD-1 onvif://www.onvif.org/location/Yard';

const loopback = [{ name: 'lo', address: '127.0.0.1' }];

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
    const { devices, interfaces } = await discover(loopback, 1_500, { clock: systemClock });
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
    const { devices } = await discover(loopback, 1_000, { clock: systemClock });
    assert.ok(devices.length > 0 && devices.length <= 64, String(devices.length));
  } finally {
    await announcer.stop();
  }
});

test('a search ends when nobody waits for it, and says where it could not ask', async () => {
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
    const { devices } = await discover(loopback, 1_000, { clock: systemClock });
    assert.ok(devices.length > 0 && devices.length <= 64, String(devices.length));
  } finally {
    await announcer.stop();
  }
});

test('a datagram of nothing takes no time', () => {
  const datagram = Buffer.from(`${'\0'.repeat(MAX_REPLY_BYTES - 1)}<`);
  const padded = Buffer.from(`${replyXml(matchXml('urn:uuid:1', '', ''))}\0\0`);
  const startMs = performance.now();
  for (let times = 0; times < 64; times += 1) assert.deepEqual(readReply(datagram, '192.0.2.7'), []);
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs < 1_000, `${tookMs} ms`);
  assert.equal(readReply(padded, '192.0.2.7').length, 1);
});
