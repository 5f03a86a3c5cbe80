import assert from 'node:assert/strict';
import {
  claimedUfrag,
  isBindingSuccess,
  parseBindingRequest,
  writeBindingRequest,
  writeBindingSuccess,
} from '../../../src/live/whep/path/stun.js';
import { chooseTracks } from '../../../src/live/whep/sdp/choose-codecs.js';
import { parseOffer } from '../../../src/live/whep/sdp/sdp-offer.js';
import { makeCertificate } from '../../../src/live/whep/secure/certificate.js';
import { DtlsEndpoint, loadDtls } from '../../../src/live/whep/secure/dtls-endpoint.js';
import { SrtcpReceiver } from '../../../src/live/whep/secure/srtcp.js';
import { MASTER_KEY_BYTES, MASTER_SALT_BYTES, SrtpKeys } from '../../../src/live/whep/secure/srtp-keys.js';
import { h264, pcmu } from '../../live/whep/harness.js';
import { joined, orRefused, pieces, type Target } from '../target.js';

const OFFER = [
  'v=0',
  'o=- 1 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0 1',
  'm=video 9 UDP/TLS/RTP/SAVPF 96 104',
  'c=IN IP4 0.0.0.0',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:0123456789012345678901',
  `a=fingerprint:sha-256 ${Array(32).fill('AA').join(':')}`,
  'a=setup:actpass',
  'a=mid:0',
  'a=recvonly',
  'a=rtcp-mux',
  'a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid',
  'a=rtpmap:96 VP8/90000',
  'a=rtpmap:104 H264/90000',
  'a=fmtp:104 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
  'a=rtcp-fb:104 nack pli',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 0',
  'a=mid:1',
  'a=recvonly',
  'a=rtcp-mux',
  'a=rtpmap:111 opus/48000/2',
  '',
].join('\r\n');

const offer: Target = {
  seeds: [OFFER, OFFER.replace('a=group:BUNDLE 0 1\r\n', '')],
  words: [
    'm=video 9 UDP/TLS/RTP/SAVPF',
    'a=rtpmap:',
    'a=fmtp:',
    'a=mid:',
    'H265/90000',
    'a=sendrecv',
    'a=inactive',
    '\r\n',
    'a=rtcp-fb:*',
  ],
  run: (input) => {
    orRefused(() =>
      chooseTracks(parseOffer(input.toString('utf8')), h264({ codecString: 'avc1.42e01f' }, pcmu)),
    );
  },
};

const PASSWORD = 'a password of twenty-four';
const ID = Buffer.alloc(12, 7);

const stun: Target = {
  get seeds() {
    return [
      writeBindingRequest(ID, 'us:viewer', PASSWORD),
      writeBindingSuccess(ID, '192.0.2.1', 9, PASSWORD),
    ];
  },
  run: (input) => {
    parseBindingRequest(input, PASSWORD);
    isBindingSuccess(input, ID, PASSWORD);
    const ufrag = claimedUfrag(input);
    if (ufrag !== null) assert.ok(ufrag.length > 0 && ufrag.length <= 256);
  },
};

const srtcp: Target = {
  seeds: [Buffer.alloc(40, 0x80), Buffer.from(`81c9000700000001${'00'.repeat(38)}`, 'hex')],
  run: (input) => {
    const keys = new SrtpKeys('rtcp', Buffer.alloc(MASTER_KEY_BYTES, 1), Buffer.alloc(MASTER_SALT_BYTES, 2));
    assert.equal(new SrtcpReceiver(keys).open(input), null, 'what nobody signed was opened');
  },
};

const library = await loadDtls();
const certificate = makeCertificate(Date.now() as never);
/** A first flight, as browsers send it: no cookie yet. */
const HELLO = Buffer.from(
  `16feff000000000000000000460100003a000000000000003afefd${'11'.repeat(32)}00000002c02b0100000e000d000400020403000e000300000100`,
  'hex',
);

/** Datagrams to the server's side of a handshake. */
const dtls: Target = {
  seeds: [
    joined([HELLO, HELLO]),
    joined([
      Buffer.from('15fefd0000000000000000000201' + '00', 'hex'),
      Buffer.from('17fefd00010000000000010000', 'hex'),
    ]),
  ],
  run: (input) => {
    const endpoint = new DtlsEndpoint(library, certificate, ['sha-256 AA'], {
      send: () => {},
      onKeys: () => assert.fail('keys without a handshake'),
      onClosed: () => {},
    });
    for (const piece of pieces(input)) endpoint.receive(piece);
  },
};

export const webrtcTargets = { 'sdp-offer': offer, stun, srtcp, dtls };
