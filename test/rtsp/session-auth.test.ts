import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';
import { until } from '../support/until.js';
import { describe, options, teardown, toPlay } from './dialogue-lines.js';
import { answer, interleaved, type Line, rtp, ScriptedCamera } from './scripted-camera.js';
import { rejection, SessionProbe } from './session-probe.js';

const challenge = (more: string, nonce = 'n1'): string =>
  answer('401 Unauthorized', { 'WWW-Authenticate': `Digest realm="r", nonce="${nonce}"${more}` });
const authorizations = (camera: ScriptedCamera): string[] =>
  camera.requests.map(({ headers }) => headers.get('authorization') ?? '');

test('digest: asked at DESCRIBE, answered from then on; the password is nowhere in sight', async () => {
  await using camera = await ScriptedCamera.start([
    [options, ['DESCRIBE', challenge(', algorithm=SHA-256, qop="auth"')], ...toPlay.slice(1), teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url('/live', 'user:geheim@'), transport: 'tcp' });
  await probe.play();
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
  const sent = authorizations(camera);
  assert.deepEqual(sent.slice(0, 2), ['', '']);
  assert.deepEqual(
    sent.slice(2).map((header) => /nc=(\d+)/.exec(header)?.[1]),
    ['00000001', '00000002', '00000003', '00000004', '00000005'],
  );
  assert.match(sent[2]!, /^Digest username="user".*uri="rtsp:\/\/127\.0\.0\.1:\d+\/live"/);
  assert.doesNotMatch(JSON.stringify([camera.requests.map(({ uri }) => uri), probe.logs]), /geheim/);
});

test('a wrong password: each scheme once, then unauthorized without the password', async () => {
  const both = answer('401 Unauthorized', {
    'WWW-Authenticate': 'Digest realm="r", nonce="1", Basic realm="r"',
  });
  const refused: Line = ['DESCRIBE', both];
  await using camera = await ScriptedCamera.start([[options, refused, refused, refused]]);
  const probe = new SessionProbe({ url: camera.url('/live', 'user:geheim@'), transport: 'tcp' });
  const error = await rejection('unauthorized', probe.play());
  assert.match(error.message, /check user name and password/);
  assert.doesNotMatch(error.message + JSON.stringify(error.details), /geheim/);
  assert.deepEqual(
    authorizations(camera).map((header) => header.split(' ')[0]),
    ['', '', 'Digest', 'Basic'],
  );
});

test('a nonce that has aged in mid-session is taken anew', async () => {
  const stale: Line = ['SETUP', challenge('', 'n2')];
  await using camera = await ScriptedCamera.start([
    [options, ['DESCRIBE', challenge('')], describe, stale, ...toPlay.slice(2), teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url('/live', 'user:p@'), transport: 'tcp' });
  await probe.play();
  await probe.session.close();
  assert.deepEqual(
    authorizations(camera).map((header) => /nonce="(\w+)"/.exec(header)?.[1] ?? ''),
    ['', '', 'n1', 'n1', 'n2', 'n2', 'n2', 'n2'],
  );
});

test('a camera that closes with the 401 itself gets the answer on a new connection', async () => {
  const closing: Line = ['DESCRIBE', { text: challenge(''), manner: 'then close' }];
  await using camera = await ScriptedCamera.start([
    [options, closing],
    [...toPlay, teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url('/live', 'user:p@'), transport: 'tcp' });
  await probe.play();
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
  assert.equal(camera.sockets.length, 2);
});

const redirect = (location: string): Line => ['DESCRIBE', answer('302 Found', { Location: location })];

test('redirects are followed, five at most', async () => {
  const relative = [options, redirect('/b')];
  await using camera = await ScriptedCamera.start([
    [options, redirect('rtsp://127.0.0.1:{port}/a')],
    relative,
    [...toPlay, teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
  assert.match(camera.requests.at(-1)!.uri, /\d\/b$/);

  await using circle = await ScriptedCamera.start(Array.from({ length: 9 }, () => relative));
  const error = await rejection(
    'protocol_error',
    new SessionProbe({ url: circle.url(), transport: 'tcp' }).play(),
  );
  assert.match(error.message, /more than 5 times/);
  assert.equal(circle.sockets.length, 6);
});

test('credentials follow a redirect to the same host only', async () => {
  const basic: Line = ['DESCRIBE', answer('401 Unauthorized', { 'WWW-Authenticate': 'Basic realm="r"' })];
  // Another name of the same machine: for us another host.
  for (const [host, code] of [
    ['127.0.0.1', null],
    ['localhost', 'unauthorized'],
  ] as const) {
    await using camera = await ScriptedCamera.start([
      [options, redirect(`rtsp://${host}:{port}/b`)],
      [options, basic, describe],
    ]);
    const probe = new SessionProbe({ url: camera.url('/live', 'user:p@'), transport: 'tcp' });
    if (code === null) {
      await probe.session.describe();
      await probe.session.close();
    } else await rejection(code, probe.session.describe());
    assert.equal(authorizations(camera).filter((header) => header !== '').length, code === null ? 1 : 0);
  }
});

test('rtsps with the certificate that the camera made itself', async () => {
  await using camera = await ScriptedCamera.start([[...toPlay, teardown]], selfSignedCertificate());
  const url = camera.url('/live').replace('rtsp:', 'rtsps:');
  const probe = new SessionProbe({ url, transport: 'tcp' });
  await probe.play();
  camera.sockets[0]!.write(interleaved(0, rtp(1, 'x'.repeat(40_000))));
  await until('it arrived whole', () => probe.rtp[0]?.payload.length === 40_000);
  await probe.session.close();
  await until('the socket is closed', () => camera.openSockets === 0);
  const strict = new SessionProbe({ url, transport: 'tcp', policies: { certificate: 'verify' } });
  const error = await rejection('protocol_error', strict.session.describe());
  assert.match(error.message, /TLS with .* failed/);
});

test('credentials are not carried from rtsps to rtsp', async () => {
  const down: Line = ['DESCRIBE', answer('302 Found', { Location: 'rtsp://127.0.0.1:{port}/b' })];
  await using camera = await ScriptedCamera.start([[options, down]], selfSignedCertificate());
  const url = camera.url('/live', 'user:p@').replace('rtsp:', 'rtsps:');
  const error = await rejection('protocol_error', new SessionProbe({ url, transport: 'tcp' }).play());
  assert.match(error.message, /from rtsps to rtsp/);
  assert.equal(camera.sockets.length, 1);
});
