import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/base/errors.js';
import { firstMedia, videoCodecOf } from '../../src/rtsp/media-format.js';
import { type MediaDescription, parseSdp } from '../../src/rtsp/sdp.js';
import { cpuMsOf } from '../support/took.js';

const sdp = (...lines: string[]): string => ['v=0', ...lines, ''].join('\r\n');
const first = (...lines: string[]): MediaDescription => parseSdp(sdp(...lines)).medias[0]!;

test('an ordinary camera', () => {
  const session = parseSdp(
    sdp(
      'o=- 1 1 IN IP4 192.0.2.7',
      's=Media Presentation',
      't=0 0',
      'a=control:rtsp://192.0.2.7/ch1/',
      'm=video 0 RTP/AVP 96',
      'a=rtpmap:96 H264/90000',
      'a=fmtp:96 packetization-mode=1; profile-level-id=4D001F;sprop-parameter-sets=Z00AHw==,aO48gA==',
      'a=control:trackID=1',
      'a=framerate:12.5',
      'a=recvonly',
      'm=audio 0 RTP/AVP 97',
      'a=rtpmap:97 mpeg4-generic/48000/2',
      'a=control:trackID=2',
    ),
  );
  assert.equal(session.control, 'rtsp://192.0.2.7/ch1/');
  assert.deepEqual(session.medias, [
    {
      kind: 'video',
      payloadType: 96,
      encoding: 'H264',
      clockRateHz: 90_000,
      channels: 1,
      fmtp: new Map([
        ['packetization-mode', '1'],
        ['profile-level-id', '4D001F'],
        ['sprop-parameter-sets', 'Z00AHw==,aO48gA=='],
      ]),
      control: 'trackID=1',
      direction: 'recvonly',
      framesPerSecond: 12.5,
    },
    {
      kind: 'audio',
      payloadType: 97,
      encoding: 'MPEG4-GENERIC',
      clockRateHz: 48_000,
      channels: 2,
      fmtp: new Map(),
      control: 'trackID=2',
      direction: null,
      framesPerSecond: null,
    },
  ]);
});

test('any line ends, and nothing behind the last line', () => {
  const lines = ['v=0', 'a=control:*', 'm=video 0 RTP/AVP 96', 'a=rtpmap:96 H265/90000'];
  for (const end of ['\r\n', '\n', '\r', '\r\n\r\n']) {
    const session = parseSdp(lines.join(end));
    assert.equal(session.control, '*');
    assert.equal(session.medias[0]?.encoding, 'H265');
  }
});

test('session lines broken, missing or repeated (FLIR, macro-video, retina#52)', () => {
  const media = first('o=', 's=a', 's=b', 't=now-', 'c=IN IP4', 'nonsense', '=', 'm=video 0 RTP/AVP 96');
  assert.equal(media.payloadType, 96);
});

test('spaces at the end and junk in the text', () => {
  const media = first(
    's=\u0000\ufffd\ud800',
    'm=video 0 RTP/AVP 96\t ',
    'a=rtpmap:96 H264/90000 ',
    'a=fmtp:96',
  );
  assert.equal(media.encoding, 'H264');
  assert.equal(media.clockRateHz, 90_000);
  assert.equal(media.fmtp.size, 0);
});

test('static payload types without an rtpmap', () => {
  assert.equal(first('m=audio 0 RTP/AVP 0').encoding, 'PCMU');
  assert.equal(first('m=audio 0 RTP/AVP 8').encoding, 'PCMA');
  assert.equal(first('m=audio 0 RTP/AVP 8').clockRateHz, 8000);
});

test('an rtpmap wins over the static table', () => {
  assert.equal(first('m=audio 0 RTP/AVP 8', 'a=rtpmap:8 PCMU/8000/1').encoding, 'PCMU');
  const aac = first('m=audio 0 RTP/AVP 0', 'a=rtpmap:0 MPEG4-GENERIC/16000/2');
  assert.deepEqual([aac.encoding, aac.clockRateHz, aac.channels], ['MPEG4-GENERIC', 16_000, 2]);
});

