import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { test } from 'node:test';
import type { RtspPolicies } from '../../src/rtsp/quirks.js';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';
import { describe, options, play, SDP, setupTrack, teardown, toPlay } from './dialogue-lines.js';
import { answer, type Line, rtp, ScriptedCamera, type SeenRequest } from './scripted-camera.js';
import { rejection, SessionProbe } from './session-probe.js';

const unsupported: Line = ['SETUP', answer('461 Unsupported Transport')];

/** The camera's UDP side: one socket, whose port stands for both of its server ports. */
class UdpCamera {
  readonly received: { text: string; port: number }[] = [];
  readonly socket: Socket;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('message', (packet, from) => {
      this.received.push({ text: packet.toString('hex'), port: from.port });
    });
  }

  static async bind(host = '127.0.0.1'): Promise<UdpCamera> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, host, resolve));
    return new UdpCamera(socket);
  }

  get port(): number {
    return this.socket.address().port;
  }

  [Symbol.dispose](): void {
    this.socket.close();
  }
}

const clientPorts = (request: SeenRequest): number[] =>
  /client_port=(\d+)-(\d+)/
    .exec(request.headers.get('transport') ?? '')
    ?.slice(1)
    .map(Number) ?? [];

/** Answers SETUP for UDP; without `serverPort` as OpenIPC does, which names none. */
const udpSetup = (serverPort: number | null): Line => [
  'SETUP',
  (request) => {
    const [rtpPort, rtcpPort] = clientPorts(request);
    const server = serverPort === null ? '' : `;server_port=${serverPort}-${serverPort}`;
    return answer('200 OK', {
      Transport: `RTP/AVP;unicast;client_port=${rtpPort}-${rtcpPort}${server}`,
      Session: '77',
    });
  },
];

/** Where we listen for a track: the ports of its SETUP. */
const portsOf = (camera: ScriptedCamera, trackIndex = 0): number[] =>
  clientPorts(
    camera.requests.filter(({ headers }) => headers.get('transport')?.includes('client_port'))[trackIndex]!,
  );

