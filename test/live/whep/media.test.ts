import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type MonotonicMs, systemClock } from '../../../src/base/clock.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';
import { H264_OFFER } from '../../support/whep-client.js';
import { framesOf, parsed } from './collect.js';
import { h264, PPS, pcmu, SPS, TICKS_PER_FRAME, WhepHarness } from './harness.js';

const videoOf = (client: { answer: { ssrcs: number[] } }): number => client.answer.ssrcs[0]!;

test('a viewer gets every frame of the camera from its newest keyframe on, byte by byte', async () => {
  using whep = await WhepHarness.start();
  const camera = whep.addCamera();
  camera.writeGop(5);
  camera.writeGop(6, 130_000);
  const { client } = await whep.watch();
  for (let i = 0; i < 3; i += 1) camera.write(false, 20_000);
  camera.writeGop(10, 90_000);
  const expected = camera.slices.slice(5);
  const frames = await until('all frames have come', () => {
    const seen = framesOf(client.rtp, videoOf(client));
    return seen.length >= expected.length && seen;
  });
  assert.equal(frames.length, expected.length);
  for (const [i, { nals }] of frames.entries()) {
    const slice = expected[i]!;
    const isKey = slice[0] === 0x65;
    assert.deepEqual(nals, isKey ? [SPS, PPS, slice] : [slice], `frame ${i}`);
  }
  const steps = frames.slice(1).map(({ timestamp }, i) => (timestamp - frames[i]!.timestamp) >>> 0);
  assert.deepEqual(new Set(steps), new Set([TICKS_PER_FRAME]));
  for (const packet of client.rtp) assert.ok(packet.length <= 1_212 && parsed(packet).payloadType === 102);
});

test('a keyframe is paced: thirty packets at once, then thirty a millisecond', async () => {
  const clock = new FakeClock();
  using whep = await WhepHarness.start(clock);
  const camera = whep.addCamera();
  camera.writeGop(1, 120_000);
  const { client } = await whep.watch();
  await until('the first portion is there', () => client.packets >= 30);
  assert.equal(client.packets, 30);
  for (const expected of [60, 90]) {
    clock.advance(1);
    await until(`${expected} packets are there`, () => client.packets >= expected);
    assert.equal(client.packets, expected);
  }
  clock.advance(20);
  await until('the frame is whole', () => framesOf(client.rtp, videoOf(client)).length === 1);
});

test('a keyframe for many goes to a few at a time: the first have all of it before the last have any', async () => {
  let nowMs = 0;
  // Each look at the clock is a portion later, as if sending one took so long.
  const monotonicMs = (): MonotonicMs => {
    nowMs += 1;
    return nowMs as MonotonicMs;
  };
  const clock = { ...systemClock, monotonicMs };
  using whep = await WhepHarness.start(clock);
  const camera = whep.addCamera();
  camera.writeGop(1);
  for (let viewer = 0; viewer < 12; viewer += 1) await whep.watch({ countOnly: true });
  const [first, last] = [whep.clients[0]!, whep.clients.at(-1)!];
  await until('everybody is up to date', () => whep.clients.every(({ packets }) => packets >= 3));
  const before = [first.packets, last.packets] as const;
  let seenByLast = -1;
  first.onPacket = (packet) => {
    if ((packet[1]! & 0x80) !== 0) seenByLast = last.packets - before[1];
  };
  camera.write(true, 120_000);
  await until('everybody has it', () => whep.clients.every(({ packets }) => packets >= 100));
  assert.equal(seenByLast, 0);
});

test('lost packets are sent again as they were, as long as they are known', async () => {
  using whep = await WhepHarness.start();
  const camera = whep.addCamera();
  camera.writeGop(4, 40_000);
  const { client } = await whep.watch();
  await until('all frames have come', () => framesOf(client.rtp, videoOf(client)).length === 4);
  const before = [...client.rtp];
  const lost = before.map((packet) => parsed(packet).sequence).slice(3, 20);
  client.nack(videoOf(client), ...lost, (lost[0]! - 5_000) & 0xffff, (lost[0]! + 5_000) & 0xffff);
  await until('they have come again', () => client.rtp.length >= before.length + lost.length);
  assert.deepEqual(client.rtp.slice(before.length), before.slice(3, 20));
});

test('a viewer that can not decode gets the newest keyframe again, once a second at most', async () => {
  const clock = new FakeClock();
  using whep = await WhepHarness.start(clock);
  const camera = whep.addCamera();
  camera.writeGop(5);
  const { client } = await whep.watch();
  const ssrc = videoOf(client);
  await until('all frames have come', () => framesOf(client.rtp, ssrc).length === 5);
  client.pli(ssrc);
  // The same connection keeps the order: when this one is repeated, the request before it has been read.
  client.nack(ssrc, parsed(client.rtp[0]!).sequence);
  const count = client.rtp.length;
  await until('a lost packet is repeated', () => client.rtp.length === count + 1);
  client.rtp.pop();
  clock.advance(1_001);
  client.pli(ssrc);
  const frames = await until('they have come again', () => {
    const seen = framesOf(client.rtp, ssrc);
    return seen.length === 10 && seen;
  });
  assert.deepEqual(
    frames.slice(5).map(({ nals }) => nals),
    frames.slice(0, 5).map(({ nals }) => nals),
  );
  camera.write(false);
  const last = await until('the next frame comes', () => framesOf(client.rtp, ssrc)[10]);
  const times = [...frames, last].map(({ timestamp }) => (timestamp - frames[0]!.timestamp) >>> 0);
  assert.deepEqual(
    times,
    [...times].sort((a, b) => a - b),
  );
  assert.equal(new Set(times).size, 11);
  assert.equal(times[10], 5 * TICKS_PER_FRAME);
});

