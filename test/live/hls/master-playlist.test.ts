import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AudioStream, VideoStream } from '../../support/elementary-stream.js';
import { fixtures } from '../../support/fixtures.js';
import { generateVideo } from '../../support/frame-generator.js';
import { FIRST, fileBytes, HlsCamera, type HlsRig, makeHls, viewer } from './hls-camera.js';
import { parseMaster } from './playlist-reader.js';

const opened = async (
  video: VideoStream,
  audio: AudioStream | null,
  seconds = 8.5,
): Promise<HlsRig & { readonly master: string }> => {
  const rig = makeHls();
  const camera = new HlsCamera(rig.clock, video, audio);
  rig.cameras.set('door', camera);
  const first = rig.hls.master('door', viewer);
  camera.play(seconds);
  await first;
  return { ...rig, master: await rig.hls.master('door', viewer) };
};

test('the master manifest lists MPEG-TS as the interface says, and parts behind it', async () => {
  const { hls, master } = await opened(fixtures.h264High(), fixtures.aac());
  const lines = master.split('\n');
  assert.deepEqual(lines.slice(0, 4), [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="AI Detections",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,LANGUAGE="en",URI="subs.m3u8"',
  ]);
  assert.ok(lines[4]!.startsWith('#EXT-X-STREAM-INF:BANDWIDTH=4000000,SUBTITLES="subs",'));
  assert.equal(lines[5], 'stream.m3u8');
  assert.equal(lines.filter((line) => line.includes('BANDWIDTH=4000000')).length, 1);
  const { variants } = parseMaster(master);
  assert.deepEqual(
    variants.map(({ uri, codecs, resolution, frameRate }) => [
      uri,
      codecs,
      `${resolution?.width}x${resolution?.height}`,
      frameRate,
    ]),
    ['stream.m3u8', 'll.m3u8'].map((uri) => [uri, 'avc1.64000c,mp4a.40.2', '320x180', 15]),
  );
  assert.deepEqual(
    [variants[0]!.score, variants[1]!.score],
    [1, 2],
    'a player that goes by scores takes the parts',
  );
  assert.match(lines[4]!, /,PATHWAY-ID="segments"$/);
  assert.doesNotMatch(lines[6]!, /PATHWAY-ID/);
  const handedOn = await hls.master('door', { ...viewer, session: 'abc' });
  for (const name of ['subs', 'stream', 'll']) assert.ok(handedOn.includes(`${name}.m3u8?session=abc`), name);
  hls.stop();
});

test('bandwidths are those of the bytes that players load', async () => {
  const { hls, master } = await opened(fixtures.h264High(), fixtures.aac());
  const rates = async (extension: string): Promise<number[]> =>
    await Promise.all(
      [0, 1, 2, 3].map(
        async (index) => (await fileBytes(hls, `segment_${FIRST + index}.${extension}`)).length * 4,
      ),
    );
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const { variants } = parseMaster(master);
  const mp4 = await rates('m4s');
  const told = variants[1]!;
  assert.ok(Math.abs(told.averageBandwidth! - mean(mp4)) <= 1);
  assert.ok(Math.abs(told.bandwidth - Math.max(...mp4)) <= 1);
  const off = variants[0]!.averageBandwidth! / mean(await rates('ts'));
  assert.ok(off > 0.93 && off < 1.07, `${off} of what MPEG-TS takes`);
  hls.stop();
});

test('sound that MPEG-TS can not carry is told of parts alone; H.265 by its own name', async () => {
  const opus: AudioStream = {
    ...fixtures.aac(),
    track: {
      codec: 'opus',
      clockRateHz: 48_000,
      channels: 2,
      config: new Uint8Array(0),
      codecString: 'opus',
    },
    clockRateHz: 48_000,
  };
  const { hls, master } = await opened(fixtures.h265Main(), opus);
  const [segments, parts] = parseMaster(master).variants;
  assert.match(segments!.codecs!, /^hvc1\.1\.6\.L\d+[.0-9A-F]*$/);
  assert.equal(parts!.codecs, `${segments!.codecs},opus`);
  hls.stop();
});

test('segments that begin without a keyframe are not called independent', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, generateVideo({ framesPerGop: 2_000, gops: 1, kbps: 100 }));
  cameras.set('door', camera);
  await Promise.all([assert.rejects(hls.master('door', viewer), { code: 'no_picture' }), camera.play(31)]);
  assert.match(await hls.master('door', viewer), /INDEPENDENT/);
  camera.play(30);
  assert.doesNotMatch(await hls.master('door', viewer), /INDEPENDENT/);
  hls.stop();
});
