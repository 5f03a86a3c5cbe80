import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../../src/base/errors.js';
import type { StreamInfo } from '../../../src/codec/track.js';
import { ownAddresses } from '../../../src/live/whep/door/own-addresses.js';
import { chooseTracks } from '../../../src/live/whep/sdp/choose-codecs.js';
import { buildAnswer } from '../../../src/live/whep/sdp/sdp-answer.js';
import { type Offer, parseOffer } from '../../../src/live/whep/sdp/sdp-offer.js';
import { h264, pcmu } from './harness.js';

const opus: NonNullable<StreamInfo['audio']> = {
  codec: 'opus',
  clockRateHz: 48_000,
  channels: 2,
  config: new Uint8Array(0),
  codecString: 'opus',
};

/** What Chromium offers, shortened: five H.264, VP8 with its retransmissions, H.265 of two kinds. */
const videoSection = [
  'm=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103 104 106 108 49 50',
  'c=IN IP4 0.0.0.0',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:0123456789012345678901',
  'a=fingerprint:sha-256 AA:BB',
  'a=setup:actpass',
  'a=mid:0',
  'a=recvonly',
  'a=rtcp-mux',
  'a=rtpmap:96 VP8/90000',
  'a=rtpmap:97 rtx/90000',
  'a=fmtp:97 apt=96',
  'a=rtpmap:102 H264/90000',
  'a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f',
  'a=rtpmap:103 H264/90000',
  'a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f',
  'a=rtpmap:104 H264/90000',
  'a=fmtp:104 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
  'a=rtcp-fb:104 goog-remb',
  'a=rtcp-fb:104 transport-cc',
  'a=rtcp-fb:104 nack',
  'a=rtcp-fb:* nack pli',
  'a=rtpmap:106 H264/90000',
  'a=fmtp:106 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d001f',
  'a=rtpmap:108 H264/90000',
  'a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=64001f',
  'a=rtpmap:49 H265/90000',
  'a=fmtp:49 level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST',
  'a=rtpmap:50 H265/90000',
  'a=fmtp:50 level-id=180;profile-id=2;tier-flag=0;tx-mode=SRST',
];
const audioSection = [
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 0 8',
  'a=mid:1',
  'a=recvonly',
  'a=rtcp-mux',
  'a=rtpmap:111 opus/48000/2',
  'a=fmtp:111 minptime=10;useinbandfec=1',
];
const dataSection = ['m=application 9 UDP/DTLS/SCTP webrtc-datachannel', 'a=mid:2', 'a=sctp-port:5000'];
const head = ['v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 't=0 0'];
const sdpOf = (...sections: string[][]): string =>
  [...head, `a=group:BUNDLE ${sections.map((_, i) => i).join(' ')}`, ...sections.flat(), ''].join('\r\n');

const chosen = (sdp: string, info: StreamInfo): (number | undefined)[] => {
  const { video, audio } = chooseTracks(parseOffer(sdp), info);
  return [video?.format.payloadType, audio?.format.payloadType];
};

const answerTo = (offer: Offer, info: StreamInfo): string =>
  buildAnswer(offer, chooseTracks(offer, info), {
    sessionNumber: 7,
    iceUfrag: 'ufrag',
    icePwd: 'pwd',
    fingerprint: 'CC:DD',
    addresses: ['203.0.113.7', '2001:db8::1'],
    port: 50_000,
    cname: 'name',
    videoSsrc: 1,
    audioSsrc: 2,
  });

const codeOf = (attempt: () => unknown): string => {
  try {
    attempt();
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown.code;
    throw thrown;
  }
  return '';
};

test('the payload type that fits the camera best is chosen', () => {
  const offer = sdpOf(videoSection, audioSection);
  const cases: [StreamInfo, (number | undefined)[]][] = [
    [h264({ codecString: 'avc1.64001f' }, opus), [108, 111]],
    [h264({ codecString: 'avc1.4d0028' }, pcmu), [106, 0]],
    [h264({ codecString: 'avc1.42e01f' }, { ...pcmu, codec: 'pcma' }), [104, 8]],
    [h264({ codecString: 'avc1.f4001f' }, { ...pcmu, codec: 'aac' }), [104, undefined]],
    [
      h264({ codec: 'h265', codecString: 'hvc1.1.6.L93.B0' }, { ...pcmu, clockRateHz: 16_000 }),
      [49, undefined],
    ],
  ];
  for (const [info, expected] of cases)
    assert.deepEqual(chosen(offer, info), expected, info.video.codecString);
  // Static payload types need no line of their own, and one without a bundle stays out.
  assert.deepEqual(chosen(offer.replace(/^a=group.*\r\n/m, ''), h264({}, pcmu)), [104, undefined]);
  assert.deepEqual(chosen(sdpOf(audioSection), h264({}, pcmu)), [undefined, 0]);
});

test('an offer without a codec of the camera is told what was sent and what was offered', () => {
  const onlyVp8 = sdpOf(videoSection.map((line) => line.replace(/H26[45]/, 'VP9')));
  const attempt = () => chosen(onlyVp8, h264({}, opus));
  assert.throws(attempt, /the camera sends H264 and OPUS, and the offer has VP8, VP9/);
  const refused = [
    sdpOf(videoSection.map((line) => line.replace('recvonly', 'inactive'))),
    sdpOf(videoSection.map((line) => line.replace('m=video 9', 'm=video 0'))),
    sdpOf(videoSection.filter((line) => line !== 'a=rtcp-mux')),
    sdpOf(videoSection.map((line) => line.replace('UDP/TLS/RTP/SAVPF', 'RTP/AVP'))),
    sdpOf(audioSection),
    sdpOf(dataSection),
  ];
  for (const sdp of refused)
    assert.equal(
      codeOf(() => chosen(sdp, h264())),
      'codec_not_offered',
      sdp,
    );
});

test('an answer has every section of the offer, and only what we do', () => {
  const offer = parseOffer(sdpOf(videoSection, audioSection, dataSection));
  const answer = answerTo(offer, h264({}, { ...pcmu, codec: 'aac' }));
  const lines = answer.split('\r\n');
  assert.deepEqual(
    lines.filter((line) => /^(m=|a=(mid|sendonly|inactive|group|setup|rtcp-fb|rtpmap|ice-lite))/.test(line)),
    [
      'a=ice-lite',
      'a=group:BUNDLE 0 1',
      'm=video 9 UDP/TLS/RTP/SAVPF 104',
      'a=mid:0',
      'a=sendonly',
      'a=setup:passive',
      'a=rtpmap:104 H264/90000',
      'a=rtcp-fb:104 nack',
      'a=rtcp-fb:104 nack pli',
      // Nothing that the camera has fits: it lies idle.
      'm=audio 9 UDP/TLS/RTP/SAVPF 111',
      'a=mid:1',
      'a=inactive',
      'a=setup:passive',
      'a=rtpmap:111 opus/48000/2',
      'm=application 0 UDP/DTLS/SCTP webrtc-datachannel',
      'a=mid:2',
      'a=inactive',
    ],
  );
  assert.deepEqual(
    lines
      .filter((line) => line.startsWith('a=candidate'))
      .map((line) => line.split(' ').slice(4, 8).join(' ')),
    Array(2).fill(['203.0.113.7 50000 typ host', '2001:db8::1 50000 typ host']).flat(),
  );
});

test('a section that shares no transport with the picture is refused, and nothing else is', () => {
  const silent = h264({}, { ...pcmu, codec: 'aac' });
  const mid = (section: string[], name: string) =>
    section.map((line) => line.replace(/^a=mid:.*/, `a=mid:${name}`));
  const answered = (sdp: string, info = silent): string[] =>
    answerTo(parseOffer(sdp), info)
      .split('\r\n')
      .flatMap((line) => /^(?:m=(\w+ \d+)|a=((?:group:.*)|inactive|sendonly))/.exec(line)?.slice(1) ?? [])
      .filter((part) => part !== undefined);
  const both = sdpOf(mid(audioSection, '0'), mid(videoSection, '1'));
  assert.deepEqual(answered(both), ['group:BUNDLE 0 1', 'audio 9', 'inactive', 'video 9', 'sendonly']);
  const alone = both.replace('BUNDLE 0 1', 'BUNDLE 1');
  assert.deepEqual(answered(alone), ['group:BUNDLE 1', 'audio 0', 'inactive', 'video 9', 'sendonly']);
  const refused = [
    both.replace('m=audio 9', 'm=audio 0'),
    both.replace('a=recvonly', 'a=sendonly'),
    both.replace('a=rtcp-mux\r\n', ''),
    both.replace('m=audio 9 UDP/TLS/RTP/SAVPF', 'm=audio 9 RTP/AVP'),
    both.replace('SAVPF 111 0 8', 'SAVPF 120').replace(/^a=rtpmap:111.*\r\n/m, ''),
  ];
  for (const sdp of refused)
    assert.deepEqual(answered(sdp), ['group:BUNDLE 1', 'audio 0', 'inactive', 'video 9', 'sendonly'], sdp);
  const unbundled = both.replace(/^a=group.*\r\n/m, '');
  assert.deepEqual(answered(unbundled), ['audio 0', 'inactive', 'video 9', 'sendonly']);
  const three = sdpOf(videoSection, mid(audioSection, '1'), mid(videoSection, '2'));
  assert.deepEqual(answered(three, h264({}, opus)).slice(3), ['audio 9', 'sendonly', 'video 9', 'inactive']);
});

test('a bundle-only section goes by the transport of the section that its bundle is named after', () => {
  // RFC 8829 §5.2.1: such a section repeats nothing of it, rtcp-mux included.
  const transport = videoSection.filter((line) => /^a=(ice-|fingerprint|setup|rtcp-mux)/.test(line));
  const audio = [...audioSection.filter((line) => line !== 'a=rtcp-mux'), ...transport];
  const video = videoSection
    .filter((line) => !transport.includes(line))
    .map((line) => line.replace('m=video 9', 'm=video 0').replace('a=mid:0', 'a=mid:2'));
  const sdp = [...head, 'a=group:BUNDLE 1 2', ...audio, ...video, 'a=bundle-only', ''].join('\r\n');
  const offer = parseOffer(sdp);
  const section = chooseTracks(offer, h264({}, opus)).video?.media;
  assert.deepEqual(
    [section?.iceUfrag, section?.icePwd, section?.fingerprints, section?.setup],
    ['abcd', '0123456789012345678901', ['sha-256 AA:BB'], 'actpass'],
  );
  assert.match(answerTo(offer, h264({}, opus)), /a=group:BUNDLE 1 2\r\n[\s\S]*m=video 9 [\s\S]*a=sendonly/);
  // One that is in no bundle has no transport at all.
  assert.equal(
    codeOf(() => chosen(sdp.replace('BUNDLE 1 2', 'BUNDLE 1'), h264())),
    'codec_not_offered',
  );
});

test('every payload type of an answer is explained, those of refused sections, too', () => {
  // As pion offers; it gives the whole answer up over one that isn't.
  const pion = audioSection.map((line) => line.replace('111 0 8', '96 9 0 8').replace(':111', ':96'));
  const streams: StreamInfo[] = [
    h264({}, { ...pcmu, codec: 'aac' }),
    h264({}, opus),
    h264({}, pcmu),
    h264({}, { ...pcmu, codec: 'pcma' }),
    h264(),
  ];
  const offers = [
    sdpOf(videoSection, audioSection),
    sdpOf(videoSection, pion),
    sdpOf(pion, videoSection),
    sdpOf(videoSection, audioSection, videoSection),
    sdpOf(videoSection, ['m=audio 9 UDP/TLS/RTP/SAVPF 120', 'a=mid:1', 'a=recvonly', 'a=rtcp-mux']),
  ];
  for (const sdp of offers) {
    for (const info of streams) {
      const offer = parseOffer(sdp);
      const sections = answerTo(offer, info)
        .split(/^(?=m=)/m)
        .slice(1);
      assert.equal(sections.length, offer.media.length);
      for (const [index, section] of sections.entries()) {
        const [, port, formats = ''] = /^m=\S+ (\d+) \S+ (.*)\r$/m.exec(section) ?? [];
        assert.match(section, new RegExp(`^a=mid:${offer.media[index]?.mid}\r$`, 'm'));
        assert.match(section, port === '0' ? /^a=inactive\r$/m : /^a=(?:sendonly|inactive)\r$/m);
        for (const format of formats.split(' ')) {
          const isNamed = new RegExp(`^a=rtpmap:${format} \\S+/\\d+`, 'm').test(section);
          assert.ok(isNamed || format === '0', section);
        }
      }
    }
  }
});

test('whatever is sent as an offer, it is read or refused, and never in a line of the answer', () => {
  const lines = [...head, ...videoSection, ...audioSection, ...dataSection];
  const line = fc.oneof(fc.constantFrom(...lines), fc.string(), fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (some) => {
      const code = codeOf(() => chosen(['v=0', ...some].join('\r\n'), h264({}, opus)));
      assert.ok(['', 'bad_offer', 'codec_not_offered'].includes(code), code);
    }),
  );
  const many = [...head, ...Array(40).fill(dataSection).flat()].join('\n');
  assert.equal(
    codeOf(() => parseOffer(many)),
    'bad_offer',
  );
  assert.equal(
    codeOf(() => parseOffer(`v=0\n${'a=x\n'.repeat(5_000)}`)),
    'bad_offer',
  );
});

test('announced are public addresses, then the machine’s own; loopback where there is nothing else', () => {
  const info = (address: string, internal = false) =>
    ({ address, internal, netmask: '', mac: '', cidr: null, family: 'IPv4' }) as const;
  const lo = { lo: [info('127.0.0.1', true)] };
  const both = { ...lo, eth0: [info('192.168.1.5'), info('fe80::1'), info('2001:db8::5')] };
  assert.deepEqual(ownAddresses('0.0.0.0', [], both), ['192.168.1.5', '2001:db8::5']);
  assert.deepEqual(ownAddresses('0.0.0.0', ['203.0.113.7', '192.168.1.5'], both), [
    '203.0.113.7',
    '192.168.1.5',
    '2001:db8::5',
  ]);
  assert.deepEqual(ownAddresses('0.0.0.0', [], lo), ['127.0.0.1']);
  assert.deepEqual(ownAddresses('127.0.0.1', [], both)[0], '127.0.0.1');
});