test('the first usable format is taken', () => {
  const media = first(
    'm=audio 0 RTP/AVP 97 4 8',
    'a=rtpmap:97 G726-32/8000',
    'a=rtpmap:8 PCMA/8000',
    'a=fmtp:97 vad=no',
  );
  assert.deepEqual([media.payloadType, media.encoding, media.fmtp.size], [8, 'PCMA', 0]);
  assert.equal(first('m=audio 0 RTP/AVP 97 4', 'a=rtpmap:97 G726-32/8000').payloadType, 97);
});

test('a video of ours behind formats that are not, or are no video', () => {
  const cases: readonly (readonly [
    formats: string,
    lines: readonly string[],
    payloadType: number,
    codec: string,
  ])[] = [
    ['26 96', ['a=rtpmap:96 H264/90000'], 96, 'h264'],
    ['96 97', ['a=rtpmap:96 MP4V-ES/90000', 'a=rtpmap:97 H265/90000'], 97, 'h265'],
    // Only the format that it names: the camera numbers its packets with that one.
    ['96 97', ['a=rtpmap:97 H264/90000'], 97, 'h264'],
    ['96 97 98', ['a=rtpmap:98 H265/90000'], 98, 'h265'],
    // 0 is a sound by itself, and no video.
    ['0 96', ['a=rtpmap:96 H264/90000'], 96, 'h264'],
    // No rtpmap: the parameters betray the codec.
    ['26 96', ['a=fmtp:96 sprop-parameter-sets=Z00A'], 96, 'h264'],
    ['26 35 97', ['a=fmtp:35 x=1', 'a=fmtp:97 sprop-sps=QgEB'], 97, 'h265'],
  ];
  for (const [formats, lines, payloadType, codec] of cases) {
    const media = first(`m=video 0 RTP/AVP ${formats}`, ...lines);
    assert.deepEqual([media.payloadType, videoCodecOf(media)], [payloadType, codec], formats);
  }
  assert.equal(first('m=audio 0 RTP/AVP 97 8', 'a=rtpmap:97 H264/90000').payloadType, 8);
});

test('a missing format is told by the rtpmap, a differing one too', () => {
  assert.equal(first('m=video 0 RTP/AVP', 'a=rtpmap:98 H264/90000').payloadType, 98);
  const media = first('m=video 0 RTP/AVP 96', 'a=rtpmap:97 H264/90000');
  assert.deepEqual([media.payloadType, media.encoding], [96, 'H264']);
});

test('a media that makes no sense goes with its attributes (TP-Link)', () => {
  const session = parseSdp(
    sdp(
      'm=audio 0 RTP/AVP 8',
      'm=application/TP-LINK 0 RTP/AVP smart/1/90000',
      'a=rtpmap:95 TP-LINK/90000',
      'a=control:track3',
    ),
  );
  assert.equal(session.medias.length, 1);
  assert.equal(session.medias[0]?.control, null);
});

test('the last sane frame rate counts (H264DVR, IPCAM)', () => {
  assert.equal(first('m=video 0 RTP/AVP 96', 'a=framerate:0S', 'a=framerate:25').framesPerSecond, 25);
  assert.equal(first('m=video 0 RTP/AVP 96', 'a=framerate:-1', 'a=framerate:x').framesPerSecond, null);
  assert.equal(first('m=video 0 RTP/AVP 96', 'a=x-framerate: 12').framesPerSecond, 12);
});

test('fmtp of a video that stands with another media (WebRTC#419)', () => {
  const [video, audio] = parseSdp(
    sdp(
      'm=video 0 RTP/AVP 96',
      'a=rtpmap:96 H264/90000',
      'm=audio 0 RTP/AVP 8',
      'a=fmtp:96 packetization-mode=1',
      'a=fmtp:8 vad=no',
    ),
  ).medias;
  assert.deepEqual([...video!.fmtp], [['packetization-mode', '1']]);
  assert.deepEqual([...audio!.fmtp], [['vad', 'no']]);
});

