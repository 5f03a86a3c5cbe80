import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';
import { bindingRequest, H264_OFFER, readAnswer, WhepClient } from '../../support/whep-client.js';
import { h264, TICKS_PER_FRAME, WhepHarness } from './harness.js';

test('a viewer that goes silent is gone within 30 s', async () => {
  const clock = new FakeClock();
  using whep = await WhepHarness.start(clock);
  whep.addCamera().writeGop(3);
  const { id, client } = await whep.watch();
  client.fallSilent();
  clock.advance(10_000);
  assert.equal(whep.endOf(id), null);
  clock.advance(20_000);
  assert.equal(whep.endOf(id), 'the viewer went silent');
  await until('the viewer is told', () => client.isClosedByServer);
});

test('a viewer that is there is kept, whatever its network does', async () => {
  const clock = new FakeClock();
  using whep = await WhepHarness.start(clock);
  const camera = whep.addCamera();
  camera.writeGop(3);
  const { id, client } = await whep.watch();
  for (let second = 0; second < 40; second += 1) {
    clock.advance(1_000);
    await client.settle();
  }
  assert.equal(whep.endOf(id), null);
});

test('an answer that leads to nothing is given up: after 5 s, or 15 s once checks have come', async (t) => {
  const clock = new FakeClock();
  using whep = await WhepHarness.start(clock);
  whep.addCamera().writeGop(3);
  const client = await WhepClient.create();
  whep.clients.push(client);
  const { id: unused } = await whep.offer(client.offer);
  const { id: begun, answer } = await whep.offer(client.offer);
  const { port, ufrag, pwd } = readAnswer(answer!);
  const stranger = createSocket('udp4').bind(0, '127.0.0.1');
  t.after(() => stranger.close());
  await once(stranger, 'listening');
  stranger.send(bindingRequest(`${ufrag}:${client.ufrag}`, pwd), port, '127.0.0.1');
  await once(stranger, 'message');
  clock.advance(6_000);
  assert.deepEqual([whep.endOf(unused), whep.endOf(begun)], ['no connection was made', null]);
  clock.advance(10_000);
  assert.equal(whep.endOf(begun), 'no connection was made');
});

test('who does not know the password, or holds another certificate, gets nothing', async () => {
  using whep = await WhepHarness.start();
  const camera = whep.addCamera();
  camera.writeGop(3);
  const honest = await WhepClient.create();
  whep.clients.push(honest);
  const { answer } = await whep.offer(honest.offer);
  const stranger = createSocket('udp4');
  const { port, ufrag, pwd } = readAnswer(answer!);
  stranger.bind(0, '127.0.0.1');
  await once(stranger, 'listening');
  let heard = 0;
  stranger.on('message', () => {
    heard += 1;
  });
  stranger.send(bindingRequest(`${ufrag}:x`, 'not the password of this session'), port, '127.0.0.1');
  stranger.send(bindingRequest(`${ufrag}:not-the-viewer`, pwd), port, '127.0.0.1');
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.of(0),
    Buffer.alloc(20),
    Buffer.of(22, 254, 253),
    Buffer.alloc(2_000, 1),
  ])
    stranger.send(bytes, port, '127.0.0.1');
  const fingerprint = Array(32).fill('AB').join(':');
  const liar = await WhepClient.create({ fingerprint });
  whep.clients.push(liar);
  const { id, answer: second } = await whep.offer(liar.offer);
  liar.start(second!);
  const reason = await until('it is found out', () => whep.endOf(id), { deadlineMs: 60_000 });
  assert.match(reason, /certificate is not the one in its offer/);
  const thief = await WhepClient.create({ foreignKey: true });
  whep.clients.push(thief);
  const third = await whep.offer(thief.offer);
  thief.start(third.answer!);
  const found = await until('it is found out', () => whep.endOf(third.id), { deadlineMs: 60_000 });
  assert.match(found, /doesn't prove its certificate/);
  assert.deepEqual([liar.packets, thief.packets, heard], [0, 0, 0]);
  stranger.close();
});

