import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import express from 'express';
import fc from 'fast-check';
import { createLogger } from '../../src/base/log.js';
import { HttpServer } from '../../src/http/server.js';
import { type CertifiedNames, makeCertificate } from '../../src/http/tls/certificate.js';
import { ownNames } from '../../src/http/tls/own-names.js';
import { SelfSigned } from '../../src/http/tls/self-signed.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { startTestApp } from '../support/test-app.js';

const DAY_MS = 86_400_000;
const names: CertifiedNames = {
  hosts: ['localhost', 'cams.local'],
  addresses: ['127.0.0.1', '::1', '192.0.2.7'],
};

const openssl = (...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return status === 0 ? stdout : `failed: ${stdout}${stderr}`;
};

const setUp = (t: TestContext, folder = tempFolder(t)) => {
  const clock = new FakeClock();
  let logText = '';
  const log = createLogger((_level, message, fields) => {
    logText += `${JSON.stringify({ message, ...fields })}\n`;
  });
  const path = join(folder, 'self-signed.pem');
  const open = (of = names): SelfSigned => {
    const certificate = new SelfSigned(folder, of, { clock, log });
    t.after(() => certificate.stop());
    return certificate;
  };
  return { folder, clock, path, open, logText: () => logText };
};

const fingerprintOf = ({ pair }: SelfSigned): string => new X509Certificate(pair.cert).fingerprint256;

/** Asks once by TLS, trusting this certificate alone: the answer's status and what was shown, or why not. */
const ask = (url: string, ca: Buffer, servername?: string): Promise<string> =>
  new Promise((resolve) => {
    get(url, { ca, agent: false, ...(servername !== undefined && { servername }) }, (response) => {
      const shown = (response.socket as TLSSocket).getPeerX509Certificate();
      response.resume();
      resolve(`${response.statusCode} ${shown?.fingerprint256}`);
    }).once('error', (fault: NodeJS.ErrnoException) => resolve(String(fault.code)));
  });

/** What is shown to whoever connects and trusts anybody. */
const shownBy = (url: string): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256);
      socket.destroy();
    }).once('error', reject);
  });

test('openssl reads the certificate as it was meant, and verifies it for its names alone', (t) => {
  const { open, path, folder } = setUp(t);
  const { pair } = open();
  const text = openssl('x509', '-in', path, '-noout', '-text');
  for (const pattern of [
    /Version: 3/,
    /Signature Algorithm: ecdsa-with-SHA256/,
    new RegExp(`Issuer: CN ?= ?Framering on ${hostname()}`.slice(0, 40)),
    /NIST CURVE: P-256/,
    /X509v3 Basic Constraints: critical\s+CA:TRUE, pathlen:0/,
    /X509v3 Key Usage: critical\s+Digital Signature, Certificate Sign/,
    /X509v3 Extended Key Usage:\s+TLS Web Server Authentication/,
    /DNS:localhost, DNS:cams\.local, IP Address:127\.0\.0\.1, IP Address:0:0:0:0:0:0:0:1, IP Address:192\.0\.2\.7/,
    /Permitted:\s+DNS:localhost\s+DNS:cams\.local\s+IP:127\.0\.0\.1\/255\.255\.255\.255/,
    /X509v3 Subject Key Identifier/,
  ])
    assert.match(text, pattern);
  const cert = join(folder, 'cert.pem');
  writeFileSync(cert, pair.cert);
  // The fake clock begins somewhere: openssl is told that time.
  const at = [
    '-attime',
    String(Math.floor(Date.parse(new X509Certificate(pair.cert).validFrom) / 1_000) + 1),
  ];
  const verify = (...how: string[]): string =>
    openssl('verify', '-x509_strict', ...at, ...how, '-CAfile', cert, cert);
  assert.match(verify('-verify_hostname', 'cams.local', '-purpose', 'sslserver'), /: OK/);
  assert.match(verify('-verify_ip', '192.0.2.7'), /: OK/);
  assert.match(verify('-verify_hostname', 'bank.example'), /hostname mismatch/i);
  assert.match(verify('-verify_ip', '192.0.2.8'), /IP address mismatch/i);
});

test('whoever steals the key can vouch for nobody else with it', (t) => {
  const { open, folder, path } = setUp(t);
  writeFileSync(join(folder, 'ca.pem'), open().pair.cert);
  const at = (name: string): string => join(folder, name);
  for (const [host, outcome] of [
    ['localhost', /: OK/],
    ['bank.example', /permitted subtree violation/],
  ] as const) {
    openssl(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      at('leaf.key'),
      '-subj',
      '/O=x',
      '-addext',
      `subjectAltName=DNS:${host}`,
      '-out',
      at('leaf.csr'),
    );
    openssl(
      'x509',
      '-req',
      '-in',
      at('leaf.csr'),
      '-CA',
      at('ca.pem'),
      '-CAkey',
      path,
      '-copy_extensions',
      'copy',
      '-days',
      '1',
      '-out',
      at('leaf.pem'),
    );
    const seen = openssl('verify', '-no_check_time', '-CAfile', at('ca.pem'), at('leaf.pem'));
    assert.match(seen, outcome, host);
  }
});

