import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPartsPlaylist } from '../../native-free-bench/viewers/parts-playlist.js';

const playlist = [
  '#EXTM3U',
  '#EXT-X-MEDIA-SEQUENCE:40',
  '#EXT-X-MAP:URI="init_1.mp4"',
  '#EXT-X-SKIP:SKIPPED-SEGMENTS=2',
  '#EXTINF:2.0,',
  'segment_42.m4s',
  '#EXT-X-PART:DURATION=0.32,URI="part_43_0.m4s",INDEPENDENT=YES',
  '#EXT-X-PART:DURATION=0.32,URI="part_43_1.m4s"',
];

test('parts are counted within their segments, skipped ones included, and the next one is known', () => {
  const open = readPartsPlaylist(playlist.join('\n'));
  assert.deepEqual(open.parts, [
    { uri: 'part_43_0.m4s', segment: 43, part: 0 },
    { uri: 'part_43_1.m4s', segment: 43, part: 1 },
  ]);
  assert.deepEqual([open.map, open.variant, open.next], ['init_1.mp4', null, { segment: 43, part: 2 }]);
  const whole = readPartsPlaylist([...playlist, '#EXTINF:0.64,', 'segment_43.m4s'].join('\r\n'));
  assert.deepEqual(whole.next, { segment: 44, part: 0 });
});

test('a master manifest names its first variant', () => {
  const master =
    '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nvideo.m3u8?a=b\n#EXT-X-STREAM-INF:BANDWIDTH=2\nx.m3u8\n';
  assert.equal(readPartsPlaylist(master).variant, 'video.m3u8?a=b');
});
