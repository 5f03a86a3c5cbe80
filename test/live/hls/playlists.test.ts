import assert from 'node:assert/strict';
import { test } from 'node:test';
import { START_OFFSET_TICKS } from '../../../src/mpegts/timestamp.js';
import { fixtures } from '../../support/fixtures.js';
import { generateVideo } from '../../support/frame-generator.js';
import { parseWebVtt } from '../../support/webvtt.js';
import { FIRST, fileBytes, HlsCamera, isSettled, makeHls, viewer } from './hls-camera.js';
import { addressesOf, parse } from './playlist-reader.js';

const session = 'a-session_of/odd?letters';

test('the window slides: six segments of two seconds, with their times, numbered on and on', async () => {
  const { clock, cameras, hls } = makeHls();
  const startMs = clock.wallMs();
  const camera = new HlsCamera(clock, fixtures.h264High(), fixtures.aac());
  cameras.set('door', camera);
  const first = hls.video('door', { ...viewer, session });
  camera.play(2.5);
  await hls.master('door', viewer);
  // One segment alone would soon be played: with a second one a player can do.
  assert.equal(await isSettled(first), false);
  camera.play(2);
  const suffix = `?session=${encodeURIComponent(session)}`;
  assert.deepEqual(addressesOf(parse(await first)), [
    `segment_${FIRST}.ts${suffix}`,
    `segment_${FIRST + 1}.ts${suffix}`,
  ]);
  camera.play(18);
  const playlist = parse(await hls.video('door', viewer));
  assert.equal(playlist.mediaSequenceBase, FIRST + 5);
  assert.equal(playlist.targetDuration, 2);
  assert.equal(playlist.discontinuitySequenceBase ?? 0, 0);
  assert.deepEqual(
    addressesOf(playlist),
    [5, 6, 7, 8, 9, 10].map((number) => `segment_${FIRST + number}.ts`),
  );
  for (const [index, { duration, programDateTime, discontinuity }] of playlist.segments.entries()) {
    assert.equal(duration, 2);
    assert.equal(discontinuity ?? false, false);
    // The fake clock moves by 50 ms, and frames are written as it does.
    const offMs = programDateTime!.getTime() - startMs - (5 + index) * 2_000;
    assert.ok(Math.abs(offMs) <= 100, `segment ${index} is dated ${offMs} ms off`);
  }
  // What has just left the playlist may still be asked for; what is long gone may not.
  assert.ok((await fileBytes(hls, `segment_${FIRST + 3}.ts`)).length > 0);
  await assert.rejects(hls.file('door', `segment_${FIRST}.ts`, viewer), { code: 'not_found' });
  await assert.rejects(hls.file('door', `segment_${FIRST + 11}.ts`, viewer), { code: 'not_found' });
  await assert.rejects(hls.file('door', 'passwd', viewer), { code: 'not_found' });
  hls.stop();
});

test('subtitles go beside the video: same numbers, same times, valid and empty', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  const first = hls.subtitles('door', viewer);
  camera.play(9);
  await first;
  const video = parse(await hls.video('door', viewer));
  const subtitles = parse(await hls.subtitles('door', viewer));
  assert.deepEqual(
    subtitles.segments.map(({ uri, duration, programDateTime }) => [uri, duration, programDateTime]),
    video.segments.map(({ uri, duration, programDateTime }) => [
      uri.replace('segment_', 'subs_').replace('.ts', '.vtt'),
      duration,
      programDateTime,
    ]),
  );
  assert.equal(subtitles.mediaSequenceBase, video.mediaSequenceBase);
  const { pieces, contentType } = await hls.file('door', `subs_${FIRST + 2}.vtt`, viewer);
  assert.equal(contentType, 'text/vtt; charset=utf-8');
  const text = Buffer.concat(pieces).toString();
  const stamp = START_OFFSET_TICKS + 4 * 90_000;
  assert.equal(text, `WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:${stamp}\n\n`);
  const { cues, errors } = parseWebVtt(text);
  assert.deepEqual([cues, errors], [[], []]);
  hls.stop();
});

