import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock.js';
import { OnvifDevice } from '../../src/onvif/device.js';
import { parseDeviceAddress } from '../../src/onvif/device-address.js';
import { type ProbedDevice, probeDevice } from '../../src/onvif/probe.js';
import { type Dialect, FakeDevice, type FakeDeviceOptions } from '../support/onvif/fake-device.js';

const HOUR_MS = 3_600_000;
const credentials = { user: 'admin', password: 'secret' };

const streams = [
  { token: 'main', codec: 'H264', width: 1920, height: 1080, uri: 'rtsp://10.9.8.7:554/main?a=1&amp;b=2' },
  { token: 'sub', codec: 'H264', width: 640, height: 360, uri: 'rtsp://10.9.8.7:8554/sub' },
  { token: 'jpeg', codec: 'JPEG', width: 3840, height: 2160, uri: 'rtsp://10.9.8.7/jpeg' },
];

const probe = (
  device: FakeDevice,
  options: { credentials?: typeof credentials | null; signal?: AbortSignal } = {},
): Promise<ProbedDevice> =>
  probeDevice(
    {
      address: device.address,
      certificate: 'any',
      credentials: options.credentials === undefined ? credentials : options.credentials,
    },
    { clock: systemClock, ...(options.signal && { signal: options.signal }) },
  );

const withDevice = async (
  options: Partial<FakeDeviceOptions>,
  use: (device: FakeDevice) => Promise<void>,
): Promise<void> => {
  const device = await FakeDevice.start({
    ...{ prefix: 's', auth: 'token', media: ['media'], faultStatus: 400, streams },
    ...options,
  });
  try {
    await use(device);
  } finally {
    await device.stop();
  }
};

/** As five vendors have it, in what they differ. */
const dialects: Readonly<Record<string, Dialect>> = {
  hikvision: { prefix: 'env', auth: 'token', media: ['media', 'media2'], faultStatus: 400, hasPtz: true },
  dahua: { prefix: 's', auth: 'digest', media: ['media', 'media2'], faultStatus: 400 },
  axis: { prefix: 'SOAP-ENV', auth: 'digest-sha256', media: ['media2'], faultStatus: 500 },
  xiongmai: {
    ...{ prefix: 'SOAP-ENV', auth: 'token', media: ['media'], faultStatus: 500, hasNoGetServices: true },
    ...{ clockOffsetMs: -7 * HOUR_MS - 240_000, innerHost: '192.168.1.10:8899' },
  },
  plain: {
    prefix: '',
    auth: 'none',
    media: ['media'],
    faultStatus: 200,
    hasNoClock: true,
    clockOffsetMs: HOUR_MS,
  },
};

for (const [vendor, dialect] of Object.entries(dialects))
  test(`a device as of ${vendor} is asked what it has, on the host that was given`, () =>
    withDevice(dialect, async (device) => {
      const probed = await probe(device);
      assert.deepEqual(
        [probed.manufacturer, probed.model, probed.firmware, probed.serial],
        ['Maker & Sons', 'M-1', '5.6', 'S7'],
      );
      const [camera] = probed.cameras;
      assert.deepEqual(
        [camera?.main.url, camera?.sub?.url, camera?.snapshotUrl],
        [
          'rtsp://admin:secret@127.0.0.1/main?a=1&b=2',
          'rtsp://admin:secret@127.0.0.1:8554/sub',
          `http://${device.address}/snap.jpg?channel=1&x=2`,
        ],
      );
      assert.deepEqual([probed.cameras.length, camera?.main.profile.codec], [1, 'h264']);
      for (const { host } of device.asked) assert.equal(host, device.address);
      // No more than one failure each way: cameras lock users out.
      const failures = device.asked.filter(({ operation }) => operation === 'GetServices').length;
      assert.ok(failures <= 2, device.operations.join());
    }));

test('who asks is stamped with the time of the camera, however wrong that is, and the operator is told', () =>
  withDevice({ clockOffsetMs: 3 * HOUR_MS }, async (device) => {
    const probed = await probe(device);
    assert.deepEqual(
      [device.asked[0]?.operation, device.asked[0]?.manner],
      ['GetSystemDateAndTime', 'nobody'],
    );
    assert.ok(Math.abs((probed.clockOffsetSec ?? 0) - 10_800) <= 2);
    assert.match(probed.remarks.join(), /clock is 3 h ahead/);
  }));