test('offers that can not be served are refused with a reason', async () => {
  using whep = await WhepHarness.start();
  const camera = whep.addCamera();
  const client = await WhepClient.create();
  whep.clients.push(client);
  assert.equal((await whep.offer(client.offer)).code, 'no_picture');
  assert.equal((await whep.offer(client.offer, 'unknown')).code, 'no_picture');
  camera.writeGop(20);
  assert.equal((await whep.offer(client.offer)).code, null);
  const without = (pattern: RegExp, by = ''): string => client.offer.replace(pattern, by);
  const codes = [
    'hello',
    'v=0',
    without(/^a=ice-pwd.*\r\n/m),
    without(/^a=fingerprint.*\r\n/m),
    without(/actpass/, 'passive'),
    without(/H264/, 'VP8'),
    without(/packetization-mode=1/, 'packetization-mode=0'),
    without(/recvonly/, 'sendonly'),
  ];
  const answers = [];
  for (const sdp of codes) answers.push((await whep.offer(sdp)).code);
  assert.deepEqual(answers, [
    ...Array(5).fill('bad_offer'),
    'codec_not_offered',
    'codec_not_offered',
    'codec_not_offered',
  ]);
});

test('a camera with B-frames is refused; one that only announces them is not', async () => {
  using whep = await WhepHarness.start();
  const camera = whep.addCamera();
  camera.describe(h264({ reorderDepth: 2 }));
  camera.writeGop(3);
  const client = await WhepClient.create();
  whep.clients.push(client);
  assert.equal((await whep.offer(client.offer)).code, 'b_frames');
  for (let i = 0; i < 16; i += 1) camera.write(false);
  const { id, client: viewer } = await whep.watch();
  for (let i = 0; i < 20; i += 1) {
    const number = camera.slices.length;
    camera.write(false, 600, (number + (i % 2 === 0 ? 1 : -1)) * TICKS_PER_FRAME);
  }
  await until('the viewer is told', () => viewer.isClosedByServer);
  assert.match(whep.endOf(id) ?? '', /B-frames/);
  assert.equal((await whep.offer(client.offer)).code, 'b_frames');
});

test('a camera whose clock was set back a little is no camera with B-frames', async () => {
  using whep = await WhepHarness.start();
  const camera = whep.addCamera();
  camera.writeGop(20);
  for (let i = 0; i < 20; i += 1) camera.write(false, 600, (camera.slices.length - 2) * TICKS_PER_FRAME);
  const client = await WhepClient.create();
  whep.clients.push(client);
  assert.equal((await whep.offer(client.offer)).code, null);
});

test('parameter sets may change, the codec may not, and a camera that is gone ends its views', async () => {
  using whep = await WhepHarness.start();
  const camera = whep.addCamera();
  camera.writeGop(3);
  const first = await whep.watch();
  camera.describe(h264({ sps: [Buffer.from([0x67, 0x42, 0xe0, 0x1f, 9])] }));
  camera.writeGop(3);
  await until('new parameter sets come', () =>
    first.client.rtp.some((packet) => packet.includes(Buffer.from([0x1f, 9]))),
  );
  camera.describe(h264({ codec: 'h265', codecString: 'hvc1.1.6.L93.B0' }));
  camera.writeGop(1);
  await until('the view has ended', () => whep.endOf(first.id));
  assert.match(whep.endOf(first.id)!, /another codec/);
  const client = await WhepClient.create();
  whep.clients.push(client);
  assert.equal((await whep.offer(client.offer)).code, 'codec_not_offered');
  const second = await whep.watch({ video: [H264_OFFER, { payloadType: 110, map: 'H265/90000' }] });
  whep.worker.handle({ type: 'forget', cameraId: 'door' });
  await until('the viewer is told', () => second.client.isClosedByServer);
  assert.equal(whep.endOf(second.id), 'the camera is gone');
});
