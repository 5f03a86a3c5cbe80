import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ntpToWallMs } from '../../../src/rtp/rtcp-writer.js';
import type { RawClient, RawPacket } from '../../support/raw-client.js';
import { until } from '../../support/until.js';
import { FRAME_MS, type TestCamera } from '../test-camera.js';
import { framesOn, RtspWatching, sequenceOf, TCP, timestampOf, untilFrame } from './rtsp-watching.js';

const METADATA = 4;

const write = (camera: TestCamera, frames: number, lengthBytes = 600): void => {
  for (let count = 0; count < frames; count += 1) camera.write(camera.framesWritten % 16 === 0, lengthBytes);
};

const on = (client: RawClient, channel: number): RawPacket[] =>
  client.packets.filter((packet) => packet.channel === channel);

/** What came whole, put together by the markers. */
const documentsOf = (client: RawClient): string[] => {
  const documents: string[] = [];
  let pieces: Buffer[] = [];
  for (const { bytes } of on(client, METADATA)) {
    pieces.push(bytes.subarray(12));
    if (bytes[1]! < 0x80) continue;
    documents.push(Buffer.concat(pieces).toString());
    pieces = [];
  }
  return documents;
};

const setUp = async (watching: RtspWatching) => {
  watching.documents.set('door', new Set());
  const camera = watching.addCamera('door');
  write(camera, 3);
  const client = await watching.open('door');
  assert.equal((await client.ask('SETUP', '/trackID=0', TCP)).status, 200);
  assert.equal((await client.ask('SETUP', '/trackID=2', TCP.replace('0-1', '4-5'))).status, 200);
  assert.equal((await client.ask('PLAY')).status, 200);
  await watching.pass(200);
  await untilFrame(client, 2);
  return { camera, client };
};

test('a camera with metadata offers it, and any other is described as ever', async () => {
  await using watching = await RtspWatching.start();
  write(watching.addCamera('door'), 3);
  using client = await watching.open('door');
  const without = (await client.ask('DESCRIBE')).body;
  assert.ok(!without.includes('application'));
  assert.equal((await client.ask('SETUP', '/trackID=2', TCP)).status, 404);
  watching.documents.set('door', new Set());
  const { body } = await client.ask('DESCRIBE');
  assert.equal(
    body,
    `${without}m=application 0 RTP/AVP 98\r\na=rtpmap:98 vnd.onvif.metadata/90000\r\na=control:trackID=2\r\n`,
  );
});

test('documents come as they are, at the time of their picture, while somebody plays', async () => {
  await using watching = await RtspWatching.start();
  const { camera, client } = await setUp(watching);
  using _ = client;
  const followers = watching.documents.get('door')!;
  assert.equal(followers.size, 1);
  const small = '<tt:MetadataStream/>';
  const large = `<tt:MetadataStream>${'ä'.repeat(3_000)}</tt:MetadataStream>`;
  // The newest picture's wall time is what its ring says.
  const [video] = on(client, 0).slice(-1);
  const wallMs = reportedMs(client, 1, timestampOf(video!));
  watching.tell('door', small, wallMs - 40);
  watching.tell('door', large, wallMs);
  // One that goes back stays where the one before it was.
  watching.tell('door', small, wallMs - 80);
  await until('they come', () => documentsOf(client).length === 3);
  assert.deepEqual(documentsOf(client), [small, large, small]);
  const packets = on(client, METADATA);
  assert.equal(packets.length, 1 + 5 + 1);
  for (const [index, packet] of packets.entries())
    if (index > 0) assert.equal(sequenceOf(packet), (sequenceOf(packets[index - 1]!) + 1) & 0xffff);
  const times = packets.map(timestampOf);
  assert.deepEqual(
    times.map((time) => (time - times[0]!) | 0),
    [0, 3_600, 3_600, 3_600, 3_600, 3_600, 3_600],
  );
  assert.ok(
    Math.abs(reportedMs(client, 5, times[1]!) - wallMs) < 2,
    'by its own reports it is at that time too',
  );
  write(camera, 1);
  await client.ask('PAUSE');
  assert.equal(followers.size, 0);
});

/** What a track's reports say of an RTP time. */
const reportedMs = (client: RawClient, channel: number, timestamp: number): number => {
  const [report] = on(client, channel).slice(-1);
  const bytes = report!.bytes;
  assert.equal(bytes[1], 200);
  const atMs = ntpToWallMs(bytes.readUInt32BE(8), bytes.readUInt32BE(12));
  return atMs + ((timestamp - bytes.readUInt32BE(16)) | 0) / 90;
};

test('who sets up the pictures alone gets no document, and costs none', async () => {
  await using watching = await RtspWatching.start();
  watching.documents.set('door', new Set());
  write(watching.addCamera('door'), 3);
  using client = await watching.open('door');
  await client.play();
  await watching.pass(100);
  await untilFrame(client, 0);
  assert.equal(watching.documents.get('door')!.size, 0);
});

test('who leaves ends it, and a slow viewer loses documents along with frames', async () => {
  await using watching = await RtspWatching.start();
  const { camera, client } = await setUp(watching);
  client.pause();
  const large = `<tt:MetadataStream>${'x'.repeat(60_000)}</tt:MetadataStream>`;
  let told = 0;
  await until('it is slow', async () => {
    for (let count = 0; count < 10; count += 1) {
      watching.tell('door', large, 0);
      told += 1;
    }
    write(camera, 16, 20_000);
    await watching.pass(16 * FRAME_MS);
    return watching.views.droppedFrames('door') > 0;
  });
  client.resume();
  await until('it goes on with a keyframe', async () => {
    write(camera, 1);
    await watching.pass(FRAME_MS);
    return framesOn(client).includes(camera.framesWritten - 1);
  });
  const came = documentsOf(client);
  assert.ok(came.length < told && came.every((document) => document === large), `${came.length} of ${told}`);
  client[Symbol.dispose]();
  await until('nobody follows', () => watching.documents.get('door')!.size === 0);
});
