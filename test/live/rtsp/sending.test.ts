import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { ntpToWallMs, writeBye, writeReceiverReport } from '../../../src/rtp/rtcp-writer.js';
import type { RawClient, RawPacket } from '../../support/raw-client.js';
import { until } from '../../support/until.js';
import { FRAME_MS, type TestCamera } from '../test-camera.js';
import {
  framesOn,
  RtspWatching,
  SliceCamera,
  sequenceOf,
  ssrcOf,
  TCP,
  timestampOf,
  untilFrame,
} from './rtsp-watching.js';

const GOP = 16;
const SECOND = 1000 / FRAME_MS;
const TICKS_PER_FRAME = 90 * FRAME_MS;

const write = (camera: TestCamera, frames: number, lengthBytes = 600): void => {
  for (let count = 0; count < frames; count += 1) camera.write(camera.framesWritten % GOP === 0, lengthBytes);
};

const play = async (watching: RtspWatching, headers = TCP): Promise<RawClient> => {
  const client = await watching.open('door');
  assert.equal((await client.ask('SETUP', '/trackID=0', headers)).status, 200);
  assert.equal((await client.ask('PLAY')).status, 200);
  return client;
};

/** Without RTCP. */
const rtp = (client: RawClient, channel = 0): RawPacket[] =>
  client.packets.filter((packet) => packet.channel === channel);

const assertContinuous = (packets: readonly RawPacket[]): void => {
  for (const [index, packet] of packets.entries()) {
    if (index === 0) continue;
    const before = packets[index - 1]!;
    assert.equal(sequenceOf(packet), (sequenceOf(before) + 1) & 0xffff);
    assert.ok(((timestampOf(packet) - timestampOf(before)) | 0) >= 0, 'RTP time goes back');
    assert.equal(ssrcOf(packet), ssrcOf(before));
  }
};

test('what is in the ring is sent three times as fast as it was filmed, then each frame as it comes', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  // One group of pictures, of two seconds.
  for (let frame = 0; frame < 2 * SECOND; frame += 1) camera.write(frame === 0);
  using client = await play(watching);
  await untilFrame(client, 0);
  assert.deepEqual(framesOn(client), [0], 'the keyframe comes at once');
  await watching.pass(400);
  await untilFrame(client, 30);
  const sent = framesOn(client).length;
  assert.ok(sent >= 30 && sent <= 32, `${sent} frames in 400 ms`);
  await watching.pass(300);
  await untilFrame(client, 49);
  write(camera, 0);
  camera.write(false);
  await untilFrame(client, 50);
  const packets = rtp(client);
  assertContinuous(packets);
  const times = packets.slice(1).map(timestampOf);
  for (let index = 1; index < times.length; index += 1)
    assert.equal((times[index]! - times[index - 1]!) | 0, TICKS_PER_FRAME, 'RTP times stay true');
});

test('all viewers share numbers and times, on whichever channels they want them', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  write(camera, 1);
  using one = await play(watching);
  using other = await play(watching, 'Transport: RTP/AVP/TCP;unicast;interleaved=10-11\r\n');
  write(camera, 40, 3_000);
  await Promise.all([untilFrame(one, 32), until('the other has it', () => framesOn(other, 10).includes(32))]);
  const count = Math.min(rtp(one).length, rtp(other, 10).length);
  assert.deepEqual(
    rtp(other, 10)
      .slice(0, count)
      .map(({ bytes }) => bytes.toString('hex')),
    rtp(one)
      .slice(0, count)
      .map(({ bytes }) => bytes.toString('hex')),
  );
  assert.ok(other.packets.some(({ channel }) => channel === 11));
  assert.ok([...rtp(one)].every(({ bytes }) => bytes.length <= 1_372));
  assertContinuous(rtp(one));
});

