import assert from 'node:assert/strict';
import { parseStreamAddress } from '../../../src/live/rtsp/dialogue/stream-address.js';
import { parseTransportOffer } from '../../../src/live/rtsp/dialogue/transport-offer.js';
import { parseChallenges } from '../../../src/rtsp/challenge.js';
import { parsePublic, parseSession } from '../../../src/rtsp/header-values.js';
import {
  aacFramingOf,
  audioTrackOf,
  firstMedia,
  hasDonl,
  packetizationModeOf,
  spropNalsOf,
  videoCodecOf,
} from '../../../src/rtsp/media-format.js';
import { RtspParser } from '../../../src/rtsp/parser.js';
import { parseSdp } from '../../../src/rtsp/sdp.js';
import { parseTransport } from '../../../src/rtsp/transport-header.js';
import { parseCameraUrl, redactUrl } from '../../../src/rtsp/url.js';
import { orRefused, type Target } from '../target.js';

const HEADERS = [
  'CSeq: 2',
  'Content-Length: 4',
  'Session: 12;timeout=60',
  'Public: OPTIONS, DESCRIBE',
  '\r\n',
  '$\0\0\x04',
];

/** What a camera or a player sends, in pieces as the first byte says. */
const stream: Target = {
  seeds: [
    '\x10RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: OPTIONS, DESCRIBE\r\n\r\n$\0\0\x04abcd$\x01\0\x02xyRTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 4\r\n\r\nv=0\n',
    '\x03OPTIONS rtsp://a/b RTSP/1.0\r\nCSeq: 3\r\nContent-Length: 2\r\n\r\nok',
    '\xffgarbage $$$$\r\n\r\nRTSP/1.0 401 Unauthorized\r\nWWW-Authenticate: Basic realm="a"\r\nCSeq: 9\r\n folded\r\n\r\n',
  ].map((text) => Buffer.from(text, 'latin1')),
  words: HEADERS,
  run: (input) => {
    const counters = { garbageBytes: 0, unknownChannelFrames: 0 };
    let told = 0;
    const parser = new RtspParser(
      {
        onInterleaved: (_channel, buffer, start, end) => {
          assert.ok(0 <= start && start <= end && end <= buffer.length);
          told += end - start;
        },
        onResponse: ({ body }) => {
          told += body.length;
        },
        onRequest: ({ body }) => {
          told += body.length;
        },
      },
      counters,
    );
    parser.allowChannel(0);
    const step = (input[0] ?? 0) + 1;
    orRefused(() => {
      for (let at = 1; at < input.length; at += step)
        parser.feed(input, at, Math.min(at + step, input.length));
    });
    assert.ok(told <= input.length, 'more was told than came');
    assert.ok(counters.garbageBytes <= input.length);
  },
};

const sdp: Target = {
  seeds: [
    'v=0\r\no=- 1 1 IN IP4 192.0.2.7\r\ns=x\r\nt=0 0\r\na=control:*\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n' +
      'a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z00AHw==,aO48gA==\r\na=control:trackID=1\r\na=framerate:12.5\r\n' +
      'm=audio 0 RTP/AVP 97\r\na=rtpmap:97 mpeg4-generic/48000/2\r\na=fmtp:97 mode=AAC-hbr;config=1190;sizelength=13;indexlength=3;indexdeltalength=3\r\n',
    'v=0\nm=video 0 RTP/AVP 98\na=rtpmap:98 H265/90000\na=fmtp:98 sprop-vps=QAE=;sprop-sps=QgE=;sprop-pps=RAE=\nm=application 0 RTP/AVP 107\na=rtpmap:107 vnd.onvif.metadata/90000\n',
  ],
  words: [
    'a=rtpmap:',
    '\u2028',
    'a=fmtp:',
    'm=audio 0 RTP/AVP 0',
    'PCMU/8000',
    'L16/44100/2',
    'opus/48000/2',
    'a=control:',
    '\r\n',
    'config=',
  ],
  run: (input) => {
    const text = input.toString('latin1');
    orRefused(() => {
      const session = parseSdp(text);
      firstMedia(session, (media) => videoCodecOf(media) !== null);
      for (const media of session.medias) {
        spropNalsOf(media);
        aacFramingOf(media);
        packetizationModeOf(media);
        hasDonl(media);
        orRefused(() => audioTrackOf(media));
      }
    });
  },
};

/** The values of headers, and addresses: one line each. */
const values: Target = {
  seeds: [
    'RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=1A2B;mode="PLAY"',
    'RTP/AVP;unicast;client_port=5000-5001;server_port=6970-6971;source=10.0.0.2,RTP/AVP/TCP;interleaved=2-3',
    'Digest realm="a, b", nonce="x\\"y", algorithm=SHA-256, qop="auth,auth-int", stale=TRUE, Basic realm=c',
    '"47112344";timeout=60',
    'rtsp://user:pass%40word@[::1]:8554/a b?c=d#e',
    'rtsps://admin:@camera.local/Streaming/Channels/101',
    'rtsp://127.0.0.1:8554/door/sub/trackID=1?token=abc',
  ],
  words: ['RTP/AVP', ';', 'interleaved=', 'Digest ', 'nonce=', '%2F', '://', '@', '..', 'trackID='],
  run: (input) => {
    const text = input.toString('utf8');
    orRefused(() => parseTransport(text));
    parseTransportOffer(text);
    parseChallenges([text, text]);
    parsePublic([text]);
    parseSession(text);
    parseStreamAddress(text);
    const password = (address: string): string =>
      orRefused(() => parseCameraUrl(address))?.credentials?.password ?? '';
    if (password(text).length > 3)
      assert.notEqual(password(redactUrl(text)), password(text), 'a password is shown');
  },
};

export const rtspTargets = { 'rtsp-stream': stream, sdp, 'rtsp-values': values };
