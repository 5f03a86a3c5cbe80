import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixtures } from '../../support/fixtures.js';
import { generateVideo } from '../../support/frame-generator.js';
import { FIRST, fileBytes, HlsCamera, type HlsRig, isSettled, makeHls, viewer } from './hls-camera.js';
import { parse } from './playlist-reader.js';

type Playing = HlsRig & { readonly camera: HlsCamera };

const playing = async (seconds: number, video = fixtures.h264High()): Promise<Playing> => {
  const rig = makeHls();
  const camera = new HlsCamera(rig.clock, video, fixtures.aac());
  rig.cameras.set('door', camera);
  const first = rig.hls.lowLatency('door', viewer, null);
  camera.play(seconds);
  await first;
  return { ...rig, camera };
};

test('the low-latency playlist lists parts of a fifth of a second and hints at the next', async () => {
  const { hls } = await playing(7.5);
  const text = await hls.lowLatency('door', viewer, null);
  const { lowLatencyCompatibility, partTargetDuration, segments } = parse(text);
  assert.deepEqual(
    [lowLatencyCompatibility?.canBlockReload, lowLatencyCompatibility?.partHoldBack, partTargetDuration],
    [true, 1.02, 0.204],
  );
  assert.deepEqual(
    segments.map(({ parts }) => parts.length),
    [0, 10, 10, 8],
  );
  const [whole] = segments.slice(2);
  const sum = whole!.parts.reduce((total, { duration }) => total + duration!, 0);
  assert.ok(Math.abs(sum - whole!.duration) < 1e-9, 'parts add up to their segment');
  // Never over what they are: a player that finds a bit less buffered than was listed begins to load in circles.
  assert.ok(whole!.duration < 2 && whole!.duration > 1.9997);
  assert.deepEqual(
    whole!.parts.flatMap(({ independent }, index) => (independent ? [index] : [])),
    [0, 5],
  );
  assert.equal(segments[0]!.map?.uri, `init_${FIRST}.mp4`);
  assert.ok(text.endsWith(`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="part_${FIRST + 3}_7.m4s"\n`));
  hls.stop();
});

test('no part is listed as long as it is, however even its length', async () => {
  // Five frames at 25 a second are 0.2 s to the tick.
  const { hls } = await playing(5, generateVideo({ kbps: 200 }));
  const { segments } = parse(await hls.lowLatency('door', viewer, null));
  const durations = segments.flatMap(({ parts }) => parts.flatMap(({ duration }) => duration ?? []));
  assert.ok(durations.length > 12);
  assert.ok(durations.every((duration) => duration < 0.2 && duration > 0.2 - 0.0001));
  hls.stop();
});

test('no part but the last of its segment is far shorter than promised, whatever the frame rate', async () => {
  for (const frameRateHz of [
    2, 3, 3.5, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12.5, 14, 15, 20, 25, 29.97, 30, 50, 60,
  ]) {
    const framesPerGop = Math.round(2 * frameRateHz);
    const { hls } = await playing(9, generateVideo({ kbps: 200, frameRateHz, framesPerGop }));
    const { segments, partTargetDuration } = parse(await hls.lowLatency('door', viewer, null));
    const lengths = segments.flatMap(({ parts }) =>
      parts
        .filter(({ hint }) => !hint)
        .map(({ duration }, index) => ({ duration, isLast: index === parts.length - 1 })),
    );
    assert.ok(lengths.length > 4 && partTargetDuration! < 0.51);
    for (const { duration, isLast } of lengths) {
      const share = duration! / partTargetDuration!;
      assert.ok(share <= 1 && (isLast || share >= 0.85), `${frameRateHz} a second: ${duration}, ${share}`);
    }
    hls.stop();
  }
});

test('parts are what their segment is made of', async () => {
  const { hls } = await playing(5);
  const segment = await hls.file('door', `segment_${FIRST + 1}.m4s`, viewer);
  assert.equal(segment.pieces.length, 10);
  for (let index = 0; index < 10; index += 1) {
    const { pieces, contentType } = await hls.file('door', `part_${FIRST + 1}_${index}.m4s`, viewer);
    assert.equal(contentType, 'video/mp4');
    assert.equal(pieces[0]?.toString('latin1', 4, 8), 'moof');
    assert.equal(pieces[0], segment.pieces[index], 'the same memory, not a copy of it');
  }
  await assert.rejects(hls.file('door', `part_${FIRST + 1}_10.m4s`, viewer), { code: 'not_found' });
  await assert.rejects(hls.file('door', `part_${FIRST + 9}_0.m4s`, viewer), { code: 'not_found' });
  await assert.rejects(hls.file('door', `segment_${FIRST + 2}.m4s`, viewer), { code: 'not_found' });
  await assert.rejects(hls.file('door', `init_${FIRST + 7}.mp4`, viewer), { code: 'not_found' });
  hls.stop();
});