test('a camera that tells the time in its HTTP header alone is asked by that', () =>
  withDevice({ hasNoClock: true, clockOffsetMs: -26 * HOUR_MS }, async (device) => {
    assert.equal((await probe(device)).cameras.length, 1);
  }));

const codeOf = async (asked: Promise<unknown>): Promise<{ code: string; message: string }> => {
  const fault = await asked.then(
    () => assert.fail('it answered'),
    (thrown: unknown) => thrown,
  );
  assert.ok(fault instanceof Error && 'code' in fault, String(fault));
  return { code: String(fault.code), message: fault.message };
};

test('a wrong password is told in so many words, after one failure, and never quoted', async () => {
  for (const auth of ['token', 'digest', 'digest-sha256'] as const)
    await withDevice({ auth }, async (device) => {
      const wrong = { user: 'admin', password: 'hunter2-canary' };
      const { code, message } = await codeOf(probe(device, { credentials: wrong }));
      assert.equal(code, 'camera_unauthorized');
      assert.match(message, /refuses user or password; many cameras have users for ONVIF of their own/);
      assert.doesNotMatch(message, /hunter2/);
      const tries = device.asked.filter(({ manner }) => manner !== 'nobody');
      assert.ok(tries.length <= 2, `${auth}: ${tries.map(({ manner }) => manner).join()}`);
      assert.doesNotMatch(device.asked.map(({ body }) => body).join(), /hunter2/);
    });
});

test('without a password the operator is asked for one', () =>
  withDevice({}, async (device) => {
    const { message } = await codeOf(probe(device, { credentials: null }));
    assert.equal(message, 'the camera asks for a user and a password');
  }));

test('no password is told to whoever asks for it in the clear', () =>
  withDevice(
    {
      instead: (operation, response) => {
        if (operation === 'GetSystemDateAndTime') return false;
        response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="please"' }).end();
        return true;
      },
    },
    async (device) => {
      assert.equal((await codeOf(probe(device))).code, 'camera_unauthorized');
      assert.ok(device.asked.every(({ manner }) => manner !== 'http'));
    },
  ));

test('who knew the password by Digest is not told it in the clear later', () => {
  let isBasic = false;
  return withDevice(
    {
      auth: 'digest',
      instead: (_operation, response) => {
        if (isBasic) response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="please"' }).end();
        return isBasic;
      },
    },
    async (fake) => {
      const options = { address: parseDeviceAddress(fake.address), certificate: 'any', credentials } as const;
      const device = new OnvifDevice(options, { clock: systemClock });
      await device.open();
      isBasic = true;
      for (const _time of [1, 2])
        assert.equal((await codeOf(device.call('media', 'GetProfiles'))).code, 'camera_unauthorized');
      const seen = fake.asked.map(({ authorization }) => authorization);
      assert.ok(seen.some((text) => text.startsWith('Digest')));
      assert.ok(!seen.some((text) => text.startsWith('Basic')), seen.join());
    },
  );
});

test('a web server of the year 275760 tells no time', () =>
  withDevice(
    {
      hasNoClock: true,
      instead: (_operation, response) => {
        response.setHeader('Date', 'Sat, 13 Sep 275760 00:00:00 GMT');
        return false;
      },
    },
    async (device) => assert.equal((await probe(device)).clockOffsetSec, null),
  ));