test('a viewer that stops reading loses whole frames up to a keyframe, counted; another one loses nothing', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  write(camera, 1);
  using healthy = await play(watching);
  using stalled = await play(watching);
  await Promise.all([untilFrame(healthy, 0), untilFrame(stalled, 0)]);
  stalled.pause();
  const run = async (frames: number, lengthBytes: number): Promise<void> => {
    for (let count = 0; count < frames; count += 1) {
      write(camera, 1, lengthBytes);
      watching.clock.advance(FRAME_MS);
      await untilFrame(healthy, camera.framesWritten - 1);
    }
  };
  // More than kernels take.
  await run(10 * SECOND, 60_000);
  assert.ok(watching.views.droppedFrames('door') > 0);
  const pendingUpTo = camera.framesWritten;
  stalled.resume();
  await until('it has taken what waited', () => framesOn(stalled).length > 20);
  await run(3 * GOP, 600);
  await untilFrame(stalled, camera.framesWritten - 1);
  const frames = framesOn(stalled);
  const gapAt = frames.findIndex((number, index) => index > 0 && number !== frames[index - 1]! + 1);
  assert.ok(gapAt > 0, 'it has lost frames');
  assert.equal(frames[gapAt]! % GOP, 0, 'it goes on with a keyframe');
  assert.ok(frames[gapAt]! >= pendingUpTo - GOP);
  assert.equal(
    frames.length,
    camera.framesWritten - (frames[gapAt]! - frames[gapAt - 1]! - 1),
    'one gap alone',
  );
  assert.equal(watching.views.droppedFrames('door'), frames[gapAt]! - frames[gapAt - 1]! - 1);
  assert.equal(framesOn(healthy).length, camera.framesWritten);
  assertContinuous(rtp(healthy));
  const sent = new Map(rtp(healthy).map((packet) => [sequenceOf(packet), packet.bytes]));
  for (const packet of rtp(stalled))
    assert.ok(packet.bytes.equals(sent.get(sequenceOf(packet))!), 'what waited was not written over');
});

test('frames that are overwritten before anybody reads them are counted for each viewer', async () => {
  await using watching = await RtspWatching.start();
  const camera = new SliceCamera({ maxDataBytes: 1 << 20, maxFrameBytes: 1 << 19 });
  watching.cameras.set('door', camera);
  write(camera, 2);
  using one = await play(watching);
  using other = await play(watching);
  await watching.pass(100);
  await Promise.all([untilFrame(one, 1), untilFrame(other, 1)]);
  // All at once, and more than the ring holds.
  write(camera, 4 * GOP, 60_000);
  write(camera, 1);
  await Promise.all([untilFrame(one, 4 * GOP + 2), untilFrame(other, 4 * GOP + 2)]);
  const seen = framesOn(one);
  assert.deepEqual(framesOn(other), seen);
  assert.ok(seen.length < camera.framesWritten, 'some are lost');
  assert.equal(watching.views.droppedFrames('door'), 2 * (camera.framesWritten - seen.length));
  assertContinuous(rtp(one));
});

test('a viewer that takes nothing for 30 s is let go', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  write(camera, 1);
  using stalled = await play(watching);
  await untilFrame(stalled, 0);
  stalled.pause();
  for (let count = 0; count < 45 * SECOND; count += 1) {
    write(camera, 1, 60_000);
    watching.clock.advance(FRAME_MS);
    if (count % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await until('it watches no more', () => watching.views.viewers('door') === 0);
  watching.clock.advance(7_000);
  stalled.resume();
  await until('its connection is closed', () => stalled.isEnded);
  assert.equal(watching.places.size, 0);
});

test('a camera that was switched off and on keeps its viewers: the same source, its numbers and times go on', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  write(camera, 20);
  using client = await play(watching);
  await watching.pass(400);
  await untilFrame(client, 19);
  camera.restart();
  write(camera, 32 - 20);
  assert.equal(camera.framesWritten, 32);
  write(camera, 20);
  await untilFrame(client, 51);
  assertContinuous(rtp(client));
  assert.equal(client.isEnded, false);
});

test('other parameter sets come before the keyframe that needs them', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  write(camera, 1);
  using client = await play(watching);
  await untilFrame(client, 0);
  camera.describe(7);
  write(camera, GOP);
  await untilFrame(client, GOP);
  const sets = rtp(client).filter(({ bytes }) => (bytes[12]! & 0x1f) === 24);
  assert.equal(sets.length, 2);
  assert.deepEqual([...sets[1]!.bytes.subarray(-2)], [0x68, 7]);
});

test('a pause sends nothing; play goes on with the newest keyframe', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  write(camera, 1);
  using client = await play(watching);
  await untilFrame(client, 0);
  assert.equal((await client.ask('PAUSE')).status, 200);
  write(camera, 20);
  assert.equal((await client.ask('PLAY')).status, 200);
  await watching.pass(300);
  await untilFrame(client, 20);
  assert.deepEqual(framesOn(client), [0, 16, 17, 18, 19, 20]);
});

for (const reason of ['access_withdrawn', 'camera_deleted'] as const) {
  test(`${reason}: the viewer gets a goodbye, and its connection ends`, async () => {
    await using watching = await RtspWatching.start();
    write(watching.addCamera('door'), 1);
    using client = await play(watching);
    await untilFrame(client, 0);
    for (const end of watching.endings) end(reason);
    await until('it ends', () => client.isEnded);
    const last = client.packets.at(-1)!;
    assert.deepEqual([last.channel, last.bytes.at(-7)], [1, 203]);
    assert.equal(watching.views.viewers('door'), 0);
    assert.equal(watching.places.size, 0);
  });
}

