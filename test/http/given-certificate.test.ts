import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect, createServer } from 'node:tls';
import { createLogger } from '../../src/base/log.js';
import { makeCertificate } from '../../src/http/tls/certificate.js';
import { GivenCertificate } from '../../src/http/tls/given-certificate.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const DAY_MS = 86_400_000;
const made = (name: string) => {
  const nowMs = Date.now();
  const validity = { fromMs: nowMs - DAY_MS, toMs: nowMs + 90 * DAY_MS };
  return makeCertificate(name, { hosts: ['localhost'], addresses: ['127.0.0.1'] }, validity);
};
const fingerprintOf = (cert: Buffer): string => new X509Certificate(cert).fingerprint256;

/** A listener that shows the certificate, and the fingerprint that a client of now sees. */
const setUp = async (t: TestContext) => {
  const folder = tempFolder(t);
  const paths = { certPath: join(folder, 'cert.pem'), keyPath: join(folder, 'key.pem') };
  const write = ({ cert, key }: { cert?: Buffer; key?: Buffer }) => {
    if (cert !== undefined) writeFileSync(paths.certPath, cert);
    if (key !== undefined) writeFileSync(paths.keyPath, key);
  };
  const first = made('first');
  write(first);
  const lines: string[] = [];
  const log = createLogger(
    (_level, message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`),
  );
  const clock = new FakeClock();
  const certificate = new GivenCertificate(first, paths, { clock, log });
  t.after(() => certificate.stop());
  const server = createServer({ ...certificate.pair }, (socket) => socket.end());
  certificate.renewed.on((pair) => server.setSecureContext(pair));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const shown = () =>
    new Promise<string>((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      });
      socket.once('error', reject);
    });
  const minute = () => clock.advance(60_000);
  /** Time passes until it is so. */
  const comes = (what: string, isSo: () => boolean | Promise<boolean>) =>
    until(what, () => {
      clock.advance(1_000);
      return isSo();
    });
  return { ...{ paths, write, first, lines, shown, clock, minute, comes, certificate } };
};

test('a certificate that was replaced is shown within a minute, without a restart', async (t) => {
  const rig = await setUp(t);
  assert.equal(await rig.shown(), fingerprintOf(rig.first.cert));
  const second = made('second');
  rig.write(second);
  rig.minute();
  await rig.comes('the second one is shown', async () => (await rig.shown()) === fingerprintOf(second.cert));
  assert.match(rig.lines.join('\n'), /was renewed.*not_after/);
  assert.doesNotMatch(rig.lines.join('\n'), /PRIVATE/);
});

test('half of a renewal, or what is no certificate, is told once and leaves the old one', async (t) => {
  const rig = await setUp(t);
  const second = made('second');
  rig.write({ cert: second.cert });
  rig.minute();
  await rig.comes('it is told', () => rig.lines.length === 1);
  rig.minute();
  rig.write({ cert: Buffer.from('nothing of the kind') });
  rig.minute();
  await rig.comes('that is told, too', () => rig.lines.length === 2);
  assert.equal(await rig.shown(), fingerprintOf(rig.first.cert));
  rig.write(second);
  rig.minute();
  await rig.comes('the whole of it counts', async () => (await rig.shown()) === fingerprintOf(second.cert));
  assert.equal(rig.lines.length, 3);
});

test('a chain that is being written is not shown before it is whole', async (t) => {
  const rig = await setUp(t);
  const [second, issuer] = [made('second'), made('issuer')];
  const shown: string[] = [];
  rig.certificate.renewed.on(({ cert }) => shown.push(cert.toString()));
  const before = rig.clock.pendingTimers;
  // The certificate stands there, and who signed it not yet.
  rig.write(second);
  rig.minute();
  await until('it was seen', () => rig.clock.pendingTimers > before || shown.length > 0);
  const chain = Buffer.concat([second.cert, issuer.cert]);
  rig.write({ cert: chain });
  await rig.comes('the chain is shown', () => shown.includes(chain.toString()));
  assert.deepEqual(shown, [chain.toString()]);
});