test('two medias of one payload type keep their own fmtp (Ubiquiti)', () => {
  const [aac, opus] = parseSdp(
    sdp(
      'm=audio 0 RTP/AVP 96',
      'a=fmtp:96 SizeLength=13; config=1188;',
      'm=audio 0 RTP/AVP 96',
      'a=rtpmap:96 opus/48000/2',
      'a=fmtp:96',
    ),
  ).medias;
  assert.deepEqual([...aac!.fmtp.keys()], ['sizelength', 'config']);
  assert.deepEqual([opus!.encoding, opus!.fmtp.size], ['OPUS', 0]);
});

test("a camera's loudspeaker is passed over, except where everything is marked as one", () => {
  const speaker = ['m=video 0 RTP/AVP 96', 'a=rtpmap:96 H264/90000', 'a=control:back', 'a=sendonly'];
  const camera = ['m=video 0 RTP/AVP 97', 'a=rtpmap:97 H264/90000', 'a=control:front'];
  const isVideo = (media: MediaDescription): boolean => videoCodecOf(media) !== null;
  assert.equal(firstMedia(parseSdp(sdp(...speaker, ...camera)), isVideo)?.control, 'front');
  assert.equal(firstMedia(parseSdp(sdp(...speaker)), isVideo)?.control, 'back');
  assert.equal(firstMedia(parseSdp(sdp('a=sendonly', ...camera)), isVideo)?.direction, 'sendonly');
  assert.equal(firstMedia(parseSdp(sdp('m=audio 0 RTP/AVP 0')), isVideo), null);
});

test('no media at all is the one thing that is refused', () => {
  for (const text of ['', 'v=0', sdp('s=x', 'a=control:*'), sdp('m=', 'm=video'), '<html>404</html>']) {
    assert.throws(
      () => parseSdp(text),
      (thrown) => thrown instanceof AppError && thrown.code === 'bad_sdp',
      text,
    );
  }
});

test('bounds hold', () => {
  const many = Array.from({ length: 100 }, () => 'm=audio 0 RTP/AVP 0');
  assert.equal(parseSdp(sdp(...many)).medias.length, 32);
  const long = first('m=video 0 RTP/AVP 96', `a=control:${'x'.repeat(9000)}`, 'a=control:short');
  assert.equal(long.control, 'short');
  assert.throws(() => parseSdp(`s=${'x'.repeat(70_000)}\r\nm=audio 0 RTP/AVP 0`));
});

test('lines of spaces, with what is a line end elsewhere, take no longer than others', () => {
  const line = `a=rtpmap:96${' '.repeat(4_000)}${'x'.repeat(4_000)}\u2028x`;
  const tookMs = cpuMsOf(() => {
    assert.equal(parseSdp(sdp('m=video 0 RTP/AVP 96', ...Array(8).fill(line))).medias.length, 1);
  });
  assert.ok(tookMs < 1_000, `took ${tookMs} ms`);
});

const pieces = fc.constantFrom(
  ...[
    'm=video',
    'm=audio 0 RTP/AVP',
    ' 96',
    ' 0',
    ' 8',
    'a=rtpmap:',
    'a=fmtp:',
    '96',
    ' H264/',
    '90000',
    '/2',
  ],
  ...['a=control:', '*', ';', '=', ':', '\r\n', '\n', '\r', ' ', 'config', '\u0000', '999999999999', '-1'],
);

test('property: any text gives medias within bounds or bad_sdp', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.array(pieces, { maxLength: 60 }).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      try {
        for (const media of parseSdp(text).medias) {
          assert.ok(media.payloadType >= 0 && media.payloadType <= 127);
          assert.ok(media.clockRateHz >= 1000 && media.channels >= 1 && media.channels <= 16);
        }
      } catch (thrown) {
        assert.ok(thrown instanceof AppError && thrown.code === 'bad_sdp', String(thrown));
      }
    }),
    { numRuns: 1000 },
  );
});
