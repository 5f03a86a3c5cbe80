import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { H264Depacketizer } from '../../src/rtp/depacketize-h264.js';
import { TrackReceiver } from '../../src/rtp/receiver.js';
import { RtspSession, type RtspSessionOptions } from '../../src/rtsp/session.js';
import { CollectingSink } from '../rtp/collect.js';
import { hashOf, joinNals, normaliseAccessUnit } from '../support/access-units.js';
import { FakeCamera, type FakeCameraOptions } from '../support/fake-camera/fake-camera.js';
import type { Faults } from '../support/fake-camera/faults.js';
import { fixtures } from '../support/fixtures.js';
import { until } from '../support/until.js';

const FRAMES = 20;

/** Plays against a camera like this, and tells which access units came, by their bytes, and which were sent. */
const watch = async (
  camera: FakeCameraOptions,
  options: Partial<RtspSessionOptions> & { readonly login?: { user: string; password: string } } = {},
) => {
  await using server = await FakeCamera.start(camera);
  const sink = new CollectingSink();
  let receiver: TrackReceiver | null = null;
  const receiverNow = (): TrackReceiver => {
    receiver ??= new TrackReceiver(
      { transport: session.transport, payloadType: 96, clockRateHz: 90_000, ownSsrc: 1, cname: 'test' },
      { depacketizer: new H264Depacketizer(sink) },
    );
    return receiver;
  };
  const ends: string[] = [];
  const session: RtspSession = new RtspSession(
    { transport: 'tcp', ...options, url: server.url(undefined, options.login) },
    {
      clock: systemClock,
      log: createLogger(() => {}),
      readBuffer: Buffer.alloc(262_144),
      handlers: {
        onRtp: (trackIndex, buffer, start, end) => {
          if (trackIndex === 0) receiverNow().onRtp(buffer, start, end, systemClock.monotonicMs());
        },
        onRtcp: () => {},
        onRestart: () => {
          receiver = null;
        },
        onEnd: (reason) => void ends.push(reason.message),
      },
    },
  );
  const description = await session.describe();
  await session.setup(description.medias);
  await session.play();
  await until(`${FRAMES} frames came`, () => sink.frames.length >= FRAMES, {
    describe: () => `${sink.frames.length}, ${JSON.stringify(session.counters)}`,
  });
  const received = sink.frames.map(({ nals }) =>
    hashOf(joinNals(nals.map((nal) => Buffer.from(nal, 'hex')))),
  );
  const { transport, counters } = session;
  await session.close();
  await server.until(({ openSockets }) => openSockets === 0);
  assert.deepEqual(ends, []);
  const video = server.sent.filter(({ kind }) => kind === 'video');
  const sent = video.map(({ bytes }) => hashOf(normaliseAccessUnit('h264', bytes)));
  assert.deepEqual(received.slice(0, FRAMES), sent.slice(0, FRAMES));
  return { transport, counters, server };
};

const withFaults = (faults: Partial<Faults>, more: Partial<FakeCameraOptions> = {}): FakeCameraOptions => ({
  mounts: {
    '/cam0': { video: fixtures.h264High(), audio: fixtures.pcmu(), pacing: { mode: 'live', speed: 8 } },
  },
  faults,
  ...more,
});

const quirks: readonly (readonly [name: string, Partial<Faults>])[] = [
  ['none', {}],
  ['quirk 1: Content-Base without scheme', { contentBase: 'no-scheme' }],
  ['quirk 1: Content-Base relative', { contentBase: 'relative' }],
  ['quirk 1: Content-Base with another host', { contentBase: 'wrong-host' }],
  ['quirk 2: control with a slash', { control: 'leading-slash' }],
  ['quirk 2: control with two schemes', { control: 'double-scheme' }],
  ['quirk 2: control is a query', { control: 'query' }],
  ['quirk 9: other channels', { interleavedIds: 'other' }],
  ['quirk 9: no channels', { interleavedIds: 'missing' }],
  ['quirk 13: equal channels', { interleavedIds: 'equal' }],
  ['quirk 10: Transport in another order', { transportHeader: 'other-order' }],
  ['quirk 10: another profile', { transportHeader: 'wrong-profile' }],
  ['quirk 11: session ids change', { sessionIdChanges: true }],
  ['quirk 12: CSeq spaced', { cseq: 'spaced' }],
  ['quirk 12: CSeq made up', { cseq: 'wrong' }],
  ['quirk 12: no CSeq', { cseq: 'missing' }],
  ['quirk 14: frames before PLAY is answered', { framesBeforePlayReply: 3 }],
  ['quirk 15: frames on unknown channels', { unknownChannel: true }],
  ['quirk 16: garbage between frames', { garbageBytes: 7 }],
];

for (const [name, faults] of quirks) {
  test(`every access unit comes over TCP, ${name}`, async () => {
    const { counters } = await watch(withFaults(faults));
    assert.equal(counters.garbageBytes > 0, faults.garbageBytes !== undefined);
    assert.equal(counters.unknownChannelFrames > 0, faults.unknownChannel === true);
  });
}

test('every access unit comes over UDP', async () => {
  for (const transportHeader of ['normal', 'no-server-port', 'wrong-profile'] as const) {
    const { transport } = await watch(withFaults({ transportHeader }), { transport: 'udp' });
    assert.equal(transport, 'udp');
  }
});

test('a camera without UDP is watched over TCP, and one without TCP over UDP', async () => {
  const tcp = await watch(withFaults({}, { transports: ['tcp'] }), { transport: 'udp' });
  assert.equal(tcp.transport, 'tcp');
  const udp = await watch(withFaults({}, { transports: ['udp'] }));
  assert.equal(udp.transport, 'udp');
});

const login = { user: 'admin', password: 'p@ss/w:rd#1%?' };

test('digest with nonces that age, SHA-256, Basic only behind an offered Digest, over TLS', async () => {
  const auths = [
    { ...login, schemes: ['digest-md5'], nonceRequests: 2 },
    { ...login, schemes: ['digest-md5', 'digest-sha256'], hasQop: true },
    { ...login, schemes: ['digest-md5', 'basic'], accepts: ['basic'] },
  ] as const;
  for (const auth of auths) await watch(withFaults({}, { auth, isTls: true }), { login });
});
