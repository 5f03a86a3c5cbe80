import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/base/errors.js';
import { RawClient } from '../../support/raw-client.js';
import { streamInfo } from '../../support/ring.js';
import { until } from '../../support/until.js';
import { framesOn, RtspWatching, sequenceOf, ssrcOf, TCP, timestampOf, untilFrame } from './rtsp-watching.js';

const headerOf = (text: string, name: string): string =>
  new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1]?.trim() ?? '';

test('a player describes, sets up and plays a camera, and is told with which numbers its packets begin', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  for (let frame = 0; frame < 20; frame += 1) camera.write(frame % 16 === 0);
  using client = await watching.open('door');
  const options = await client.ask('OPTIONS');
  assert.match(headerOf(options.text, 'Public'), /DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN/);
  const described = await client.ask('DESCRIBE');
  assert.equal(described.status, 200);
  assert.equal(headerOf(described.text, 'Content-Base'), `${watching.url}/door/`);
  assert.match(described.body, /a=rtpmap:96 H264\/90000\r\n/);
  assert.match(described.body, /sprop-parameter-sets=[A-Za-z0-9+/=]+,aAE=\r\n/);
  assert.match(described.body, /a=rtpmap:97 MPEG4-GENERIC\/16000\/1\r\na=fmtp:97 .*config=1408\r\n/);
  const setUp = await client.ask('SETUP', '/trackID=0', TCP);
  assert.match(headerOf(setUp.text, 'Transport'), /^RTP\/AVP\/TCP;unicast;interleaved=0-1;ssrc=[0-9A-F]{8}$/);
  assert.match(headerOf(setUp.text, 'Session'), /^[0-9a-f]{32};timeout=60$/);
  assert.equal(watching.views.viewers('door'), 0);
  const played = await client.ask('PLAY', '', 'Range: npt=now-\r\n');
  assert.equal(played.status, 200);
  const info = /^url=(\S+);seq=(\d+);rtptime=(\d+)$/.exec(headerOf(played.text, 'RTP-Info'));
  await watching.pass(200);
  await untilFrame(client, 19);
  assert.deepEqual(framesOn(client), [16, 17, 18, 19], 'from the newest keyframe on');
  const [report, first, second] = client.packets;
  assert.deepEqual([report?.channel, report?.bytes[1]], [1, 200], 'a sender report goes before all');
  assert.equal(info?.[1], `${watching.url}/door/trackID=0`);
  assert.equal(Number(info?.[2]), sequenceOf(first!));
  assert.equal(Number(info?.[3]), timestampOf(first!));
  assert.equal(first!.bytes[12]! & 0x1f, 24, 'the parameter sets come before the keyframe');
  assert.equal(timestampOf(second!), timestampOf(first!));
  assert.equal(
    ssrcOf(first!).toString(16).toUpperCase().padStart(8, '0'),
    setUp.text.match(/ssrc=(\w+)/)?.[1],
  );
  assert.equal(watching.views.viewers('door'), 1);
  assert.equal((await client.ask('TEARDOWN')).status, 200);
  assert.equal(watching.views.viewers('door'), 0);
  assert.equal((await client.ask('GET_PARAMETER')).status, 454);
  client[Symbol.dispose]();
  await until('its place is free', () => watching.places.size === 0);
  assert.equal(camera.followers, 0);
});

test('nobody is told of sound that has fallen silent; whoever hears the camera goes on', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  camera.hear(0);
  using early = await watching.open('door');
  assert.match((await early.ask('DESCRIBE')).body, /m=audio/);
  await early.ask('SETUP', '/trackID=0', TCP);
  await early.ask('SETUP', '/trackID=1', TCP.replace('0-1', '2-3'));
  await early.ask('PLAY');
  camera.writer.setStreamInfo({ ...streamInfo(1), audio: null });
  camera.write(true);
  await watching.pass(200);
  await untilFrame(early, 1);
  using late = await watching.open('door');
  assert.doesNotMatch((await late.ask('DESCRIBE')).body, /m=audio/);
  assert.equal((await late.ask('SETUP', '/trackID=1', TCP)).status, 404);
  camera.describe(1);
  camera.write(true);
  camera.hear(1);
  assert.match((await late.ask('DESCRIBE')).body, /m=audio/);
  await watching.pass(200);
  await untilFrame(early, 2);
  assert.equal(early.isEnded, false);
});