test('a reload waits for the part that it asks for, no longer', async () => {
  const { hls, camera } = await playing(4.5);
  const { segments } = parse(await hls.lowLatency('door', viewer, null));
  const open = segments.at(-1)!;
  const segment = open.mediaSequenceNumber;
  const part = open.parts.filter(({ hint }) => !hint).length;
  assert.equal(segment, FIRST + 2);
  const there = hls.lowLatency('door', viewer, { segment, part: part - 1 });
  assert.equal(await isSettled(there), true);
  const next = hls.lowLatency('door', viewer, { segment, part });
  assert.equal(await isSettled(next), false);
  camera.play(0.45);
  assert.equal(await isSettled(next), true);
  assert.match(await next, new RegExp(`URI="part_${segment}_${part}.m4s"`));
  const whole = hls.lowLatency('door', viewer, { segment, part: null });
  // A part that the segment will never have is the first one of the next segment.
  const beyond = hls.lowLatency('door', viewer, { segment, part: 10 });
  assert.equal(await isSettled(whole), false);
  camera.play(0.9);
  assert.equal(await isSettled(whole), false);
  camera.play(0.25);
  assert.equal(await isSettled(whole), true);
  assert.equal(await isSettled(beyond), false);
  camera.play(0.5);
  assert.ok((await beyond).includes(`URI="part_${FIRST + 3}_0.m4s"`));
  await assert.rejects(hls.lowLatency('door', viewer, { segment: FIRST + 5, part: 0 }), {
    code: 'bad_request',
  });
  hls.stop();
});

test('a part is told of within 10 ms of the frame behind it while parts are played', async () => {
  const rig = makeHls();
  const camera = new HlsCamera(rig.clock, generateVideo({ kbps: 200 }));
  rig.cameras.set('door', camera);
  const first = rig.hls.lowLatency('door', viewer, null);
  camera.play(2.5);
  await first;
  for (let part = 3; part < 9; part += 1) {
    const reload = rig.hls.lowLatency('door', viewer, { segment: FIRST + 1, part });
    // Frames are 40 ms apart: with the one that follows the part it is whole.
    const isBegun = (): boolean => camera.sent.at(-1)!.seconds >= 2 + (part + 1) * 0.2 - 0.001;
    while (!isBegun()) {
      assert.equal(await isSettled(reload), false);
      camera.play(0.005, 5);
    }
    camera.play(0.005, 5);
    assert.equal(await isSettled(reload), true, `part ${part}`);
  }
  rig.hls.stop();
});

test('the part that was hinted at may be asked for before it is there', async () => {
  const { hls, camera } = await playing(4.5);
  const text = await hls.lowLatency('door', viewer, null);
  const hinted = /PRELOAD-HINT:TYPE=PART,URI="(.*)"/.exec(text)![1]!;
  const asked = hls.file('door', hinted, viewer);
  await assert.rejects(hls.file('door', `part_${FIRST + 2}_5.m4s`, viewer), { code: 'not_found' });
  assert.equal(await isSettled(asked), false);
  camera.play(0.45);
  assert.equal((await asked).pieces[0]?.toString('latin1', 4, 8), 'moof');
  hls.stop();
});

test('a reload whose camera stops sending is let go after three target durations', async () => {
  const { hls, clock } = await playing(4.5);
  const asked = hls.lowLatency('door', viewer, { segment: FIRST + 3, part: 0 });
  assert.equal(await isSettled(asked), false);
  clock.advance(5_900);
  assert.equal(await isSettled(asked), false);
  clock.advance(200);
  await assert.rejects(asked, { code: 'no_picture' });
  // The playlist as it is can be had all the while.
  assert.ok(await hls.lowLatency('door', viewer, null));
  hls.stop();
});

test('a change of codec brings another init segment behind a discontinuity', async () => {
  const { hls, camera, clock } = await playing(4.5);
  const other = new HlsCamera(clock, fixtures.h265Main());
  for (const listener of camera.listeners) {
    listener({ ring: other.ring.rings[0]!, bell: new SharedArrayBuffer(128) });
  }
  other.play(4.5);
  const { segments } = parse(await hls.lowLatency('door', viewer, null));
  const maps = segments.map(({ map, discontinuity }) => `${map?.uri ?? ''} ${discontinuity ?? false}`);
  assert.equal(maps.indexOf(`init_${FIRST + 1}.mp4 true`), maps.lastIndexOf(`init_${FIRST}.mp4 false`) + 1);
  assert.ok((await fileBytes(hls, `init_${FIRST + 1}.mp4`)).includes('hvc1'));
  assert.ok((await fileBytes(hls, `init_${FIRST}.mp4`)).includes('avc1'));
  hls.stop();
});

test('a delta update leaves out what lies beyond six target durations, and says so', async () => {
  const { hls, camera } = await playing(7.5);
  const whole = await hls.lowLatency('door', viewer, null);
  assert.match(whole, /CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12,/);
  // Nothing is that far back yet: then the playlist comes whole.
  assert.equal(await hls.lowLatency('door', viewer, null, true), whole);
  camera.play(14);
  const all = await hls.lowLatency('door', viewer, null);
  const delta = await hls.lowLatency('door', viewer, null, true);
  const [, skipped] = /#EXT-X-SKIP:SKIPPED-SEGMENTS=(\d+)\n/.exec(delta)!;
  const filesOf = (text: string): string[] => text.split('\n').filter((line) => /^segment_/.test(line));
  assert.equal(filesOf(all).length, 8);
  assert.deepEqual(filesOf(delta), filesOf(all).slice(Number(skipped)));
  const { segments, mediaSequenceBase } = parse(all);
  assert.match(delta, new RegExp(`#EXT-X-MEDIA-SEQUENCE:${mediaSequenceBase}\n`));
  const listedSeconds = segments
    .slice(Number(skipped))
    .reduce(
      (sum, { duration, parts }) => sum + (duration || parts.reduce((s, p) => s + (p.duration ?? 0), 0)),
      0,
    );
  assert.ok(listedSeconds >= 12 && listedSeconds < 14, `${listedSeconds} s are listed`);
  // The first one that is listed says where its head is, though players know.
  assert.ok(delta.indexOf('#EXT-X-MAP') < delta.indexOf('segment_'));
  hls.stop();
});
