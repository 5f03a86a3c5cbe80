import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parsePublic, parseSession } from '../../src/rtsp/header-values.js';
import { cseqOf, type RtspResponse, writeRequest } from '../../src/rtsp/message.js';
import { RtspParser } from '../../src/rtsp/parser.js';
import { parseTransport, writeTransport } from '../../src/rtsp/transport-header.js';

const transportText = (text: string): string => {
  const { lower, interleaved, clientPorts, serverPorts, source } = parseTransport(text);
  const pair = (of: { rtp: number; rtcp: number } | null): string =>
    of === null ? '-' : `${of.rtp}/${of.rtcp}`;
  return `${lower} ${pair(interleaved)} ${pair(clientPorts)} ${pair(serverPorts)} ${source}`;
};

test('quirk 10: Transport as cameras write it', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['RTP/AVP/TCP;unicast;interleaved=0-1', 'tcp 0/1 - - null'],
    ['RTP/AVP/TCP;ssrc=22345684;interleaved=2-3', 'tcp 2/3 - - null'],
    ['RTP/AVP/TCP;unicast;interleaved=0-1;ssrc= d6d6627', 'tcp 0/1 - - null'],
    ['RTP/AVP/TCP; unicast ; interleaved = 4 - 5 ;', 'tcp 4/5 - - null'],
    ['RTP/AVP/TCP;unicast;interleaved=6;mode="play"', 'tcp 6/7 - - null'],
    ['RTP/AVP/UDP;unicast;interleaved=0-1', 'tcp 0/1 - - null'],
    ['RTP/AVP/TCP;unicast', 'tcp - - - null'],
    ['RTP/AVP/TCP;interleaved=300-301', 'tcp - - - null'],
    [
      'RTP/AVP;unicast;client_port=5000-5001;server_port=6000-6001;source=10.0.0.2',
      'udp - 5000/5001 6000/6001 10.0.0.2',
    ],
    ['RTP/AVP;unicast;client_port=5000-5001', 'udp - 5000/5001 - null'],
    [
      'RTP/AVP;ssrc=22345685;unicast;client_port=54060-54061;server_port=49152',
      'udp - 54060/54061 49152/49153 null',
    ],
    ['RTP/AVP;server_port=0-0;client_port=1-2', 'udp - 1/2 - null'],
    ['RTP/SAVPF/TCP;unicast;client_port=4-5', 'null - 4/5 - null'],
    ['', 'null - - - null'],
    [';;=;', 'null - - - null'],
  ];
  for (const [text, expected] of cases) assert.equal(transportText(text), expected, text);
});

test('Transport round trip, and any text is read', () => {
  fc.assert(
    fc.property(fc.nat(127), (track) => {
      const pair = { rtp: track * 2, rtcp: track * 2 + 1 };
      assert.deepEqual(parseTransport(writeTransport('tcp', pair)).interleaved, pair);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void parseTransport(text)));
});

test('Session and Public', () => {
  assert.deepEqual(parseSession('       708345999;timeout=60'), { id: '708345999', timeoutMs: 60_000 });
  assert.deepEqual(parseSession('9a90de54; Timeout = 120 ;'), { id: '9a90de54', timeoutMs: 120_000 });
  assert.deepEqual(parseSession('a;timeout=0'), { id: 'a', timeoutMs: null });
  assert.deepEqual(parseSession('a;timeout=999999999'), { id: 'a', timeoutMs: 86_400_000 });
  assert.equal(parseSession(';timeout=60'), null);
  assert.equal(parseSession(null), null);
  assert.deepEqual(
    [...parsePublic(['OPTIONS, describe,,SETUP', 'PLAY x;y'])],
    ['OPTIONS', 'DESCRIBE', 'SETUP', 'PLAY'],
  );
});

test('a line end in what a camera told us never reaches a request', () => {
  assert.throws(() => writeRequest('SETUP', 'rtsp://x\r\nEvil: 1', []), { code: 'protocol_error' });
  assert.throws(() => writeRequest('SETUP', 'rtsp://x', [['Session', 'a\nb']]), { code: 'protocol_error' });
});

/** Answers of real cameras; they lie beside the repository, and the test is skipped without them. */
const folder = join(import.meta.dirname, '../../../../shared/data/rtsp-responses');

const responseIn = (bytes: Buffer): RtspResponse | null => {
  const found: RtspResponse[] = [];
  const parser = new RtspParser(
    { onInterleaved: () => {}, onResponse: (response) => void found.push(response), onRequest: () => {} },
    { garbageBytes: 0, unknownChannelFrames: 0 },
  );
  parser.feed(bytes, 0, bytes.length);
  return found[0] ?? null;
};

test('answers of real cameras', { skip: !existsSync(folder) }, () => {
  const names = readdirSync(folder);
  assert.equal(names.length, 43);
  const found: Record<string, string> = {};
  for (const name of names) {
    const bytes = readFileSync(join(folder, name));
    if (!bytes.subarray(0, 5).equals(Buffer.from('RTSP/'))) continue;
    const response = responseIn(bytes);
    assert.ok(response !== null, name);
    assert.ok(cseqOf(response.headers) !== null, name);
    if (!/_(setup|play)/.test(name)) continue;
    const session = parseSession(response.headers.get('session'));
    const transport = response.headers.get('transport');
    found[name] =
      `${session?.id} ${session?.timeoutMs} ${transport === null ? '' : transportText(transport)}`.trim();
  }
  assert.deepEqual(found, {
    'bunny_play.txt': '551045787 60000',
    'bunny_setup.txt': '1642021126 60000 tcp 0/1 - - null',
    'dahua_play.txt': '634214684047 null',
    'dahua_setup.txt': '634214675641 60000 tcp 0/1 - - null',
    'gw_main_play.txt': '9a90de54 120000',
    'gw_main_setup_audio.txt': '9a90de54 60000 tcp 2/3 - - 192.168.1.110',
    'gw_main_setup_video.txt': '9a90de54 60000 tcp 0/1 - - 192.168.1.110',
    'gw_sub_play.txt': '9b0d0e54 120000',
    'gw_sub_setup.txt': '9b0d0e54 60000 tcp 0/1 - - 192.168.1.110',
    'h264dvr_play.txt': '231970 null',
    'h264dvr_setup_audio.txt': '231980 60000 udp - 18716/18717 40006/40007 127.0.0.1',
    'h264dvr_setup_video.txt': '231970 60000 udp - 18714/18715 40004/40005 127.0.0.1',
    'hikvision_play.txt': '708345999 null',
    'hikvision_setup.txt': '708345999 60000 tcp 0/1 - - null',
    'hikvision_setup_ssrc_space.txt': '708886412 60000 tcp 0/1 - - null',
    'laureii_play.txt': '1234567890 null',
    'luckfox_rkipc_setup_tcp.txt': '12345678 null tcp 0/1 - - null',
    'luckfox_rkipc_setup_udp.txt': '12345678 null udp - 54060/54061 49152/49153 null',
    'reolink_play.txt': 'F8F8E425 null',
    'reolink_setup.txt': 'F8F8E425 null tcp 0/1 - - 192.168.5.206',
  });
});