test('what is no ONVIF device says so, and what has no pictures', async () => {
  const page = '<!doctype html><html><body>Welcome</body></html>';
  await withDevice(
    { instead: (_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(page) !== null },
    async (device) => assert.equal((await codeOf(probe(device))).code, 'not_onvif'),
  );
  await withDevice(
    { instead: (_, response) => response.writeHead(302, { Location: 'https://x/' }).end() !== null },
    async (device) => assert.match((await codeOf(probe(device))).message, /it wants https/),
  );
  await withDevice({ media: [], hasNoGetServices: false, instead: noCapabilities }, async (device) =>
    assert.equal((await codeOf(probe(device))).code, 'no_media_service'),
  );
  await withDevice({ streams: streams.slice(2) }, async (device) => {
    const { code, message } = await codeOf(probe(device));
    assert.deepEqual([code, /none of its streams is H.264 or H.265/.test(message)], ['no_stream', true]);
  });
  const device = await FakeDevice.start({ ...dialects['plain']!, streams });
  const { address } = device;
  await device.stop();
  const { code, message } = await codeOf(
    probeDevice({ address, credentials: null, certificate: 'any' }, { clock: systemClock }),
  );
  assert.deepEqual([code, /nothing listens/.test(message)], ['camera_unreachable', true]);
});

const noCapabilities: NonNullable<FakeDeviceOptions['instead']> = (operation, response) => {
  if (operation !== 'GetCapabilities') return false;
  response
    .writeHead(500)
    .end(
      '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault></s:Body></s:Envelope>',
    );
  return true;
};

test('answers that are huge, endless, deep or full of entities end in a sentence', async () => {
  const entities =
    '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><s:Envelope><s:Body><x>&b;</x></s:Body></s:Envelope>';
  const hostile: Readonly<Record<string, string | Buffer>> = {
    entities,
    deep: `<s:Envelope>${'<a>'.repeat(5_000)}${'</a>'.repeat(5_000)}</s:Envelope>`,
    wide: `<s:Envelope>${'<a/>'.repeat(50_000)}</s:Envelope>`,
    cut: '<s:Envelope><s:Body><tds:GetServicesResponse>',
    prototype: '<Envelope><Body><__proto__><a/></__proto__></Body></Envelope>',
    huge: Buffer.alloc(8 << 20, 'a'),
    nothing: '',
  };
  for (const [name, text] of Object.entries(hostile))
    await withDevice(
      { instead: (_, response) => response.writeHead(200).end(text) !== null },
      async (device) => {
        const { code } = await codeOf(probe(device));
        assert.ok(['camera_bad_answer', 'not_onvif'].includes(code), `${name}: ${code}`);
      },
    );
});

test('a device that does not answer is given up after a while, or when nobody waits any more', async () => {
  await withDevice({ instead: () => true }, async (device) => {
    const { code } = await codeOf(probe(device));
    assert.equal(code, 'camera_timeout');
    const gone = new AbortController();
    const probing = probe(device, { signal: gone.signal });
    gone.abort(new Error('gone'));
    await assert.rejects(probing, /gone/);
  });
});

test('a recorder offers each of its pictures, and a password with signs in it stays one', () =>
  withDevice(
    {
      ...{ user: 'a b', password: 'p@ss/w:rd#' },
      streams: ['1', '2', '3'].flatMap((source) => [
        { ...streams[0]!, token: `m${source}`, source, codec: 'H265', uri: `rtsp://x/${source}/main` },
        { ...streams[1]!, token: `s${source}`, source, uri: `rtsp://x/${source}/sub` },
      ]),
      media: ['media2'],
    },
    async (device) => {
      const { cameras } = await probe(device, { credentials: { user: 'a b', password: 'p@ss/w:rd#' } });
      assert.deepEqual(
        cameras.map(({ name, main, sub }) => [name, main.profile.codec, main.url, sub?.profile.token]),
        ['1', '2', '3'].map((source) => [
          `m${source} name`,
          'h265',
          `rtsp://a%20b:p%40ss%2Fw%3Ard%23@127.0.0.1/${source}/main`,
          `s${source}`,
        ]),
      );
    },
  ));

test('whatever a device answers, nobody is called but the host that was given', () =>
  fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.webUrl(),
        fc.string(),
        fc.constantFrom('http://169.254.169.254/x', '//evil/x', 'http://[::1]:22/'),
      ),
      (told) =>
        withDevice({ auth: 'none', innerHost: told.replaceAll(/[<>&"']/g, ''), streams }, async (device) => {
          await probe(device).catch(() => null);
          for (const { host } of device.asked) assert.equal(host, device.address);
        }),
    ),
    { numRuns: 25 },
  ));
