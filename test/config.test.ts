import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { ownBoxName } from '../src/base/box-name.js';
import { AppError } from '../src/base/errors.js';
import { machineMemoryBytes } from '../src/base/machine-memory.js';
import { readConfig } from '../src/config.js';

const folder = mkdtempSync(join(tmpdir(), 'framering-config-'));
after(() => rmSync(folder, { recursive: true }));

test('nothing set: the defaults', () => {
  assert.deepEqual(
    { ...readConfig({}) },
    {
      host: '0.0.0.0',
      port: 8080,
      metricsHost: '0.0.0.0',
      metricsPort: 9090,
      rtspPort: null,
      rtspsPort: null,
      dataDir: resolve('data'),
      archiveDir: resolve('data/recordings'),
      modelsDir: resolve('data/models'),
      modelsOrigin: null,
      jwtSecret: null,
      logLevel: 'info',
      recordFileSeconds: 3600,
      storageMinFreePercent: 5,
      camerasPerWorker: 'auto',
      ringMemoryMb: Math.floor(machineMemoryBytes() / 4 / 1e6),
      webrtcUdpPorts: { first: 50_000, last: 50_199 },
      webrtcPublicIps: [],
      corsOrigins: [],
      tls: null,
      tlsSelfSigned: false,
      trustProxy: false,
      maxConnections: 10_000,
      maxConnectionsPerAddress: 1_000,
      detectModel: null,
      ffmpegPath: 'ffmpeg',
      webhooksToLocal: false,
      onvifDevice: 'off',
      mqtt: null,
      boxName: ownBoxName(),
      archiveS3: null,
      cluster: null,
    },
  );
});

test('archive and models follow the data directory unless set', () => {
  const config = readConfig({ DATA_DIR: '/srv/framering', MODELS_DIR: '/srv/models' });
  assert.equal(config.archiveDir, '/srv/framering/recordings');
  assert.equal(config.modelsDir, '/srv/models');
});