test('what can not be had is refused as RFC 2326 has it', async () => {
  await using watching = await RtspWatching.start();
  watching.addCamera('door').write(true);
  using client = await watching.open('door');
  const statusOf = async (method: string, path = '', headers = ''): Promise<number> =>
    (await client.ask(method, path, headers)).status;
  assert.equal(await statusOf('DESCRIBE', '-that-is-not-there'), 404);
  assert.equal(await statusOf('DESCRIBE', '/and/more'), 404);
  assert.equal(await statusOf('DESCRIBE', '', 'Require: onvif-replay\r\n'), 551);
  assert.equal(await statusOf('PLAY'), 454);
  assert.equal(await statusOf('PLAY', '', 'Session: 123\r\n'), 454);
  assert.equal(await statusOf('ANNOUNCE'), 405);
  assert.equal(await statusOf('RECORD'), 405);
  assert.equal(await statusOf('SETUP', '', TCP), 459, 'both tracks at once');
  assert.equal(await statusOf('SETUP', '/trackID=0', 'Transport: RTP/AVP;multicast\r\n'), 461);
  assert.equal(await statusOf('SETUP', '/trackID=0', 'Transport: RTP/SAVP;unicast;client_port=2-3\r\n'), 461);
  assert.equal(await statusOf('SETUP', '/trackID=0'), 461);
  assert.equal(await statusOf('SETUP', '/trackID=0', TCP), 200);
  const udp = 'Transport: RTP/AVP;unicast;client_port=6000-6001\r\n';
  assert.equal(await statusOf('SETUP', '/trackID=1', udp), 461, 'one track over TCP, one over UDP');
  assert.equal(await statusOf('PLAY'), 200);
  assert.equal(await statusOf('SETUP', '/trackID=1', TCP), 455);
  assert.equal(await statusOf('PLAY'), 200, 'again');
  client.write('OPTIONS * RTSP/1.0\r\n\r\n');
  await until('a request without CSeq is refused', () => client.answers.at(-1)?.status === 400);
});

test('whoever is not let in is told why', async () => {
  await using watching = await RtspWatching.start();
  watching.addCamera('door').write(true);
  using client = await watching.open('door?token=abc');
  const refused = async (code: string, details = {}): Promise<string> => {
    watching.refusal = new AppError(code, 'refused', { details });
    return (await client.ask('DESCRIBE', '', 'Authorization: Basic am9objpwOjE=\r\n')).text;
  };
  const challenge = await refused('token_missing');
  assert.match(challenge, /^RTSP\/1.0 401 Unauthorized\r\n/);
  assert.equal(headerOf(challenge, 'WWW-Authenticate'), 'Basic realm="Framering"');
  assert.match(await refused('forbidden'), /^RTSP\/1.0 403 /);
  const busy = await refused('too_many_attempts', { retryAfterSec: 42 });
  assert.match(busy, /^RTSP\/1.0 503 /);
  assert.equal(headerOf(busy, 'Retry-After'), '42');
  assert.deepEqual(watching.shown[0], {
    token: 'abc',
    login: { username: 'john', password: 'p:1' },
    address: '127.0.0.1',
  });
  assert.equal((await client.ask('DESCRIBE')).status, 200);
  const shown = watching.shown.length;
  assert.equal((await client.ask('SETUP', '/trackID=0', TCP)).status, 200);
  assert.equal(watching.shown.length, shown, 'a connection is let in once');
});

test("whoever asks for the sub-stream gets it, and its SETUP needn't say so again", async () => {
  await using watching = await RtspWatching.start();
  watching.addCamera('door').write(true);
  const sub = watching.addCamera('door/sub');
  sub.framesWritten = 100;
  sub.write(true);
  using client = await watching.open('door?stream=sub');
  assert.equal((await client.ask('DESCRIBE')).status, 200);
  client.write(`SETUP ${watching.url}/door/trackID=0 RTSP/1.0\r\nCSeq: 2\r\n${TCP}\r\n`);
  await until('it is set up', () => client.answers.at(-1)?.status === 200 && client.answers.length === 2);
  assert.equal((await client.ask('PLAY')).status, 200);
  await untilFrame(client, 100);
  assert.deepEqual([watching.views.viewers('door'), watching.views.viewers('door/sub')], [0, 1]);
  using other = await watching.open('door?stream=third');
  assert.equal((await other.ask('DESCRIBE')).status, 404);
});

test('a camera without a picture is waited for, ten seconds at most', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  using patient = await watching.open('door');
  patient.send('DESCRIBE');
  await until('it is let in', () => watching.places.size === 1);
  await watching.pass(10_100);
  await until('it is refused', () => patient.answers.length === 1);
  assert.equal(patient.answers[0]?.status, 503);
  patient.send('DESCRIBE');
  await watching.pass(1_000);
  camera.write(true);
  await watching.pass(200);
  await until('it is answered', () => patient.answers.length === 2);
  assert.equal(patient.answers[1]?.status, 200);
});

test('of a camera that went away nobody new is shown what it left; who watched sees it come back', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  for (let frame = 0; frame < 10; frame += 1) camera.write(frame === 0);
  using first = await watching.open('door');
  await first.ask('SETUP', '/trackID=0', TCP);
  assert.equal((await first.ask('PLAY')).status, 200);
  using described = await watching.open('door');
  assert.equal((await described.ask('DESCRIBE')).status, 200);
  await described.ask('SETUP', '/trackID=0', TCP);
  await watching.pass(10_100);
  assert.equal((await described.ask('PLAY')).status, 200);
  using late = await watching.open('door');
  late.send('DESCRIBE');
  await until('it is let in', () => watching.places.size === 3);
  await watching.pass(10_100);
  await until('it is refused', () => late.answers.length === 1);
  assert.equal(late.answers[0]?.status, 503);
  camera.write(true);
  for (const client of [first, described]) await untilFrame(client, 10);
  assert.deepEqual(framesOn(described), [10]);
  late.send('DESCRIBE');
  await watching.pass(200);
  await until('it is answered', () => late.answers.length === 2);
  assert.equal(late.answers[1]?.status, 200);
});

