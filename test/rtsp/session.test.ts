import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../support/fake-clock.js';
import { until } from '../support/until.js';
import { describe, options, play, SDP, setupTrack, teardown, toPlay } from './dialogue-lines.js';
import { answer, interleaved, type Line, rtp, ScriptedCamera } from './scripted-camera.js';
import { rejection, SessionProbe } from './session-probe.js';

test('a whole session: tracks, RTCP, TEARDOWN, no socket left', async () => {
  await using camera = await ScriptedCamera.start([[...toPlay, teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  assert.deepEqual(probe.session.liveTracks, [true, true]);
  const media = [
    interleaved(0, rtp(1, 'video')),
    interleaved(2, rtp(1, 'audio')),
    interleaved(1, rtp(2, 'sr')),
  ];
  camera.sockets[0]!.write(Buffer.concat(media));
  await until('all of it arrived', () => probe.rtcp.length === 1);
  assert.deepEqual(probe.rtp, [
    { trackIndex: 0, payload: 'video' },
    { trackIndex: 1, payload: 'audio' },
  ]);
  assert.deepEqual(probe.rtcp, [{ trackIndex: 0, payload: 'sr' }]);
  const closing = probe.session.close();
  assert.equal(probe.session.close(), closing);
  await closing;
  await until('the socket is closed', () => camera.openSockets === 0);
  assert.deepEqual(camera.methods, ['OPTIONS', 'DESCRIBE', 'SETUP', 'SETUP', 'PLAY', 'TEARDOWN']);
  const uris = camera.requests.slice(1).map(({ uri }) => uri.replace(/^.*?\d\//, '/'));
  assert.deepEqual(uris, ['/live', '/live/v', '/live/a', '/live', '/live']);
  assert.deepEqual(camera.faults, []);
  assert.deepEqual(probe.ends, []);
  await rejection('aborted', probe.session.play());
});

test('quirk 27: User-Agent is always sent; the session id from the first SETUP on', async () => {
  await using camera = await ScriptedCamera.start([[...toPlay, teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  await probe.session.close();
  assert.ok(camera.requests.every(({ headers }) => headers.get('user-agent') === 'Framering'));
  const sessions = camera.requests.map(({ headers }) => headers.get('session') ?? '');
  assert.deepEqual(sessions, ['', '', '', '77', '77', '77']);
});

test('quirk 14: packets before the answer to PLAY are taken', async () => {
  const early = [interleaved(0, rtp(1, 'early')), Buffer.from('RTSP/1.0 200 OK\r\nCSeq: 5\r\n\r\n')];
  await using camera = await ScriptedCamera.start([
    [...toPlay.slice(0, 4), ['PLAY', Buffer.concat(early)], teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  assert.deepEqual(probe.rtp, [{ trackIndex: 0, payload: 'early' }]);
  await probe.session.close();
});

/** Plays with these SETUP answers, sends a packet on each channel, and tells whose they were. */
const tracksByChannel = async (setups: readonly Line[], channels: readonly number[]) => {
  await using camera = await ScriptedCamera.start([[options, describe, ...setups, play, teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  const frames = channels.map((channel) => interleaved(channel, rtp(channel, `ch${channel}`)));
  camera.sockets[0]!.write(Buffer.concat([...frames, interleaved(channels[0]!, rtp(99, 'end'))]));
  await until('the last packet', () => probe.rtp.at(-1)?.payload === 'end');
  await probe.session.close();
  probe.rtp.pop();
  return { rtp: probe.rtp, rtcp: probe.rtcp, unknown: probe.session.counters.unknownChannelFrames };
};

test('quirks 9 and 13: interleaved channels are those of the answer', async () => {
  const seen = await tracksByChannel([setupTrack('4-5'), setupTrack('0-1')], [4, 0, 2]);
  assert.deepEqual(seen.rtp, [
    { trackIndex: 0, payload: 'ch4' },
    { trackIndex: 1, payload: 'ch0' },
  ]);
  assert.equal(seen.unknown, 1);
});

test('quirk 13: an answer without channels, or with those of another track, leaves the ones we asked for', async () => {
  const none: Line = ['SETUP', answer('200 OK', { Session: '77' })];
  const seen = await tracksByChannel([none, setupTrack('0-1')], [0, 2]);
  assert.deepEqual(seen.rtp, [
    { trackIndex: 0, payload: 'ch0' },
    { trackIndex: 1, payload: 'ch2' },
  ]);
});

test('quirk 13: RTP and RTCP on one channel are told apart', async () => {
  await using camera = await ScriptedCamera.start([
    [options, describe, setupTrack('0-0'), setupTrack('2-3'), play, teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  const report = rtp(1, 'report');
  report[1] = 200;
  camera.sockets[0]!.write(Buffer.concat([interleaved(0, report), interleaved(0, rtp(1, 'video'))]));
  await until('both arrived', () => probe.rtp.length === 1);
  assert.deepEqual(probe.rtcp, [{ trackIndex: 0, payload: 'report' }]);
  await probe.session.close();
});

test('quirk 11: the session id that came last counts', async () => {
  const second: Line = [
    'SETUP',
    answer('200 OK', { Transport: 'RTP/AVP/TCP;unicast;interleaved=2-3', Session: '231980;timeout=60' }),
  ];
  for (const [policy, id] of [
    ['take_last', '231980'],
    ['keep_first', '77'],
  ] as const) {
    await using camera = await ScriptedCamera.start([
      [options, describe, setupTrack('0-1'), second, ['PLAY', answer('200 OK')], teardown],
    ]);
    const probe = new SessionProbe({ url: camera.url(), transport: 'tcp', policies: { sessionId: policy } });
    await probe.play();
    await probe.session.close();
    assert.equal(camera.requests.at(-1)?.headers.get('session'), id);
  }
});

test('quirk 28: a refused audio track is tolerated, a refused video track is not', async () => {
  const refused: Line = ['SETUP', answer('406 Not Acceptable')];
  await using camera = await ScriptedCamera.start([
    [options, describe, setupTrack('0-1'), refused, play, teardown],
    [options, describe, refused],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  assert.deepEqual(probe.session.liveTracks, [true, false]);
  await probe.session.close();
  const error = await rejection(
    'server_error',
    new SessionProbe({ url: camera.url(), transport: 'tcp' }).play(),
  );
  assert.match(error.message, /answered 406 Not Acceptable to SETUP/);
});

test('OPTIONS may be refused, CSeq spaced (Longse), made up, or missing', async () => {
  const odd = (cseq: string, body = ''): string =>
    `RTSP/1.0 200 OK\r\n${cseq}Content-Length: ${body.length}\r\n\r\n${body}`;
  await using camera = await ScriptedCamera.start([
    [
      ['OPTIONS', answer('501 Not Implemented')],
      ['DESCRIBE', odd('cseq:  {cseq} \r\n', SDP)],
      ['SETUP', odd('')],
      ['SETUP', odd('CSeq: 4711\r\n')],
      ['PLAY', odd('CSeq: x\r\n')],
    ],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
});

test('doubled answers are counted, and answer nothing else', async () => {
  const twice = (line: Line): Line => [line[0], `${String(line[1])}${String(line[1])}`];
  await using camera = await ScriptedCamera.start([[...toPlay.map(twice), teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  await until('the last one came', () => probe.session.counters.strayResponses === 5);
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
});

/** An answer whose CSeq is this one, whatever was asked. */
const numbered = (cseq: number, line: Line): Line => [
  line[0],
  String(line[1]).replace('CSeq: {cseq}', `CSeq: ${cseq}`),
];

test('CSeq 1 in every answer: doubted for a second, once, then believed', async () => {
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([[...toPlay, teardown].map((line) => numbered(1, line))]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' }, clock);
  const playing = probe.play();
  // The answer's time-out, and the doubt.
  await until('the second answer is doubted', () => clock.pendingTimers === 2);
  clock.advance(999);
  assert.deepEqual(camera.methods, ['OPTIONS', 'DESCRIBE']);
  clock.advance(1);
  await playing;
  assert.deepEqual(probe.session.liveTracks, [true, true]);
  assert.equal(probe.session.counters.strayResponses, 0);
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
  assert.equal(clock.pendingTimers, 0);
});

test('an answer that comes again while the next one is awaited answers nothing', async () => {
  const clock = new FakeClock();
  const again: Line = ['DESCRIBE', () => `${numbered(1, options)[1]}${String(describe[1])}`];
  await using camera = await ScriptedCamera.start([[options, again, ...toPlay.slice(2), teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' }, clock);
  await probe.play();
  assert.equal(probe.session.counters.strayResponses, 1);
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
  assert.equal(clock.pendingTimers, 0);
});

test('an answer in doubt dies with its connection', async () => {
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([[options, numbered(1, describe)]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' }, clock);
  const outcome = rejection('aborted', probe.play());
  await until('the second answer is doubted', () => clock.pendingTimers === 2);
  await probe.session.close();
  await outcome;
  assert.equal(clock.pendingTimers, 0);
});

test('medias without a control of their own share one URL, which is set up once: for the video', async () => {
  const bare = SDP.replaceAll(/a=control:.*\r\n/g, '');
  for (const sdp of [bare, `a=control:*\r\n${bare}`, SDP.replaceAll(/a=control:.*/g, 'a=control:*')]) {
    await using camera = await ScriptedCamera.start([
      [
        options,
        ['DESCRIBE', answer('200 OK', { 'Content-Base': 'rtsp://127.0.0.1:{port}/live/' }, sdp)],
        setupTrack('0-1'),
        play,
        teardown,
      ],
    ]);
    const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
    await probe.play();
    assert.deepEqual(probe.session.liveTracks, [true, false]);
    await probe.session.close();
    assert.deepEqual(camera.faults, []);
    // RFC 2326 C.1.1: without a control, the base URL it is.
    assert.ok(camera.requests.slice(2).every(({ uri }) => uri === camera.url('/live/')));
  }
});

test('a camera that answers byte by byte', async () => {
  const slowly = (line: Line): Line => [line[0], { text: String(line[1]), manner: 'byte by byte' }];
  await using camera = await ScriptedCamera.start([[...toPlay.map(slowly), teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  await probe.session.close();
  assert.deepEqual(camera.faults, []);
});

test('a camera that never answers: timeout after 10 s, and no socket left', async () => {
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([[options, ['DESCRIBE', 'silence']]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' }, clock);
  const described = probe.session.describe();
  const outcome = rejection('timeout', described);
  await until('DESCRIBE was sent', () => camera.methods.includes('DESCRIBE'));
  clock.advance(9_999);
  assert.equal(camera.openSockets, 1);
  clock.advance(1);
  await outcome;
  await until('the socket is closed', () => camera.openSockets === 0);
  assert.equal(clock.pendingTimers, 0);
});

test('a connection that does not stand within 5 s: timeout', async () => {
  const clock = new FakeClock();
  // A plain socket that says nothing: the TLS handshake never ends.
  await using camera = await ScriptedCamera.start([]);
  const probe = new SessionProbe({ url: camera.url().replace('rtsp:', 'rtsps:'), transport: 'tcp' }, clock);
  const outcome = rejection('timeout', probe.session.describe());
  await until('it connected', () => camera.sockets.length === 1);
  clock.advance(5_000);
  await outcome;
  await until('the socket is closed', () => camera.openSockets === 0);
  assert.equal(clock.pendingTimers, 0);
});

test('a camera that closes in mid-body, or half-closes, or at once', async () => {
  const cut = answer('200 OK', { 'Content-Type': 'application/sdp' }, SDP).slice(0, -9);
  for (const manner of ['then close', 'then half-close'] as const) {
    await using camera = await ScriptedCamera.start([[options, ['DESCRIBE', { text: cut, manner }]]]);
    const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
    const error = await rejection('closed_by_camera', probe.session.describe());
    assert.equal(error.details['camera'], `127.0.0.1:${camera.port}`);
    await until('the socket is closed', () => camera.openSockets === 0);
    await rejection('closed_by_camera', probe.session.setup([]));
  }
  await using camera = await ScriptedCamera.start([[['OPTIONS', 'close']]]);
  await rejection('closed_by_camera', new SessionProbe({ url: camera.url(), transport: 'tcp' }).play());
});

test('each refusal has its code', async () => {
  const cases = [
    ['404 Not Found', 'not_found'],
    ['403 Forbidden', 'unauthorized'],
    ['401 Unauthorized', 'unauthorized'],
    ['453 Not Enough Bandwidth', 'server_error'],
    ['500 Internal Server Error', 'server_error'],
  ] as const;
  for (const [status, code] of cases) {
    await using camera = await ScriptedCamera.start([[options, ['DESCRIBE', answer(status)]]]);
    const error = await rejection(code, new SessionProbe({ url: camera.url(), transport: 'tcp' }).play());
    assert.ok(error.message.includes(status), error.message);
    await until('the socket is closed', () => camera.openSockets === 0);
  }
  await using empty = await ScriptedCamera.start([[options, ['DESCRIBE', answer('200 OK')]]]);
  await rejection('bad_sdp', new SessionProbe({ url: empty.url(), transport: 'tcp' }).play());
  await using noise = await ScriptedCamera.start([[['OPTIONS', Buffer.alloc(300_000, 1)]]]);
  await rejection('protocol_error', new SessionProbe({ url: noise.url(), transport: 'tcp' }).play());
  await rejection('bad_url', new SessionProbe({ url: 'rtsp://u:geheim', transport: 'tcp' }).play());
  const { port } = empty;
  await empty[Symbol.asyncDispose]();
  await rejection(
    'connection_refused',
    new SessionProbe({ url: `rtsp://127.0.0.1:${port}/`, transport: 'tcp' }).play(),
  );
});

test('a playing session that breaks tells so once, and nothing after', async () => {
  await using camera = await ScriptedCamera.start([toPlay]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  camera.sockets[0]!.end(interleaved(0, rtp(1, 'last')));
  await until('it ended', () => probe.ends.length > 0);
  assert.deepEqual(
    probe.rtp.map(({ payload }) => payload),
    ['last'],
  );
  await until('the socket is closed', () => camera.openSockets === 0);
  await probe.session.close();
  assert.deepEqual(
    probe.ends.map(({ code }) => code),
    ['closed_by_camera'],
  );
});

test('a connection that breaks right behind the answer to PLAY is noticed', async () => {
  const clock = new FakeClock();
  const text = `${String(play[1])}REDIRECT rtsp://x/ RTSP/1.0\r\nCSeq: 1\r\n\r\n`;
  await using camera = await ScriptedCamera.start([[...toPlay.slice(0, 4), ['PLAY', text]]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' }, clock);
  await rejection('closed_by_camera', probe.play());
  assert.deepEqual(probe.ends, []);
  assert.equal(clock.pendingTimers, 0);
});

test('an exception in a handler ends this session, and nothing else', async () => {
  await using camera = await ScriptedCamera.start([toPlay]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  probe.onRtp = () => {
    throw new TypeError('ours');
  };
  camera.sockets[0]!.write(Buffer.concat([interleaved(0, rtp(1)), interleaved(0, rtp(2))]));
  await until('it ended', () => probe.ends.length > 0);
  assert.equal(probe.ends[0]?.code, 'internal_error');
  assert.equal(probe.rtp.length, 1);
});

test('closing from within a handler: nothing more of the same read is handed on', async () => {
  await using camera = await ScriptedCamera.start([[...toPlay, teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  let closed: Promise<void> | null = null;
  probe.onRtp = () => {
    closed = probe.session.close();
  };
  camera.sockets[0]!.write(Buffer.concat([interleaved(0, rtp(1)), interleaved(0, rtp(2))]));
  await until('TEARDOWN was sent', () => camera.methods.includes('TEARDOWN'));
  await closed;
  assert.equal(probe.rtp.length, 1);
});

test('a camera that ignores TEARDOWN holds us up for a second, no longer', async () => {
  const clock = new FakeClock();
  await using camera = await ScriptedCamera.start([[...toPlay, ['TEARDOWN', 'silence']]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' }, clock);
  await probe.play();
  const closed = probe.session.close();
  await until('TEARDOWN was sent', () => camera.methods.includes('TEARDOWN'));
  clock.advance(1_000);
  await closed;
  await until('the socket is closed', () => camera.openSockets === 0);
  assert.equal(clock.pendingTimers, 0);
});

test('teardown policy never: the connection is just closed', async () => {
  await using camera = await ScriptedCamera.start([toPlay]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp', policies: { teardown: 'never' } });
  await probe.play();
  await probe.session.close();
  await until('the socket is closed', () => camera.openSockets === 0);
  assert.equal(camera.methods.at(-1), 'PLAY');
});

test('close() ends a step under way, at whatever point', async () => {
  for (let steps = 0; steps < toPlay.length; steps++) {
    const script: Line[] = [...toPlay.slice(0, steps), [toPlay[steps]![0], 'silence'], teardown];
    await using camera = await ScriptedCamera.start([script]);
    const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
    const outcome = rejection('aborted', probe.play());
    await until('it hangs there', () => camera.requests.length === steps + 1);
    const closed = probe.session.close();
    await outcome;
    await closed;
    await until('the socket is closed', () => camera.openSockets === 0);
    // Only from the first SETUP on is there a session to tear down.
    assert.equal(camera.methods.at(-1), steps > 2 ? 'TEARDOWN' : toPlay[steps]![0]);
    assert.deepEqual(probe.ends, []);
  }
  const before = new SessionProbe({ url: 'rtsp://127.0.0.1:1/', transport: 'tcp' });
  await before.session.close();
  await rejection('aborted', before.session.describe());
});

test('requests of the camera are answered', async () => {
  await using camera = await ScriptedCamera.start([[...toPlay, teardown]]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  const requests = ['OPTIONS', 'ANNOUNCE', 'SET_PARAMETER', 'RECORD'].map(
    (method, index) => `${method} rtsp://x RTSP/1.0\r\nCSeq: ${index}\r\nContent-Length: 1\r\n\r\n$`,
  );
  camera.sockets[0]!.write(requests.join(''));
  const answers = await until('all are answered', () => {
    const found = camera.methods.filter((method) => method.startsWith('RTSP/'));
    return found.length === 4 && found;
  });
  assert.deepEqual(answers, [
    'RTSP/1.0 200 OK',
    'RTSP/1.0 200 OK',
    'RTSP/1.0 200 OK',
    'RTSP/1.0 501 Not Implemented',
  ]);
  await probe.session.close();
});

test('RTCP of ours goes out on the channel that the camera named', async () => {
  await using camera = await ScriptedCamera.start([
    [options, describe, setupTrack('6-7'), setupTrack('2-3'), play, teardown],
  ]);
  const probe = new SessionProbe({ url: camera.url(), transport: 'tcp' });
  await probe.play();
  const received: Buffer[] = [];
  camera.sockets[0]!.on('data', (data) => void received.push(data));
  probe.session.sendRtcp(0, Buffer.from('report'));
  probe.session.sendRtcp(9, Buffer.from('nobody'));
  await until('it arrived', () => received.length > 0);
  assert.deepEqual(Buffer.concat(received), interleaved(7, Buffer.from('report')));
  await probe.session.close();
});