test('any names and times come out as they went in', () => {
  const anyHost = fc
    .stringMatching(/^[a-z0-9]{1,20}(\.[a-z0-9]{1,20}){0,3}$/)
    .filter((host) => /[a-z]$/.test(host));
  const anyNames = fc.record({
    hosts: fc.uniqueArray(anyHost, { minLength: 1, maxLength: 40 }),
    addresses: fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6()), { minLength: 1, maxLength: 40 }),
  });
  const anySecond = fc.integer({ min: 0, max: 4_000_000_000 }).map((second) => second * 1_000);
  fc.assert(
    fc.property(anyNames, anySecond, fc.string({ maxLength: 80 }), ({ hosts, addresses }, fromMs, title) => {
      const toMs = fromMs + 800 * DAY_MS;
      const { cert } = makeCertificate(title, { hosts, addresses }, { fromMs, toMs });
      const read = new X509Certificate(cert);
      assert.deepEqual([Date.parse(read.validFrom), Date.parse(read.validTo)], [fromMs, toMs]);
      for (const host of hosts) assert.ok(read.checkHost(host), host);
      for (const address of addresses) assert.ok(read.checkIP(address), address);
      assert.ok(read.ca && read.verify(read.publicKey));
    }),
    { numRuns: 60 },
  );
});

test('it is made once, kept for its owner alone, and told of at each start', (t) => {
  const { open, path, folder, logText } = setUp(t);
  const first = open();
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['self-signed.pem']);
  assert.equal(fingerprintOf(open()), fingerprintOf(first));
  assert.equal(logText().split(fingerprintOf(first)).length - 1, 2);
  assert.ok(!logText().includes('PRIVATE'));
});

test('another one is made where the first is of no use: damaged, read by others, for other names', (t) => {
  const { open, path, logText } = setUp(t);
  const seen = new Set([fingerprintOf(open())]);
  const again = (why: RegExp, of = names): void => {
    const fresh = fingerprintOf(open(of));
    assert.ok(!seen.has(fresh), String(why));
    seen.add(fresh);
    assert.match(logText(), why);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  };
  writeFileSync(path, readFileSync(path).subarray(0, 300));
  again(/damaged/);
  const other = makeCertificate('x', names, { fromMs: 0, toMs: 1 });
  writeFileSync(path, Buffer.concat([other.key, open().pair.cert]));
  again(/damaged/);
  chmodSync(path, 0o640);
  again(/others could read the key/);
  again(/another name or address/, { ...names, addresses: [...names.addresses, '192.0.2.8'] });
  // A name that is gone is no reason.
  assert.ok(seen.has(fingerprintOf(open(names))));
});

test('a service shows it, and the next one 30 days before its end, without a restart', async (t) => {
  const { open, clock } = setUp(t);
  clock.setWall(Date.now());
  const tls = open({ hosts: ['localhost'], addresses: ['127.0.0.1'] });
  const at = { host: '127.0.0.1', hostVariable: 'HOST', port: 0, portVariable: 'PORT', tls };
  const server = await HttpServer.listen(
    at,
    express().get('/', (_request, response) => void response.end()),
  );
  t.after(() => server.close());
  const first = tls.pair.cert;
  assert.equal(await ask(server.url, first), `200 ${fingerprintOf(tls)}`);
  assert.equal(await ask(server.url, first, 'elsewhere'), 'ERR_TLS_CERT_ALTNAME_INVALID');
  clock.setWall(Date.now() + 769 * DAY_MS);
  clock.advance(3_600_000);
  assert.equal(tls.pair.cert, first);
  clock.setWall(Date.now() + 771 * DAY_MS);
  clock.advance(3_600_000);
  const second = tls.pair.cert;
  assert.notDeepEqual(second, first);
  const { validFrom, validTo } = new X509Certificate(second);
  assert.equal((Date.parse(validTo) - Date.parse(validFrom)) / DAY_MS, 801);
  assert.equal(await shownBy(server.url), fingerprintOf(tls));
});

test('a certificate that was made while the clock was ahead does not stay', (t) => {
  const { open, clock } = setUp(t);
  const nowMs = clock.wallMs();
  clock.setWall(nowMs + 365 * DAY_MS);
  const first = fingerprintOf(open());
  clock.setWall(nowMs);
  assert.notEqual(fingerprintOf(open()), first);
});

test('the names of this machine are hosts and addresses that somebody may type', () => {
  const { hosts, addresses } = ownNames([
    '0.0.0.0',
    '::',
    'Cams.Example',
    '192.0.2.1',
    '2001:db8::1',
    'not_a_name',
  ]);
  for (const host of ['localhost', 'cams.example']) assert.ok(hosts.includes(host), host);
  for (const address of ['127.0.0.1', '::1', '192.0.2.1', '2001:db8::1'])
    assert.ok(addresses.includes(address), address);
  assert.ok(!hosts.includes('not_a_name') && !addresses.includes('0.0.0.0') && !addresses.includes('::'));
});

test('the whole service speaks HTTPS by it, and insists on nothing that its next certificate would break', async (t) => {
  const app = await startTestApp({ withUsers: false, env: { TLS_SELF_SIGNED: 'true' } });
  t.after(() => app.stop());
  assert.match(app.url, /^https:/);
  assert.match(app.metricsUrl, /^http:/);
  const ca = readFileSync(join(app.dataDir, 'self-signed.pem'));
  const answer = await new Promise<[number | undefined, unknown, unknown]>((resolve, reject) => {
    get(new URL('/livez', app.url), { ca, agent: false }, (response) => {
      response.resume();
      resolve([
        response.statusCode,
        response.headers['strict-transport-security'],
        response.headers['x-content-type-options'],
      ]);
    }).once('error', reject);
  });
  assert.deepEqual(answer, [200, undefined, 'nosniff']);
  assert.ok(app.logText().includes(new X509Certificate(ca).fingerprint256));
});