test('what is said of a picture is shown from when it was taken to the next one, in each segment that it lasts', async () => {
  const { clock, cameras, hls, remarks } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  const first = hls.subtitles('door', viewer);
  camera.play(13);
  await first;
  const { segments } = parse(await hls.video('door', viewer));
  const startMs = segments[0]!.programDateTime!.getTime();
  const remark = (seconds: number, text: string | null) => ({
    ...{ wallMs: startMs + seconds * 1_000, source: 'model' },
    text,
  });
  remarks.push(remark(-9, 'long ago'), remark(-1, 'a'), remark(0.5, 'b'), remark(1.5, null));
  remarks.push(remark(3.25, 'c'), remark(3.75, 'd'), remark(99, 'later'));
  const cuesOf = async (index: number): Promise<string[]> => {
    const name = segments[index]!.uri.replace('segment_', 'subs_').replace('.ts', '.vtt');
    const text = Buffer.concat((await hls.file('door', name, viewer)).pieces).toString();
    const parsed = parseWebVtt(text);
    assert.deepEqual(parsed.errors, []);
    // Frames are written in beats, so that segments begin up to 50 ms early.
    const quarters = (seconds: number): number => Math.round(seconds * 4) / 4;
    return parsed.cues.map((cue) => `${quarters(cue.startTime)}-${quarters(cue.endTime)} ${cue.text}`);
  };
  assert.deepEqual(await cuesOf(0), ['0-0.5 a', '0.5-1.5 b']);
  assert.deepEqual(await cuesOf(1), ['1.25-1.75 c', '1.75-2 d']);
  assert.deepEqual(await cuesOf(2), ['0-2 d']);
  assert.deepEqual(await cuesOf(3), ['0-2 d']);
  assert.deepEqual(await cuesOf(4), ['0-0.75 d'], '5 s at most');
  hls.stop();
});

test('keyframes ten seconds apart make segments of ten seconds', async () => {
  const { clock, cameras, hls, errors } = makeHls();
  const video = generateVideo({ framesPerGop: 250, gops: 1, kbps: 200 });
  const camera = new HlsCamera(clock, video);
  cameras.set('door', camera);
  camera.play(1);
  const first = hls.lowLatency('door', viewer, null);
  camera.play(21);
  assert.ok(await first);
  const playlist = parse(await hls.video('door', viewer));
  assert.equal(playlist.targetDuration, 10);
  assert.deepEqual(
    playlist.segments.map(({ duration }) => duration),
    [10, 10],
  );
  assert.deepEqual(errors, []);
  hls.stop();
});

test('a camera that sends no second keyframe gets its segments cut all the same', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, generateVideo({ framesPerGop: 2_000, gops: 1, kbps: 100 }));
  cameras.set('door', camera);
  await Promise.all([assert.rejects(hls.video('door', viewer), { code: 'no_picture' }), camera.play(31)]);
  const alone = hls.video('door', viewer);
  // It waits for a second segment, but not for long.
  assert.equal(await isSettled(alone), false);
  camera.play(3.1);
  assert.deepEqual(
    parse(await alone).segments.map(({ duration }) => duration),
    [30],
  );
  hls.stop();
});

test('a camera that comes back goes on with a discontinuity, which is counted as it leaves', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High(), fixtures.aac());
  cameras.set('door', camera);
  const first = hls.video('door', viewer);
  camera.play(5);
  await first;
  camera.away(20);
  camera.play(6.5);
  for (const text of [await hls.video('door', viewer), await hls.lowLatency('door', viewer, null)]) {
    const { segments } = parse(text);
    assert.deepEqual(
      segments.filter(({ uri }) => uri !== '').map(({ discontinuity }) => discontinuity ?? false),
      [false, false, false, true, false, false],
    );
    const gapMs = segments[3]!.programDateTime!.getTime() - segments[2]!.programDateTime!.getTime();
    assert.ok(gapMs > 20_000, 'the date jumps with it');
    // The last segment before ends with its last picture: the time away isn't in it.
    assert.ok(segments[2]!.duration <= 1.05);
  }
  camera.play(8);
  const { segments, discontinuitySequenceBase } = parse(await hls.video('door', viewer));
  assert.equal(discontinuitySequenceBase, 1);
  assert.ok(segments.every(({ discontinuity }) => !discontinuity));
  hls.stop();
});

test('who plays the sub-stream takes its name along, beside the session', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door/sub', camera);
  const sub = { ...viewer, stream: 'sub' } as const;
  const asked = [hls.master('door/sub', { ...sub, session: 'abc' }), hls.video('door/sub', sub)] as const;
  camera.play(5);
  const children = (await asked[0]).split('\n').filter((line) => line.includes('.m3u8?'));
  assert.equal(children.length, 3);
  for (const child of children) assert.match(child, /\.m3u8\?session=abc&stream=sub"?$/);
  const addresses = addressesOf(parse(await asked[1]));
  assert.ok(addresses.length > 0 && addresses.every((address) => address.endsWith('.ts?stream=sub')));
  const parts = await hls.lowLatency('door/sub', sub, null);
  const uris = [...parts.matchAll(/URI="([^"]+)"/g)].map((match) => match[1]!);
  assert.ok(uris.length > 3 && uris.every((uri) => uri.endsWith('?stream=sub')));
  hls.stop();
});
