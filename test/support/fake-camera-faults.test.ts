import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nalTypeH264 } from '../../src/codec/nal.js';
import { FakeCamera, type FakeCameraOptions } from './fake-camera/fake-camera.js';
import type { Faults } from './fake-camera/faults.js';
import { fixtures } from './fixtures.js';
import { RawClient } from './raw-client.js';
import { until } from './until.js';

const start = (faults: Partial<Faults> = {}, options: Partial<FakeCameraOptions> = {}): Promise<FakeCamera> =>
  FakeCamera.start({
    mounts: { '/cam0': { video: fixtures.h264Baseline(), audio: fixtures.pcmu(), pacing: { mode: 'step' } } },
    faults: { senderReports: 'off', ...faults },
    ...options,
  });

/** The text of the answers to DESCRIBE, SETUP and PLAY. */
const dialogues: readonly [Partial<Faults>, RegExp][] = [
  [{ contentBase: 'missing' }, /^(?!.*Content-Base)/s],
  [{ contentBase: 'wrong-host' }, /Content-Base: rtsp:\/\/192\.0\.2\.77/],
  [{ contentBase: 'no-scheme' }, /Content-Base: 127\.0\.0\.1:\d+\/cam0\//],
  [{ contentType: 'parameters' }, /Content-Type: application\/sdp;/],
  [{ control: 'leading-slash' }, /a=control:\/trackID=0/],
  [{ control: 'absolute' }, /a=control:rtsp:\/\/127\.0\.0\.1:\d+\/cam0\/trackID=0/],
  [{ control: 'double-scheme' }, /a=control:rtsp:\/\/rtsp:\/\//],
  [{ sprop: 'missing' }, /^(?!.*sprop)/s],
  [{ sprop: 'annex-b' }, /sprop-parameter-sets=AAAAAWd/],
  [{ cseq: 'lower-case' }, /\r\ncseq: 1\r\n/],
  [{ cseq: 'spaced' }, /CSeq: {4}1 {2}\r\n/],
  [{ interleavedIds: 'other' }, /interleaved=4-5/],
  [{ interleavedIds: 'equal' }, /interleaved=0-0/],
  [{ interleavedIds: 'missing' }, /^(?!.*interleaved)/s],
  [{ transportHeader: 'trailing-semicolon' }, /Transport: [^\r]*;\r\n/],
  [{ transportHeader: 'spaced-ssrc' }, /ssrc= [0-9A-F]{8} /],
  [{ transportHeader: 'wrong-profile' }, /Transport: RTP\/SAVPF/],
  [{ sessionTimeoutSec: 7 }, /Session: [0-9a-f]{8};timeout=7/],
  [{ rtpInfo: 'zero-sequence' }, /seq=0;rtptime=\d/],
  [{ rtpInfo: 'missing' }, /^(?!.*RTP-Info)/s],
  [{ editAnswer: (text) => text.replace('RTSP/1.0 200 OK', 'RTSP/1.0 200 Fine') }, /200 Fine/],
];

for (const [faults, pattern] of dialogues) {
  test(`answers with ${Object.entries(faults).join()}`, async () => {
    await using camera = await start(faults);
    using client = await RawClient.open(camera.url());
    const describe = await client.ask('DESCRIBE');
    const answers = [describe, ...(await client.play())];
    assert.match(answers.map(({ text, body }) => `${text}\r\n${body}`).join('\r\n'), pattern);
  });
}

const typeOf = (packet: Buffer): number => nalTypeH264(packet[12]!);
const hasMarker = (packet: Buffer): boolean => packet[1]! >= 0x80;
const payloadTypeOf = (packet: Buffer): number => packet[1]! & 0x7f;
const sequences = (packets: readonly Buffer[]): number[] =>
  packets.map((packet) => (packet.readUInt16BE(2) - packets[0]!.readUInt16BE(2)) & 0xffff);
const distinct = (packets: readonly Buffer[], at: number): number =>
  new Set(packets.map((packet) => packet.readUInt32BE(at))).size;
const count = (packets: readonly Buffer[], isWanted: (packet: Buffer) => boolean): number =>
  packets.filter(isWanted).length;
const HEAD = 5;

/** What the packets of the first 16 pictures look like; each entry is false of a camera without faults. */
const streams: readonly [Partial<Faults>, (packets: readonly Buffer[], client: RawClient) => boolean][] = [
  [{ marker: 'missing' }, (all) => count(all, hasMarker) === 0],
  [{ marker: 'on-parameter-sets' }, (all) => all.some((one) => hasMarker(one) && typeOf(one) === 7)],
  [{ marker: 'every-nal' }, (all) => count(all, (one) => hasMarker(one) && typeOf(one) !== 28) > 30],
  [{ timestamps: 'constant' }, (all) => distinct(all, 4) === 1],
  [{ timestamps: 'changes-inside-frame' }, (all) => distinct(all, 4) > 32],
  [{ ssrcChangesEachGop: true }, (all) => distinct(all, 8) === 2],
  [{ foreignPayloadType: 'in-sequence' }, (all) => count(all, (one) => payloadTypeOf(one) === 50) === 16],
  [{ fragments: 'start-and-end' }, (all) => all.some((one) => typeOf(one) === 28 && one[13]! >> 6 === 3)],
  [
    { fragments: 'type-differs', maxPayloadBytes: 200 },
    (all) => typeOf(all[HEAD]!) === 28 && (all[HEAD]![13]! & 0x1f) === 1,
  ],
  [
    { fragments: 'empty', maxPayloadBytes: 200 },
    (all) => all.some((one) => typeOf(one) === 28 && one.length === 14),
  ],
  [{ aggregation: 'zero-padded' }, (all) => all.some((one) => typeOf(one) === 24 && one.at(-1) === 0)],
  [{ packetizationMode: 0 }, (all) => all.some((one) => one.length > 1500)],
  [{ annexB: true, maxPayloadBytes: 60_000 }, (all) => all.length === 16 && all[0]!.includes('\0\0\0\x01')],
  [{ inBandParameterSets: 'none' }, (all) => count(all, (one) => typeOf(one) === 7) === 0],
  [{ loss: (packet) => packet === 3 }, (all) => !sequences(all).includes(3)],
  [{ duplication: (packet) => packet === 3 }, (all) => sequences(all)[4] === 3],
  [{ reordering: (packet) => packet === 3 }, (all) => sequences(all).slice(3, 5).join() === '4,3'],
  [{ unknownChannel: true }, (_all, client) => client.rtp(42).length === 16],
  [{ garbageBytes: 9 }, (_all, client) => client.strayBytes >= 9 * 16],
  [{ stall: true }, (all) => all.length === 0],
];

const playSixteen = async (faults: Partial<Faults>): Promise<RawClient> => {
  await using camera = await start(faults);
  const client = await RawClient.open(camera.url());
  await client.play();
  camera.sendFrames(16);
  // Its answer comes behind all packets.
  await client.ask('GET_PARAMETER');
  return client;
};

test('a camera without faults sends what the standards say', async () => {
  using client = await playSixteen({});
  const packets = client.rtp();
  assert.deepEqual([...new Set(packets.map(typeOf))].sort(), [1, 28, 5, 6, 7, 8, 9]);
  assert.equal(count(packets, hasMarker), 16);
  assert.deepEqual(
    sequences(packets),
    packets.map((_, index) => index),
  );
  for (const [faults, isThere] of streams)
    assert.ok(!isThere(packets, client), Object.entries(faults).join());
});

for (const [faults, isThere] of streams) {
  test(`streams with ${Object.entries(faults).join()}`, async () => {
    using client = await playSixteen(faults);
    assert.ok(isThere(client.rtp(), client));
  });
}

test('refusals, silence and resets come at the method that was named', async () => {
  await using camera = await start();
  using client = await RawClient.open(camera.url());
  camera.faults.answer = ({ method }) => (method === 'SETUP' ? 453 : null);
  assert.equal((await client.ask('SETUP', '/trackID=0', 'Transport: RTP/AVP/TCP\r\n')).status, 453);
  camera.faults.answer = null;
  assert.deepEqual(
    (await client.play()).map(({ status }) => status),
    [200, 200],
  );
  camera.faults.keepalive = 'refuse';
  assert.equal((await client.ask('OPTIONS')).status, 501);
  camera.faults.keepalive = 'ignore';
  client.send('GET_PARAMETER');
  await camera.until(({ methods }) => methods.at(-1) === 'GET_PARAMETER');
  assert.equal(client.answers.length, 4);
  camera.mount('/cam0').faults.resetOn = ['PAUSE'];
  client.send('PAUSE');
  await until('the connection is reset', () => client.isEnded);
  await camera.until(({ openSockets, sessionsAbandoned }) => openSockets === 0 && sessionsAbandoned === 1);
});

test('answers may come byte by byte, frames before PLAY is answered', async () => {
  await using camera = await start({ byteDelayMs: 0 });
  using client = await RawClient.open(camera.url());
  assert.equal((await client.ask('OPTIONS')).status, 200);
  camera.faults.byteDelayMs = null;
  camera.faults.framesBeforePlayReply = 2;
  await client.ask('SETUP', '/trackID=0', 'Transport: RTP/AVP/TCP;interleaved=0-1\r\n');
  let packetsBefore = 0;
  camera.faults.editAnswer = (text) => {
    packetsBefore = camera.sent.filter(({ kind }) => kind === 'video').length;
    return text;
  };
  await client.ask('PLAY');
  assert.equal(packetsBefore, 2);
  assert.equal(count(client.rtp(), hasMarker), 2);
});

test('it refuses connections, comes back on the same port, and half-closes', async () => {
  await using camera = await start();
  using first = await RawClient.open(camera.url());
  await first.play();
  await camera.stopListening();
  await assert.rejects(RawClient.open(camera.url()), { code: 'ECONNREFUSED' });
  camera.sendFrame();
  await until('the open session goes on', () => first.rtp().length > 0);
  await camera.listenAgain();
  using second = await RawClient.open(camera.url());
  assert.equal((await second.ask('OPTIONS')).status, 200);
  camera.halfClose();
  await until('both clients see the end', () => first.isEnded && second.isEnded);
  first.send('TEARDOWN');
  await camera.until(({ sessionsTornDown }) => sessionsTornDown === 1);
});

test('a session ends when what the camera requires does not come', async () => {
  await using camera = await start({ requires: 'receiver-reports', sessionTimeoutSec: 0.1 });
  using client = await RawClient.open(camera.url());
  await client.play();
  await camera.until(({ openSockets }) => openSockets === 0);
});

test('time jumps and other pictures come in mid-stream', async () => {
  await using camera = await start();
  using client = await RawClient.open(camera.url());
  await client.play();
  camera.sendFrame();
  camera.mount('/cam0').stream.jumpTime(3_600_000);
  camera.sendFrame();
  camera.mount('/cam0').stream.setVideo(fixtures.h264Large());
  camera.sendFrame();
  const video = camera.sent.filter(({ kind }) => kind === 'video');
  assert.deepEqual(
    video.map(({ ticks, isKey }) => [(ticks - video[0]!.ticks) / 6000, isKey]),
    [
      [0, true],
      [54_001, false],
      [54_002, true],
    ],
  );
  assert.deepEqual(video[2]!.bytes, fixtures.h264Large().frames[0]!.bytes);
});