test('sound goes along, and reports tie it to the picture', async () => {
  const clock = new FakeClock();
  using whep = await WhepHarness.start(clock);
  const camera = whep.addCamera();
  camera.describe(h264({}, pcmu));
  camera.writeGop(3);
  const audio = [{ payloadType: 0, map: 'PCMU/8000' }];
  const { client } = await whep.watch({ video: [H264_OFFER], audio });
  const [videoSsrc = 0, audioSsrc = 0] = client.answer.ssrcs;
  await until('the picture is there', () => framesOf(client.rtp, videoSsrc).length === 3);
  const packets = [1, 2, 3].map(() => randomBytes(160));
  for (const [i, bytes] of packets.entries()) camera.writeAudio(bytes, 1_000 + i * 160);
  const heard = await until('sound comes', () => {
    const views = client.rtp.map(parsed).filter(({ ssrc }) => ssrc === audioSsrc);
    return views.length === 3 && views;
  });
  assert.deepEqual(
    heard.map(({ buffer, payloadStart }) => buffer.subarray(payloadStart)),
    packets,
  );
  assert.deepEqual(new Set(heard.map(({ payloadType }) => payloadType)), new Set([0]));
  assert.deepEqual(
    heard.map(({ timestamp }) => (timestamp - heard[0]!.timestamp) >>> 0),
    [0, 160, 320],
  );
  // Two come before all else, which tell the same.
  const first = client.rtcp.splice(0);
  assert.equal(first.length, 2);
  clock.advance(1_000);
  const [video, sound] = await until('both reports come', () => client.rtcp.length === 2 && client.rtcp);
  // One moment of the camera's clock: NTP says which, in both, and each says its RTP time.
  assert.equal(video!.readBigUInt64BE(8), sound!.readBigUInt64BE(8));
  const videoTicks = (video!.readUInt32BE(16) - parsed(client.rtp[0]!).timestamp) >>> 0;
  const audioTicks = ((sound!.readUInt32BE(16) - heard[0]!.timestamp) >>> 0) + 1_000;
  assert.ok(Math.abs(videoTicks / 90_000 - audioTicks / 8_000) < 0.001, `${videoTicks} and ${audioTicks}`);
});

test('a ring that is replaced is not noticed', async () => {
  using whep = await WhepHarness.start();
  const camera = whep.addCamera('door', { dataBytes: 131_072, slotCount: 16 });
  camera.writeGop(5);
  const { client } = await whep.watch();
  const first = camera.ring;
  const untilFrames = (count: number) =>
    until(`${count} frames have come`, () => {
      const seen = framesOf(client.rtp, videoOf(client));
      return seen.length === count && seen;
    });
  for (let gop = 1; gop <= 4; gop += 1) {
    camera.writeGop(12, 60_000);
    await untilFrames(5 + 12 * gop);
  }
  assert.notEqual(camera.ring, first);
  const frames = await untilFrames(53);
  assert.deepEqual(
    frames.map(({ nals }) => nals.at(-1)),
    camera.slices,
  );
});

test('who falls behind goes on at the newest keyframe, and what it missed is counted', async () => {
  const clock = new FakeClock();
  using whep = await WhepHarness.start(clock);
  const camera = whep.addCamera();
  camera.writeGop(3);
  const { client } = await whep.watch();
  const ssrc = videoOf(client);
  await until('it is live', () => framesOf(client.rtp, ssrc).length === 3);
  // Time stands still, so nothing more than the first portion goes out of 3 s of pictures.
  for (let gop = 0; gop < 3; gop += 1) camera.writeGop(25, 40_000);
  await until('the portion is sent', () => client.packets >= 30);
  clock.advance(40);
  const newest = camera.slices.at(-1)!;
  await until('the newest frame is there', () =>
    framesOf(client.rtp, ssrc).at(-1)?.nals.at(-1)?.equals(newest),
  );
  clock.advance(1_000);
  const dropped = await until('the drops are told', () =>
    whep.messages.find((message) => message.type === 'dropped'),
  );
  const frames = framesOf(client.rtp, ssrc);
  const keys = frames.filter(({ nals }) => nals.length === 3);
  assert.deepEqual(keys.at(-1)?.nals[2], camera.slices[53]);
  assert.deepEqual(dropped, { type: 'dropped', cameraId: 'door', frames: 78 - frames.length });
});