/** Two sockets of a player. */
class UdpPlayer {
  readonly rtp: RawPacket[] = [];
  readonly rtcp: Buffer[] = [];
  readonly sockets: readonly [Socket, Socket];
  from = 0;

  private constructor(sockets: readonly [Socket, Socket]) {
    this.sockets = sockets;
    sockets[0].on('message', (bytes, { port }) => {
      this.rtp.push({ channel: 0, bytes });
      this.from = port;
    });
    sockets[1].on('message', (bytes) => this.rtcp.push(bytes));
  }

  static async open(): Promise<UdpPlayer> {
    const sockets = [createSocket('udp4'), createSocket('udp4')] as const;
    for (const socket of sockets) {
      socket.bind(0, '127.0.0.1');
      await once(socket, 'listening');
    }
    return new UdpPlayer(sockets);
  }

  get transport(): string {
    const [rtp, rtcp] = this.sockets.map((socket) => socket.address().port);
    return `Transport: RTP/AVP;unicast;client_port=${rtp}-${rtcp}\r\n`;
  }

  report(to: number, write: (target: Buffer) => number): void {
    const packet = Buffer.alloc(64);
    this.sockets[1].send(packet.subarray(0, write(packet)), to, '127.0.0.1');
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.close();
  }
}

const serverPortOf = (text: string): number => Number(/server_port=(\d+)-/.exec(text)?.[1]);

test('over UDP packets come from the ports that were told; reports keep it alive, silence ends it, and so does a BYE', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  write(camera, 1, 80_000);
  using player = await UdpPlayer.open();
  using client = await watching.open('door');
  const setUp = await client.ask('SETUP', '/trackID=0', player.transport);
  const serverPort = serverPortOf(setUp.text);
  assert.equal(serverPort % 2, 0);
  assert.equal((await client.ask('PLAY')).status, 200);
  await watching.pass(50);
  await until('the keyframe has come', () => player.rtp.some(({ bytes }) => bytes[1]! >= 0x80));
  assert.equal(player.from, serverPort);
  assertContinuous(player.rtp);
  assert.ok(player.rtp.length > 55);
  const report = player.rtcp[0]!;
  const reported = ntpToWallMs(report.readUInt32BE(8), report.readUInt32BE(12));
  assert.ok(
    Math.abs(reported - watching.clock.monotonicMs() - 1000) <= 100,
    'by the wall clock of the frames',
  );
  client[Symbol.dispose]();
  for (let minute = 0; minute < 3; minute += 1) {
    await watching.pass(50_000);
    player.report(serverPort + 1, (target) => writeReceiverReport(target, 0, 7, null));
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(watching.views.viewers('door'), 1, 'without its connection');
  }
  await watching.pass(72_000);
  await until('silence has ended it', () => watching.views.viewers('door') === 0);
  assert.equal(watching.places.size, 0);

  camera.write(true);
  using again = await watching.open('door');
  await again.ask('SETUP', '/trackID=0', player.transport);
  await again.ask('PLAY');
  assert.equal(watching.views.viewers('door'), 1);
  player.report(serverPort + 1, (target) => {
    const end = writeReceiverReport(target, 0, 7, null);
    return writeBye(target, end, 7);
  });
  await until('the BYE has ended it', () => watching.views.viewers('door') === 0);
});

test('what was asked before a right was withdrawn is not begun after it', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  using player = await UdpPlayer.open();
  using client = await watching.open('door');
  client.send('DESCRIBE');
  client.send('SETUP', '/trackID=0', player.transport);
  client.send('PLAY');
  await until('it is let in, and waits for a picture', () => watching.places.size === 1);
  camera.write(true);
  for (const end of watching.endings) end('access_withdrawn');
  await watching.pass(1_000);
  assert.equal(watching.views.viewers('door'), 0);
  assert.deepEqual([player.rtp.length, watching.places.size], [0, 0]);
});

test('of sessions that outlive their connections an address has few: it can not take the places of all others', async () => {
  await using watching = await RtspWatching.start();
  const camera = watching.addCamera('door');
  camera.write(true);
  using player = await UdpPlayer.open();
  using stays = await watching.open('door');
  await stays.ask('SETUP', '/trackID=0', player.transport);
  await stays.ask('PLAY');
  for (let count = 0; count < 20; count += 1) {
    using client = await watching.open('door');
    await client.ask('SETUP', '/trackID=0', player.transport);
    assert.equal((await client.ask('PLAY')).status, 200);
  }
  await until('most have ended with their connections', () => watching.views.viewers('door') === 17, {
    describe: () => `${watching.views.viewers('door')} viewers`,
  });
});