test('a camera whose keyframe is too long ago to be kept is described all the same, and seen from the next one on', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  using first = await watching.open('door');
  assert.equal((await first.ask('DESCRIBE')).status, 200);
  for (let frame = 1; frame <= 20; frame += 1) {
    camera.write(false, 1 << 20);
    await watching.pass(10);
  }
  using client = await watching.open('door');
  let status = 0;
  void client.ask('DESCRIBE').then((answer) => {
    status = answer.status;
  });
  await until('it is described', () => status === 200);
  await client.ask('SETUP', '/trackID=0', TCP);
  const played = await client.ask('PLAY');
  assert.deepEqual([played.status, headerOf(played.text, 'RTP-Info')], [200, '']);
  camera.write(false);
  camera.write(true);
  await untilFrame(client, 22);
  assert.deepEqual(framesOn(client), [22]);
});

test('requests that come at once are answered in their order', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  using client = await watching.open('door');
  client.send('OPTIONS');
  client.send('DESCRIBE');
  client.send('SETUP', '/trackID=0', TCP);
  client.send('PLAY');
  await until('all are answered', () => client.answers.length === 4);
  assert.deepEqual(
    client.answers.map(({ status, text }) => [status, headerOf(text, 'CSeq')]),
    [
      [200, '1'],
      [200, '2'],
      [200, '3'],
      [200, '4'],
    ],
  );
  await untilFrame(client, 0);
});

test('clients that dawdle, idle or send what is no RTSP are let go', async () => {
  await using watching = await RtspWatching.start();
  watching.addCamera('door').write(true);
  using silent = await watching.open('door');
  using slow = await watching.open('door');
  using idle = await watching.open('door');
  using wild = await watching.open('door');
  using long = await watching.open('door');
  watching.addCamera('dark');
  using eager = await watching.open('dark');
  await idle.ask('OPTIONS');
  slow.write('OPTIONS * RTSP/1.0\r\nCSe');
  wild.write(Buffer.alloc(4_000, 'x'));
  long.write(`OPTIONS * RTSP/1.0\r\nX: ${'y'.repeat(9_000)}\r\n`);
  for (let count = 0; count < 40; count += 1) eager.send('DESCRIBE');
  await until('whoever goes too far is ended', () => wild.isEnded && long.isEnded && eager.isEnded);
  await watching.pass(9_000);
  assert.equal(silent.isEnded, false);
  await watching.pass(3_000);
  await until('whoever sent no whole request is gone', () => silent.isEnded && slow.isEnded);
  assert.equal(idle.isEnded, false);
  await watching.pass(50_000);
  await until('whoever idles is gone', () => idle.isEnded);
});

test('reports between requests end nothing, also behind an empty line', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  using client = await watching.open('door');
  await client.play();
  const report = Buffer.alloc(4 + 64);
  report.set([0x24, 1, 0, 64, 0x81, 201, 0, 15]);
  client.write('\r\n');
  for (let count = 0; count < 40; count += 1) client.write(report);
  assert.equal((await client.ask('GET_PARAMETER')).status, 200);
  assert.equal(client.isEnded, false);
});

test('answers that nobody takes are few, and end with their client', async () => {
  await using watching = await RtspWatching.start();
  using client = await watching.open('door');
  client.pause();
  const require = `Require: ${'x'.repeat(4_000)}\r\n`;
  let asked = 0;
  await until('it is let go', async () => {
    for (let count = 0; count < 8; count += 1) client.send('OPTIONS', '', require);
    asked += 8;
    await watching.pass(10);
    return client.isEnded;
  });
  assert.ok(asked < 3_000, `${asked} answers of 4 KB`);
});

test('over TLS there are no datagrams', async () => {
  await using watching = await RtspWatching.start(true);
  assert.match(watching.url, /^rtsps:/);
  watching.addCamera('door').write(true);
  using client = await RawClient.openTls(`${watching.url}/door`);
  const udp = 'RTP/AVP;unicast;client_port=6000-6001';
  assert.equal((await client.ask('SETUP', '/trackID=0', `Transport: ${udp}\r\n`)).status, 461);
  const both = await client.ask('SETUP', '/trackID=0', `Transport: ${udp},RTP/AVP/TCP;unicast\r\n`);
  assert.match(headerOf(both.text, 'Transport'), /interleaved=0-1/);
  assert.equal((await client.ask('PLAY')).status, 200);
  await untilFrame(client, 0);
});