test('the monitoring port is where the service is, unless it is put elsewhere', () => {
  assert.equal(readConfig({ HOST: '192.0.2.7' }).metricsHost, '192.0.2.7');
  assert.equal(readConfig({ HOST: '192.0.2.7', METRICS_HOST: '127.0.0.1' }).metricsHost, '127.0.0.1');
  assert.throws(() => readConfig({ METRICS_HOST: 'a b' }), /METRICS_HOST="a b" can't be used/);
});

test('memory is that of the machine, or less where a container is limited', () => {
  const machine = 8e9;
  const noLimit = 2 ** 64;
  assert.equal(machineMemoryBytes(machine, noLimit), machine);
  assert.equal(machineMemoryBytes(machine, 0), machine);
  assert.equal(machineMemoryBytes(machine, 512e6), 512e6);
  assert.equal(readConfig({ RING_MEMORY_MB: '200' }).ringMemoryMb, 200);
  assert.throws(() => readConfig({ RING_MEMORY_MB: '15' }), /RING_MEMORY_MB="15" can't be used/);
});

test('RTSP is off until it has a port', () => {
  const { rtspPort, rtspsPort } = readConfig({});
  assert.deepEqual([rtspPort, rtspsPort], [null, null]);
  assert.equal(readConfig({ RTSP_PORT: '0' }).rtspPort, 0);
  assert.throws(() => readConfig({ RTSP_PORT: '8080' }), /RTSP_PORT="8080" can't be used: PORT has the same/);
});

test('values are taken as they are meant', () => {
  const config = readConfig({
    HOST: '::1',
    PORT: '0',
    METRICS_PORT: '0',
    CAMERAS_PER_WORKER: '12',
    WEBRTC_UDP_PORTS: '4000-4009',
    WEBRTC_PUBLIC_IPS: '203.0.113.7, 2001:db8::1',
    CORS_ORIGINS: 'https://example.org,http://localhost:5173',
    TRUST_PROXY: 'loopback, 10.0.0.0/8',
    MODELS_ORIGIN: 'file:///srv/models',
    DETECT_MODEL: 'yolox_nano.onnx',
    LOG_LEVEL: '',
  });
  assert.equal(config.port, 0);
  assert.equal(config.camerasPerWorker, 12);
  assert.deepEqual(config.webrtcUdpPorts, { first: 4000, last: 4009 });
  const single = readConfig({ WEBRTC_UDP_PORTS: '4000' });
  assert.deepEqual(single.webrtcUdpPorts, { first: 4000, last: 4000 });
  assert.deepEqual(config.webrtcPublicIps, ['203.0.113.7', '2001:db8::1']);
  assert.deepEqual(config.corsOrigins, ['https://example.org', 'http://localhost:5173']);
  assert.equal(config.trustProxy, 'loopback, 10.0.0.0/8');
  assert.equal(config.modelsOrigin?.protocol, 'file:');
  assert.equal(config.logLevel, 'info');
});

const unusable: [string, string][] = [
  ['HOST', 'not a host'],
  ['PORT', '65536'],
  ['PORT', '80a'],
  ['PORT', '-1'],
  ['METRICS_PORT', '8080'],
  ['RTSP_PORT', '70000'],
  ['RTSP_PORT', '9090'],
  ['RTSPS_PORT', '322'],
  ['JWT_SECRET', 'short'],
  ['LOG_LEVEL', 'loud'],
  ['RECORD_FILE_SECONDS', '0'],
  ['STORAGE_MIN_FREE_PERCENT', '100'],
  ['CAMERAS_PER_WORKER', '0'],
  ['CAMERAS_PER_WORKER', 'many'],
  ['WEBRTC_UDP_PORTS', '5000-'],
  ['WEBRTC_UDP_PORTS', '70000'],
  ['WEBRTC_UDP_PORTS', '5009-5000'],
  ['WEBRTC_PUBLIC_IPS', 'example.org'],
  ['CORS_ORIGINS', 'https://example.org/path'],
  ['TLS_CERT', '/nowhere/cert.pem'],
  ['TRUST_PROXY', 'somebody'],
  ['MODELS_ORIGIN', 'ftp://example.org'],
  ['DETECT_MODEL', '../model.onnx'],
];

for (const [name, value] of unusable) {
  test(`${name}=${value} is refused by name`, () => {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error: unknown) =>
        error instanceof AppError && error.code === 'bad_config' && error.message.includes(name),
    );
  });
}

test('a secret or an origin with a password is never repeated in the refusal', () => {
  for (const env of [{ JWT_SECRET: 'hunter2' }, { MODELS_ORIGIN: 'ftp://user:hunter2@example.org' }]) {
    assert.throws(
      () => readConfig(env),
      (error: unknown) => error instanceof AppError && !error.message.includes('hunter2'),
    );
  }
});

test('TLS takes two PEM files or none', () => {
  const pem = join(folder, 'cert.pem');
  const other = join(folder, 'other.txt');
  writeFileSync(pem, '-----BEGIN CERTIFICATE-----\n');
  writeFileSync(other, 'hello');
  assert.ok(readConfig({ TLS_CERT: pem, TLS_KEY: pem }).tls);
  assert.equal(readConfig({ TLS_SELF_SIGNED: 'true' }).tlsSelfSigned, true);
  assert.equal(readConfig({ TLS_SELF_SIGNED: 'false', TLS_CERT: pem, TLS_KEY: pem }).tlsSelfSigned, false);
  for (const given of [{ TLS_CERT: pem, TLS_KEY: pem }, { TLS_CERT: pem }, { TLS_KEY: pem }])
    assert.throws(() => readConfig({ TLS_SELF_SIGNED: 'true', ...given }), /TLS_/);
  assert.throws(
    () => readConfig({ TLS_SELF_SIGNED: 'true', TLS_CERT: pem, TLS_KEY: pem }),
    /TLS_SELF_SIGNED.*TLS_CERT/,
  );
  assert.equal(readConfig({ WEBHOOKS_TO_LOCAL: 'true' }).webhooksToLocal, true);
  assert.equal(readConfig({ ONVIF_DEVICE: 'on', RTSP_PORT: '8554' }).onvifDevice, 'on');
  assert.throws(
    () => readConfig({ ONVIF_DEVICE: 'on' }),
    /ONVIF_DEVICE="on" can't be used: it needs RTSP_PORT/,
  );
  assert.throws(() => readConfig({ ONVIF_DEVICE: 'true' }), /it must be one of off, on, hidden/);
  assert.throws(() => readConfig({ WEBHOOKS_TO_LOCAL: '1' }), /WEBHOOKS_TO_LOCAL="1" can't be used/);
  assert.throws(() => readConfig({ TLS_SELF_SIGNED: 'yes' }), /TLS_SELF_SIGNED="yes" can't be used/);
  assert.throws(() => readConfig({ TLS_CERT: pem }), /TLS_KEY is missing/);
  assert.throws(() => readConfig({ TLS_CERT: pem, TLS_KEY: other }), /TLS_KEY=.*PEM/);
  assert.throws(() => readConfig({ TLS_CERT: pem, TLS_KEY: join(folder, 'none') }), /can't be read/);
});

test('a broker is named by its address; what is wrong with it is said without its password', () => {
  const mqttOf = (url: string, more: Record<string, string> = {}) =>
    readConfig({ MQTT_URL: url, ...more }).mqtt;
  assert.deepEqual(mqttOf('mqtt://192.0.2.1'), {
    address: { isTls: false, host: '192.0.2.1', port: 1883, username: null, password: null },
    ...{ ca: null, prefix: 'framering', discoveryPrefix: 'homeassistant' },
  });
  const who = { username: 'a@b', password: 'p:/?#%' };
  assert.deepEqual(mqttOf(`mqtts://a%40b:${encodeURIComponent(who.password)}@[::1]:8884/`)?.address, {
    ...{ isTls: true, host: '::1', port: 8884, ...who },
  });
  const elsewhere = mqttOf('mqtt://broker', { MQTT_PREFIX: 'site/a', MQTT_DISCOVERY_PREFIX: 'off' });
  assert.deepEqual([elsewhere?.prefix, elsewhere?.discoveryPrefix], ['site/a', null]);
  const bad = [
    'canary',
    'http://u:canary@broker',
    'ws://u:canary@broker',
    'mqtt://u:canary@',
    'mqtt://u:canary@broker:0',
    'mqtt://u:canary@broker:65536',
    'mqtt://:canary@broker',
    'mqtt://u:canary%zz@broker',
    'mqtt://u:canary%00@broker',
    'mqtt://u:canary@broker/topic',
    'mqtt://u:canary@broker?clientId=1',
    `mqtt://u:canary@${'b'.repeat(3_000)}`,
  ];
  for (const url of bad)
    assert.throws(
      () => mqttOf(url),
      (fault) =>
        fault instanceof AppError &&
        /MQTT_URL can't be used/.test(fault.message) &&
        !/canary/.test(fault.message),
      url,
    );
  for (const prefix of ['a b', '/a', 'a/', 'a//b', 'a/+', '#', '$SYS', 'x'.repeat(129)])
    assert.throws(() => readConfig({ MQTT_PREFIX: prefix }), /MQTT_PREFIX=.* can't be used/, prefix);
  const pem = join(folder, 'ca.pem');
  writeFileSync(pem, '-----BEGIN CERTIFICATE-----\n');
  assert.match(String(mqttOf('mqtts://broker', { MQTT_CA: pem })?.ca), /BEGIN/);
  assert.throws(() => mqttOf('mqtt://broker', { MQTT_CA: pem }), /MQTT_CA=.*mqtts:/);
  assert.throws(() => mqttOf('mqtts://broker', { MQTT_CA: join(folder, 'none') }), /MQTT_CA=.*can't be read/);
});

test('a store is named by its address; what is wrong with it is said without its secret', () => {
  const s3Of = (url: string, more: Record<string, string> = {}) =>
    readConfig({ ARCHIVE_S3: url, ...more }).archiveS3;
  assert.equal(readConfig({}).archiveS3, null);
  assert.deepEqual(s3Of('https://key:s%2Fcret@store.example:9000/bucket/site?region=eu-1'), {
    address: {
      ...{ isTls: true, host: 'store.example', port: 9000, accessKey: 'key', secretKey: 's/cret' },
      ...{ bucket: 'bucket', prefix: 'site/', region: 'eu-1' },
    },
    ...{ ca: null, mbit: null, localDays: null },
  });
  assert.equal(s3Of('http://k:s@store/bucket', { ARCHIVE_S3_MBIT: '50' })?.mbit, 50);
  assert.equal(s3Of('http://k:s@store/bucket', { ARCHIVE_LOCAL_DAYS: '3' })?.localDays, 3);
  assert.throws(() => readConfig({ ARCHIVE_LOCAL_DAYS: '3' }), /ARCHIVE_LOCAL_DAYS="3".*ARCHIVE_S3/);
  assert.throws(() => readConfig({ ARCHIVE_S3_MBIT: '50' }), /ARCHIVE_S3_MBIT="50".*needs ARCHIVE_S3/);
  assert.throws(() => readConfig({ ARCHIVE_S3_CA: '/ca.pem' }), /ARCHIVE_S3_CA="\/ca.pem".*needs ARCHIVE_S3/);
  for (const url of [
    'canary',
    'https://canary@store/bucket',
    'https://k:canary@store',
    's3://k:canary@store/b',
  ])
    assert.throws(
      () => s3Of(url),
      (fault) =>
        fault instanceof AppError &&
        /ARCHIVE_S3 can't be used/.test(fault.message) &&
        !/canary/.test(fault.message),
      url,
    );
  const pem = join(folder, 'store-ca.pem');
  writeFileSync(pem, '-----BEGIN CERTIFICATE-----\n');
  assert.match(String(s3Of('https://k:s@store/bucket', { ARCHIVE_S3_CA: pem })?.ca), /BEGIN/);
  assert.throws(() => s3Of('http://k:s@store/bucket', { ARCHIVE_S3_CA: pem }), /ARCHIVE_S3_CA=.*https:/);
  for (const mbit of ['-1', '1.5', 'fast', '100001'])
    assert.throws(() => readConfig({ ARCHIVE_S3_MBIT: mbit }), /ARCHIVE_S3_MBIT=.* can't be used/, mbit);
});

test('a cluster is named by its servers; what is wrong with it is said without its secrets', () => {
  const secret = 'canary canary canary canary canary';
  const clusterOf = (url: string, more: Record<string, string> = {}) =>
    readConfig({ CLUSTER_URL: url, CLUSTER_KEY: secret, ...more }).cluster;
  assert.equal(readConfig({ CLUSTER_NAME: 'site', CLUSTER_KEY: '' }).cluster, null);
  for (const name of ['CLUSTER_KEY', 'CLUSTER_CREDS', 'CLUSTER_NKEY', 'CLUSTER_CA'])
    assert.throws(
      () => readConfig({ CLUSTER_URL: '', [name]: 'canary' }),
      (fault) =>
        fault instanceof AppError &&
        fault.code === 'bad_config' &&
        fault.message.includes(name) &&
        /CLUSTER_URL is missing/.test(fault.message) &&
        !/canary/.test(fault.message),
      name,
    );
  assert.deepEqual(clusterOf('nats://a,b.example:4333, [::1]:4222'), {
    address: { isTls: false, servers: ['a:4222', 'b.example:4333', '[::1]:4222'] },
    ...{ ca: null, login: null, clusterName: 'framering', secret },
    ...{ capacity: 1, boxAddress: null, lostMs: 1_500, relayPort: 7440, relayHost: '0.0.0.0' },
  });
  assert.deepEqual(clusterOf('tls://a,tls://b/')?.address, { isTls: true, servers: ['a:4222', 'b:4222'] });
  for (const url of [
    'a,b',
    'http://a',
    'nats://',
    'nats://a,,b',
    'nats://eve:canary@a',
    'nats://a:0',
    'nats://a,tls://b',
  ])
    assert.throws(
      () => clusterOf(url),
      (fault) =>
        fault instanceof AppError &&
        /CLUSTER_URL can't be used/.test(fault.message) &&
        !/canary/.test(fault.message),
      url,
    );
  assert.throws(() => clusterOf('nats://a', { CLUSTER_KEY: '' }), /CLUSTER_KEY is missing/);
  assert.throws(
    () => clusterOf('nats://a', { CLUSTER_KEY: 'canary' }),
    (fault) =>
      fault instanceof AppError &&
      /CLUSTER_KEY.*32 bytes/.test(fault.message) &&
      !/canary/.test(fault.message),
  );
  for (const name of ['a b', 'a.b', '*', 'x'.repeat(33)])
    assert.throws(() => readConfig({ CLUSTER_NAME: name }), /CLUSTER_NAME=.* can't be used/, name);
  const pem = join(folder, 'cluster-ca.pem');
  writeFileSync(pem, '-----BEGIN CERTIFICATE-----\n');
  assert.match(String(clusterOf('tls://a', { CLUSTER_CA: pem })?.ca), /BEGIN/);
  assert.throws(() => clusterOf('nats://a', { CLUSTER_CA: pem }), /CLUSTER_CA=.*tls:/);
  const [creds, nkey] = [join(folder, 'box.creds'), join(folder, 'box.nkey')];
  writeFileSync(creds, '-----BEGIN NATS USER JWT-----\n');
  const seed = `SU${'A'.repeat(56)}`;
  writeFileSync(nkey, `# of a box\n${seed}\n`);
  assert.equal(clusterOf('nats://a', { CLUSTER_CREDS: creds })?.login?.kind, 'creds');
  assert.equal(String(clusterOf('nats://a', { CLUSTER_NKEY: nkey })?.login?.secret), seed);
  for (const [name, path] of [
    ['CLUSTER_CREDS', nkey],
    ['CLUSTER_NKEY', pem],
    ['CLUSTER_NKEY', 'none'],
  ] as const)
    assert.throws(() => clusterOf('nats://a', { [name]: path }), new RegExp(`${name}=.* can't be used`));
  assert.throws(
    () => clusterOf('nats://a', { CLUSTER_CREDS: creds, CLUSTER_NKEY: nkey }),
    /CLUSTER_NKEY=.*CLUSTER_CREDS/,
  );
});

test('a box is called after its host, or as somebody says', () => {
  assert.equal(readConfig({ BOX_NAME: 'gate-1.site' }).boxName, 'gate-1.site');
  assert.match(readConfig({}).boxName, /^[A-Za-z0-9.-]{1,63}$/);
  assert.equal(ownBoxName('my_host'), 'box');
  for (const name of ['my_box', 'a/b', '-a', 'a.', 'x'.repeat(64), 'ü'])
    assert.throws(() => readConfig({ BOX_NAME: name }), /BOX_NAME=.* can't be used/, name);
});

test('a box says how much it takes and where it is; what is wrong with that is said, without a password', () => {
  const own = (more: Record<string, string>) =>
    readConfig({ CLUSTER_URL: 'nats://a', CLUSTER_KEY: 'k'.repeat(32), ...more }).cluster;
  const set = { BOX_CAPACITY: '0', BOX_ADDRESS: 'https://box-1.site:8443/', CLUSTER_LOST_MS: '3000' };
  const { capacity, boxAddress, lostMs } = own(set)!;
  assert.deepEqual([capacity, boxAddress, lostMs], [0, 'https://box-1.site:8443', 3_000]);
  assert.equal(own({ BOX_ADDRESS: 'http://[fd00::1]:8080' })?.boxAddress, 'http://[fd00::1]:8080');
  assert.equal(
    own({ HOST: '127.0.0.1' })?.relayHost,
    '127.0.0.1',
    'where the service is, unless it is put elsewhere',
  );
  assert.equal(own({ HOST: '127.0.0.1', RELAY_HOST: '10.0.0.7' })?.relayHost, '10.0.0.7');
  assert.throws(() => own({ RELAY_HOST: 'a b' }), /RELAY_HOST="a b" can't be used/);
  for (const text of ['-1', '1.5', '1001', 'all'])
    assert.throws(() => readConfig({ BOX_CAPACITY: text }), /BOX_CAPACITY=.* can't be used/, text);
  for (const text of ['0', '899', '60001'])
    assert.throws(() => readConfig({ CLUSTER_LOST_MS: text }), /CLUSTER_LOST_MS=.* can't be used/, text);
  for (const text of ['box', 'nats://box', 'http://eve:canary@box', 'http://box/canary', 'http://box?canary'])
    assert.throws(
      () => own({ BOX_ADDRESS: text }),
      (fault) =>
        fault instanceof Error &&
        /BOX_ADDRESS can't be used/.test(fault.message) &&
        !fault.message.includes('canary'),
    );
});
