import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCounters } from '../../../src/ring/counters.js';
import { ByteRelay } from '../../support/byte-relay.js';
import { FakeCamera, type FakeCameraOptions } from '../../support/fake-camera/fake-camera.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fixtures } from '../../support/fixtures.js';
import { until } from '../../support/until.js';
import { WorkerProbe } from './worker-probe.js';

const LOGIN = { user: 'admin', password: 'secret' };

/** A session of 30 frames; answers what the ring counted, and what the camera sent. */
const session = async (
  options: Partial<FakeCameraOptions>,
  transport: 'tcp' | 'udp' = 'tcp',
  login = LOGIN,
) => {
  await using camera = await FakeCamera.start({
    mounts: {
      '/cam': { video: fixtures.h264High(), audio: fixtures.pcmu(), pacing: { mode: 'step' } },
    },
    auth: { ...LOGIN, schemes: ['digest-md5'] },
    ...options,
  });
  await using relay = await ByteRelay.start(camera.port);
  const clock = new FakeClock();
  await using probe = new WorkerProbe(clock);
  const url = camera.url('/cam', login).replace(`:${camera.port}`, `:${relay.port}`);
  const count = () => readCounters(probe.ring);
  probe.connect({ url, transport });
  if (login === LOGIN) {
    await camera.until(({ playing }) => playing === 1);
    for (let second = 0; second < 3; second++) {
      camera.sendFrames(10);
      await until('they came', () => {
        clock.advance(1);
        return count().videoFrames >= 10 * second + 5;
      });
    }
    await until('it plays', () => probe.types.includes('playing'));
    probe.disconnect();
  }
  await until('it ended', () => probe.types.includes('ended'));
  await until('all is closed', () => relay.openSockets === 0 && camera.openSockets === 0);
  await until('all is counted', () => count().receivedBytes >= relay.sentBytes + camera.udpBytesSent).catch(
    () => {},
  );
  const { receivedBytes, videoBytes, audioBytes } = count();
  return { receivedBytes, mediaBytes: videoBytes + audioBytes, relay: relay.sentBytes, camera };
};

test('over TCP every byte counts: answers, descriptions, interleaved RTCP, what nobody asked for', async () => {
  const junk = Buffer.alloc(5_000, 0x20).toString('latin1');
  const { receivedBytes, mediaBytes, relay } = await session({
    faults: {
      unknownChannel: true,
      garbageBytes: 30,
      editSdp: (sdp) => `${sdp}a=x-junk:${junk}x\r\n`,
    },
  });
  assert.equal(receivedBytes, relay);
  assert.ok(receivedBytes > mediaBytes + 5_000);
});

test('over TLS what goes over the wire counts, records and handshake included', async () => {
  const plain = await session({});
  const { receivedBytes, relay } = await session({ isTls: true });
  assert.equal(receivedBytes, relay);
  assert.ok(receivedBytes > plain.receivedBytes + 500, 'the certificate alone is as large');
});

test('over UDP packets of both kinds count besides the dialogue', async () => {
  const { receivedBytes, relay, camera } = await session({}, 'udp');
  assert.ok(camera.udpBytesSent > 10_000);
  assert.equal(receivedBytes, relay + camera.udpBytesSent);
});

test('a camera that only refuses costs traffic too', async () => {
  const { receivedBytes, relay } = await session({}, 'tcp', { user: 'admin', password: 'wrong' });
  assert.ok(receivedBytes > 100);
  assert.equal(receivedBytes, relay);
});
