import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { probeDevice } from '../../src/onvif/probe.js';
import { fixtures } from '../support/fixtures.js';
import { addByZeep, whyNoZeep } from '../support/onvif/zeep.js';
import { until } from '../support/until.js';
import { run, startRtspOut } from './rtsp-out.js';

/** The service as a device, with a camera that asks for a token and has a smaller stream, and one of H.265. */
const startDevice = async (t: TestContext) => {
  const sources = {
    door: { video: fixtures.h264High() },
    small: { video: fixtures.h264Baseline() },
    hevc: { video: fixtures.h265Main() },
  };
  const out = await startRtspOut(t, sources, { ONVIF_DEVICE: 'hidden' });
  const { camera, call } = out;
  await call('DELETE', '/api/cameras/small');
  await call('PUT', '/api/cameras/door', { sub_url: camera.url('/small'), token_auth: true });
  await until('it is known what they send', async () => {
    const { body: cameras } = await call('GET', '/api/cameras');
    return cameras.every(({ width }: { width: number }) => width > 0);
  });
  const { body } = await call('POST', '/api/keys', { name: 'recorder', role: 'viewer' });
  const password = String(body.onvif_password);
  assert.match(password, /^[2-9A-HJ-NP-Za-km-z]{16}$/);
  return { ...out, password, key: String(body.key) };
};

const withLogin = (address: string, user: string, password: string): string =>
  address.replace('://', `://${user}:${password}@`);

test('python-onvif-zeep adds the service as a device, and ffprobe plays what it was told', {
  skip: whyNoZeep,
}, async (t) => {
  const { service, url, password, call } = await startDevice(t);
  const host = new URL(service.url).host;
  const { profiles, ...seen } = await addByZeep(service.url, 'recorder', password);
  assert.deepEqual(
    [
      seen.manufacturer,
      seen.sources,
      seen.source_configurations,
      seen.encoders,
      seen.capabilities,
      seen.interfaces,
    ],
    ['Framering', ['door'], ['door'], ['door', 'door:sub'], true, 1],
  );
  assert.deepEqual(
    profiles.map(({ token, source, encoding, stream, snapshot }) => [
      token,
      source,
      encoding,
      stream,
      snapshot,
    ]),
    [
      ['door', 'door', 'H264', `${url}/door`, `http://${host}/onvif/snapshot/door`],
      ['door:sub', 'door', 'H264', `${url}/door?stream=sub`, `http://${host}/onvif/snapshot/door?stream=sub`],
    ],
  );
  const [door] = (await call('GET', '/api/cameras')).body;
  assert.deepEqual([profiles[0]?.width, profiles[0]?.height], [door.width, door.height]);
  for (const { stream } of profiles) {
    const args = [
      '-v',
      'error',
      '-rtsp_transport',
      'tcp',
      '-show_entries',
      'stream=codec_name',
      '-of',
      'csv=p=0',
    ];
    const played = await run('ffprobe', [...args, withLogin(stream, 'recorder', password)]);
    assert.deepEqual([played.code, played.out.trim()], [0, 'h264'], played.err);
    assert.notEqual((await run('ffprobe', [...args, stream])).code, 0, 'without a password nobody plays it');
  }
  const [used] = (await call('GET', '/api/keys')).body;
  assert.ok(Date.parse(used.last_used) > 0);
  await assert.rejects(addByZeep(service.url, 'recorder', 'wrong'), /wrong/);
});

test('our own probe adds the service, and its pictures are tested', async (t) => {
  const { service, password, call } = await startDevice(t);
  const credentials = { user: 'recorder', password };
  const address = service.url;
  const probed = await probeDevice({ address, credentials, certificate: 'any' }, { clock: systemClock });
  assert.deepEqual([probed.manufacturer, probed.remarks], ['Framering', []]);
  assert.deepEqual(
    probed.cameras.map(({ name, main: { profile } }) => [name, profile.codec, profile.width > 0]),
    [
      ['door', 'h264', true],
      ['hevc', 'h265', true],
    ],
  );
  const [door] = probed.cameras;
  assert.match(door?.main.url ?? '', /^rtsp:\/\/recorder:\w{16}@127\.0\.0\.1:\d+\/door$/);
  const answer = await call('POST', '/api/onvif/probe', { address, username: 'recorder', password });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.cameras[0].main.test.ok, true, answer.text);
  const wrong = await call('POST', '/api/onvif/probe', { address, username: 'recorder', password: 'wrong' });
  assert.equal(wrong.body.code, 'camera_unauthorized');
});

test('curl comes in by HTTP Digest, and gets the pictures that it was told of', async (t) => {
  const { service, password, key } = await startDevice(t);
  const soap =
    '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body>' +
    '<GetProfiles xmlns="http://www.onvif.org/ver10/media/wsdl"/></s:Body></s:Envelope>';
  const media = `${service.url}/onvif/media_service`;
  const asked = ['-s', '--digest', '-H', 'content-type: application/soap+xml', '-d', soap, media];
  const profiles = await run('curl', ['-u', `recorder:${password}`, ...asked]);
  assert.match(profiles.out, /<trt:Profiles token="door" /);
  for (const wrong of [`recorder:${key}`, `door:${password}`])
    assert.match((await run('curl', ['-u', wrong, ...asked])).out, /ter:NotAuthorized/);
  const picture = ['-s', '-o', '/dev/null', '-w', '%{http_code} %{content_type}'];
  const snapshot = `${service.url}/onvif/snapshot/door`;
  const right = ['--digest', '-u', `recorder:${password}`];
  assert.equal((await run('curl', [...picture, ...right, snapshot])).out, '200 image/jpeg');
  assert.match((await run('curl', [...picture, snapshot])).out, /^401 /);
  assert.match(
    (await run('curl', [...picture, ...right, `${service.url}/onvif/snapshot/nobody`])).out,
    /^404 /,
  );
});