test('UDP: even and odd port, hole-punching, packets of any size, RTCP both ways, strangers are kept out', async () => {
  using peer = await UdpCamera.bind();
  using stranger = await UdpCamera.bind('127.0.0.2');
  const send = (line: Line): Line => [
    line[0],
    () => {
      const [rtpPort] = portsOf(camera);
      stranger.socket.send(rtp(1, 'stranger'), rtpPort!, '127.0.0.1');
      peer.socket.send(rtp(1, 'x'.repeat(60_000)), rtpPort!, '127.0.0.1');
      peer.socket.send(rtp(1, 'sound'), portsOf(camera, 1)[0]!, '127.0.0.1');
      return String(line[1]);
    },
  ];
  await using camera = await ScriptedCamera.start([
    [options, describe, udpSetup(peer.port), udpSetup(peer.port), send(play), teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'udp' });
  await probe.play();
  assert.equal(probe.session.transport, 'udp');
  const [rtpPort, rtcpPort] = portsOf(camera);
  assert.equal(rtpPort! % 2, 0);
  assert.equal(rtcpPort, rtpPort! + 1);
  assert.deepEqual(
    probe.rtp.toSorted((a, b) => a.trackIndex - b.trackIndex),
    [
      { trackIndex: 0, payload: 'x'.repeat(60_000) },
      { trackIndex: 1, payload: 'sound' },
    ],
  );
  await until('the stranger is counted', () => probe.session.counters.foreignUdpPackets === 1);
  assert.ok(peer.received.some(({ port, text }) => port === rtpPort && text.startsWith('8000')));
  peer.socket.send(rtp(2, 'sr'), rtcpPort!, '127.0.0.1');
  await until('RTCP arrived', () => probe.rtcp.length === 1);
  probe.session.sendRtcp(0, Buffer.from('aabb', 'hex'));
  await until('our RTCP arrived', () => peer.received.some(({ text }) => text === 'aabb'));
  await probe.session.close();
  // The ports are free again: nobody holds them any more.
  const again = createSocket('udp4');
  await new Promise<void>((resolve) => again.bind(rtpPort!, '127.0.0.1', resolve));
  again.close();
});

test('quirk 10: without server_port (OpenIPC) RTCP goes to where theirs comes from', async () => {
  using peer = await UdpCamera.bind();
  const send: Line = [
    'PLAY',
    () => {
      const [rtpPort, rtcpPort] = portsOf(camera);
      peer.socket.send(rtp(1), rtpPort!, '127.0.0.1');
      peer.socket.send(rtp(2, 'sr'), rtcpPort!, '127.0.0.1');
      peer.socket.send(rtp(1), portsOf(camera, 1)[0]!, '127.0.0.1');
      return String(play[1]);
    },
  ];
  await using camera = await ScriptedCamera.start([
    [options, describe, udpSetup(null), udpSetup(null), send, teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'udp' });
  await probe.play();
  await until('RTCP arrived', () => probe.rtcp.length === 1);
  probe.session.sendRtcp(0, Buffer.from('aabb', 'hex'));
  await until('our RTCP arrived', () => peer.received.some(({ text }) => text === 'aabb'));
  await probe.session.close();
});

test('461: the other transport is asked for, on the same connection', async () => {
  await using camera = await ScriptedCamera.start([
    [options, describe, unsupported, setupTrack('0-1'), setupTrack('2-3'), play, teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'udp' });
  await probe.play();
  assert.equal(probe.session.transport, 'tcp');
  assert.deepEqual(probe.session.liveTracks, [true, true]);
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
});

test('an answer for another transport than asked for counts as 461', async () => {
  using peer = await UdpCamera.bind();
  const mismatch: Line = [
    'SETUP',
    answer('200 OK', { Transport: 'RTP/AVP;unicast;client_port=9-10;server_port=1-2' }),
  ];
  await using camera = await ScriptedCamera.start([
    [options, describe, mismatch, udpSetup(peer.port), udpSetup(peer.port), ['PLAY', 'close']],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await rejection('closed_by_camera', probe.play());
  assert.equal(probe.session.transport, 'udp');
  assert.deepEqual(camera.faults, []);
});

test('461 to both, or with the policy to take nothing else: unsupported_transport', async () => {
  await using camera = await ScriptedCamera.start([
    [options, describe, unsupported, unsupported],
    [options, describe, unsupported],
  ]);
  const error = await rejection(
    'unsupported_transport',
    new SessionProbe({ url: camera.url(), transport: 'tcp' }).play(),
  );
  assert.match(error.message, /neither TCP nor UDP/);
  const strict = new SessionProbe({
    url: camera.url(),
    transport: 'tcp',
    policies: { refusedTransport: 'give_up' },
  });
  await rejection('unsupported_transport', strict.play());
  assert.deepEqual(camera.faults, []);
});

test('quirk 25: UDP without a packet in 4 s: anew with TCP, with a new DESCRIBE (quirk 24)', async () => {
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([
    [options, describe, udpSetup(9), udpSetup(9), play, teardown],
    [...toPlay, teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'udp' }, clock);
  const playing = probe.play();
  // The keepalive and the wait for a packet.
  await until('it waits', () => camera.methods.includes('PLAY') && clock.pendingTimers === 2);
  clock.advance(4_000);
  await until(
    'TEARDOWN was answered',
    () => camera.methods.includes('TEARDOWN') && clock.pendingTimers === 1,
  );
  await until('the old connection is gone', () => camera.openSockets === 0);
  clock.advance(500);
  await playing;
  assert.equal(probe.session.transport, 'tcp');
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
  assert.equal(camera.requests.filter(({ method }) => method === 'DESCRIBE').length, 2);
  assert.match(
    probe.logs.join('\n'),
    /taking tcp instead of udp: no packet of video and audio came over UDP/,
  );
  assert.equal(clock.pendingTimers, 0);
});

test('closed amid a change of transport: one TEARDOWN, and nothing begins anew', async () => {
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([
    [options, describe, udpSetup(9), udpSetup(9), play, ['TEARDOWN', 'silence'], ['TEARDOWN', 'silence']],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'udp' }, clock);
  const outcome = rejection('aborted', probe.play());
  await until('it waits', () => camera.methods.includes('PLAY') && clock.pendingTimers === 2);
  clock.advance(4_000);
  await until('the camera owes an answer', () => camera.methods.includes('TEARDOWN'));
  const closed = probe.session.close();
  clock.advance(1_000);
  await closed;
  await until('the socket is closed', () => camera.openSockets === 0);
  assert.deepEqual(probe.restarts, []);
  assert.equal(clock.pendingTimers, 0);
  await outcome;
  assert.equal(camera.methods.filter((method) => method === 'TEARDOWN').length, 1);
});

/** UDP, where the camera sends as `send` does once it plays; then what it says on the connections after it. */
const overUdp = async (
  send: (peer: UdpCamera, camera: ScriptedCamera) => void,
  after: readonly (readonly Line[])[],
  policies: Partial<RtspPolicies> = {},
) => {
  const peer = await UdpCamera.bind();
  const playing: Line = [
    'PLAY',
    () => {
      send(peer, camera);
      return String(play[1]);
    },
  ];
  const camera: ScriptedCamera = await ScriptedCamera.start([
    [options, describe, udpSetup(peer.port), udpSetup(peer.port), playing, teardown],
    ...after,
  ]);
  const clock = new FakeClock();
  const probe = new SessionProbe({ url: camera.url(), transport: 'udp', policies }, clock);
  return {
    camera,
    clock,
    probe,
    /** Lets the 4 s pass, and what comes before a new connection. */
    outwait: async (played: Promise<unknown>) => {
      await until('it waits', () => camera.methods.includes('PLAY') && clock.pendingTimers === 2);
      await until('what was sent has come', () => probe.rtp.length + probe.rtcp.length > 0);
      clock.advance(4_000);
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      void played.then(over, over);
      const isGone = (): boolean =>
        camera.methods.includes('TEARDOWN') && camera.openSockets === 0 && clock.pendingTimers === 1;
      await until('the old connection is gone', () => isOver || isGone());
      clock.advance(500);
      await played;
    },
    [Symbol.asyncDispose]: async () => {
      await probe.session.close();
      peer[Symbol.dispose]();
      await camera[Symbol.asyncDispose]();
    },
  };
};

const sendRtp = (peer: UdpCamera, camera: ScriptedCamera, trackIndex: number): void =>
  peer.socket.send(rtp(1), portsOf(camera, trackIndex)[0]!, '127.0.0.1');
const sendRtcp = (peer: UdpCamera, camera: ScriptedCamera, trackIndex: number): void =>
  peer.socket.send(rtp(1, 'sr'), portsOf(camera, trackIndex)[1]!, '127.0.0.1');

for (const silent of [0, 1]) {
  test(`quirk 25: UDP on which only track ${silent} stays silent: all anew with TCP, and the owner is told`, async () => {
    await using session = await overUdp(
      (peer, camera) => {
        sendRtp(peer, camera, 1 - silent);
        // That RTCP comes through says nothing of the video's own port.
        if (silent === 0) sendRtcp(peer, camera, 0);
      },
      [[...toPlay, teardown]],
    );
    const { camera, probe } = session;
    await session.outwait(probe.play());
    assert.equal(probe.session.transport, 'tcp');
    assert.deepEqual(probe.restarts, ['tcp']);
    assert.match(probe.logs.join('\n'), new RegExp(`${silent === 0 ? 'video' : 'audio'} came over UDP`));
    await probe.session.close();
    assert.deepEqual(camera.faults, []);
  });
}

test('UDP: a sound that is silent, but for its reports, has its way', async () => {
  await using session = await overUdp((peer, camera) => {
    sendRtp(peer, camera, 0);
    sendRtcp(peer, camera, 1);
  }, []);
  const { clock, probe } = session;
  await probe.play();
  assert.equal(probe.session.transport, 'udp');
  assert.deepEqual(probe.restarts, []);
  assert.equal(clock.pendingTimers, 1, 'the keepalive');
});

test('UDP with a silent sound, and TCP refused: UDP again, without the sound', async () => {
  using peer = await UdpCamera.bind();
  const again: Line[] = [
    options,
    describe,
    unsupported,
    udpSetup(peer.port),
    udpSetup(peer.port),
    play,
    teardown,
  ];
  await using session = await overUdp((peer, camera) => sendRtp(peer, camera, 0), [again]);
  const { camera, probe } = session;
  await session.outwait(probe.play());
  assert.equal(probe.session.transport, 'udp');
  assert.equal(probe.restarts.length, 1);
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
});

test('UDP with a silent sound, where no other transport is wanted: the video goes on', async () => {
  await using session = await overUdp((peer, camera) => sendRtp(peer, camera, 0), [], {
    silentUdp: 'give_up',
  });
  const { camera, probe } = session;
  await session.outwait(probe.play());
  assert.equal(probe.session.transport, 'udp');
  assert.deepEqual(probe.restarts, []);
  assert.ok(!camera.methods.includes('TEARDOWN'));
});

test('quirk 25 by policy: UDP without a packet is a timeout', async () => {
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([
    [options, describe, udpSetup(9), udpSetup(9), play, teardown],
  ]);
  const probe = new SessionProbe(
    { url: camera.url(), transport: 'udp', policies: { silentUdp: 'give_up' } },
    clock,
  );
  const outcome = rejection('timeout', probe.play());
  await until('it waits', () => camera.methods.includes('PLAY') && clock.pendingTimers === 2);
  clock.advance(4_000);
  await outcome;
  assert.equal(camera.methods.at(-1), 'TEARDOWN');
});

test('quirk 26: H.264 with packetization-mode=0 is asked for over TCP at once', async () => {
  const mode0: Line = [
    'DESCRIBE',
    answer('200 OK', {}, SDP.replace('packetization-mode=1', 'packetization-mode=0')),
  ];
  for (const policy of ['force_tcp', 'keep_transport'] as const) {
    await using camera = await ScriptedCamera.start([[options, mode0, ['SETUP', 'close']]]);
    const probe = new SessionProbe({
      url: camera.url(),
      transport: 'udp',
      policies: { packetizationMode0: policy },
    });
    await rejection('closed_by_camera', probe.play());
    assert.equal(probe.session.transport, policy === 'force_tcp' ? 'tcp' : 'udp');
    const asked = camera.requests.at(-1)?.headers.get('transport') ?? '';
    assert.match(asked, policy === 'force_tcp' ? /TCP/ : /client_port/);
  }
});
