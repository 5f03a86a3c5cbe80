import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INFO_ENTRY_BYTES, RingMemory } from '../../../src/ring/layout.js';
import { FakeClock } from '../../support/fake-clock.js';
import { fixtures } from '../../support/fixtures.js';
import { generateVideo } from '../../support/frame-generator.js';
import { FIRST, HlsCamera, makeHls, viewer } from './hls-camera.js';
import { addressesOf, parse } from './playlist-reader.js';

const numberOf = (address: string): number => Number(/_(\d+)\./.exec(address)![1]);

test('nothing is done until somebody asks, and nothing a minute after the last request', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  const idleTimers = clock.pendingTimers;
  camera.play(5);
  assert.equal(camera.listeners.size, 0);
  await assert.rejects(hls.file('door', 'segment_0.ts', viewer), { code: 'not_found' });
  assert.equal(clock.pendingTimers, idleTimers, 'a request for a file wakes nobody');
  const first = hls.video('door', viewer);
  camera.play(4.5);
  const last = numberOf(addressesOf(parse(await first)).at(-1)!);
  camera.play(55);
  assert.equal(camera.listeners.size, 1);
  camera.play(6);
  assert.equal(camera.listeners.size, 0);
  assert.equal(clock.pendingTimers, idleTimers);
  await assert.rejects(hls.file('door', `segment_${last}.ts`, viewer), { code: 'not_found' });

  const again = hls.video('door', viewer);
  camera.play(5);
  const { segments } = parse(await again);
  assert.ok(numberOf(segments[0]!.uri) > last + 20, 'numbers go on');
  assert.equal(segments[0]!.discontinuity, true);
  hls.stop();
  assert.equal(camera.listeners.size, 0);
});

test('without lazy mode segments are there before anybody asks, and stay', async () => {
  const { clock, cameras, hls, alwaysOn } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  alwaysOn.push('door');
  camera.play(90);
  assert.equal(parse(await hls.video('door', viewer)).segments.length, 6);
  // Made lazy again, it rests a minute after the last request.
  alwaysOn.pop();
  camera.play(50);
  assert.equal(camera.listeners.size, 1);
  camera.play(15);
  assert.equal(camera.listeners.size, 0);
  hls.stop();
});

test('without a picture the first request waits ten seconds and is told to come back', async () => {
  const { clock, cameras, hls } = makeHls();
  cameras.set('door', new HlsCamera(clock, fixtures.h264High()));
  const asked = [
    hls.master('door', viewer),
    hls.video('door', viewer),
    hls.subtitles('door', viewer),
    hls.lowLatency('door', viewer, null),
  ];
  let settled = 0;
  for (const request of asked) void request.catch(() => {}).finally(() => (settled += 1));
  clock.advance(9_900);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(settled, 0);
  clock.advance(200);
  for (const request of asked) {
    await assert.rejects(request, { code: 'no_picture', details: { retryAfterSec: 2 } });
  }
  hls.stop();
});

test('what a camera left behind when it went away is not shown as live', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  camera.play(3.5);
  camera.away(60);
  const asked = hls.video('door', viewer);
  camera.play(4.5);
  const { segments } = parse(await asked);
  assert.deepEqual(
    segments.map(({ duration }) => duration),
    [2, 2],
  );
  hls.stop();
});

test('a camera that is deleted ends what waits, and its numbers are not given again', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  await assert.rejects(hls.video('unknown', viewer), { code: 'not_found' });
  const first = hls.video('door', viewer);
  camera.play(5);
  await first;
  const waiting = hls.lowLatency('door', viewer, { segment: FIRST + 3, part: null });
  cameras.delete('door');
  camera.remove();
  await assert.rejects(waiting, { code: 'not_found' });
  await assert.rejects(hls.video('door', viewer), { code: 'not_found' });
  const another = new HlsCamera(clock, fixtures.h265Main());
  cameras.set('door', another);
  const again = hls.video('door', viewer);
  another.play(5);
  const [segment] = parse(await again).segments;
  assert.ok(numberOf(segment!.uri) >= FIRST + 3);
  hls.stop();
});

test('a camera that is switched off has no picture; switched on again it goes on', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  const first = hls.video('door', viewer);
  camera.play(5);
  const last = numberOf(addressesOf(parse(await first)).at(-1)!);
  camera.ring.writer.close();
  camera.play(0.5);
  const none = hls.video('door', viewer);
  clock.advance(10_000);
  await assert.rejects(none, { code: 'no_picture' });
  const back = new HlsCamera(clock, fixtures.h264High());
  for (const listener of camera.listeners) {
    listener({ ring: back.ring.rings.at(-1)!, bell: new SharedArrayBuffer(128) });
  }
  const again = hls.video('door', viewer);
  back.play(5);
  const { segments } = parse(await again);
  assert.ok(numberOf(segments[0]!.uri) > last);
  assert.equal(segments[0]!.discontinuity, true);
  hls.stop();
});

test('viewers are told apart by session, or else by address and kind of stream', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  const first = hls.video('door', viewer);
  camera.play(5);
  await first;
  assert.equal(hls.viewers('door'), 1);
  await hls.subtitles('door', viewer);
  await hls.master('door', { ...viewer, clientAddress: '192.0.2.9' });
  await hls.subtitles('door', { ...viewer, clientAddress: '192.0.2.9' });
  assert.equal(hls.viewers('door'), 1, 'subtitles are read beside either kind');
  await hls.lowLatency('door', viewer, null);
  await hls.video('door', { ...viewer, session: 'one' });
  await hls.lowLatency('door', { ...viewer, session: 'one' }, null);
  await hls.video('door', { ...viewer, session: 'two' });
  await hls.video('door', { ...viewer, clientAddress: '192.0.2.2' });
  assert.equal(hls.viewers('door'), 5);
  camera.play(9);
  await hls.video('door', { ...viewer, session: 'two' });
  camera.play(2);
  assert.equal(hls.viewers('door'), 1);
  assert.equal(hls.viewers('other'), 0);
  hls.stop();
});

test('what one camera breaks stays its own', async () => {
  const { clock, cameras, hls, errors } = makeHls();
  const good = new HlsCamera(clock, fixtures.h264High());
  const bad = new HlsCamera(clock, fixtures.h264High());
  cameras.set('bad', bad);
  cameras.set('good', good);
  // A description that nobody can read.
  const { info } = new RingMemory(bad.ring.writer.ring);
  for (let at = 0; at < info.length; at += INFO_ENTRY_BYTES) info.fill('x', at + 8, at + INFO_ENTRY_BYTES);
  const asked = [hls.video('bad', viewer), hls.video('good', viewer)] as const;
  bad.play(1);
  good.play(5);
  assert.equal(parse(await asked[1]).segments.length, 2);
  await assert.rejects(asked[0], { code: 'no_picture' });
  assert.match(errors.join(), /live HLS of a camera failed.*"camera_id":"bad"/);
  assert.equal(bad.listeners.size, 0);
  hls.stop();
});

test('after a restart the service counts on from higher numbers, so that players which outlive it go on', async () => {
  const clock = new FakeClock();
  const serve = async (): Promise<readonly number[]> => {
    const { cameras, hls } = makeHls(clock);
    const camera = new HlsCamera(clock, fixtures.h264High());
    cameras.set('door', camera);
    const asked = hls.video('door', viewer);
    camera.play(31);
    await asked;
    const video = parse(await hls.video('door', viewer));
    const text = await hls.lowLatency('door', viewer, null);
    const init = Number(/init_(\d+)\.mp4/.exec(text)?.[1]);
    hls.stop();
    return [video.mediaSequenceBase ?? 0, init];
  };
  const before = await serve();
  clock.advance(2_000);
  const after = await serve();
  for (const [index, number] of after.entries()) {
    assert.ok(number > (before[index] ?? 0) + 6, `${number} after ${before[index]}`);
    assert.ok(number < 2 ** 31);
  }
});

test('whoever asks for a segment that is on its way to somebody is sent the same memory', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  cameras.set('door', camera);
  void hls.video('door', viewer);
  camera.play(11);
  const names = addressesOf(parse(await hls.video('door', viewer)));
  assert.ok(names.length >= 4);
  const pieceOf = async (name: string) => (await hls.file('door', name, viewer)).pieces[0];
  const held = await Promise.all(names.map(pieceOf));
  for (const [index, name] of names.entries()) assert.equal(await pieceOf(name), held[index], name);
  hls.stop();
});

test('a camera that is connected for its viewers is let go of as soon as they have gone', async () => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High());
  camera.isOnDemand = true;
  cameras.set('sim', camera);
  const first = hls.video('sim', viewer);
  camera.play(4.5);
  await first;
  camera.play(5);
  assert.deepEqual([camera.listeners.size, hls.viewers('sim')], [1, 1]);
  camera.play(6);
  assert.deepEqual([camera.listeners.size, hls.viewers('sim')], [0, 0]);
  hls.stop();
});

test('cameras for which there is no memory are refused, until those that nobody plays any more give way', async () => {
  const clock = new FakeClock();
  // Room for two that begin.
  const { cameras, hls, alwaysOn } = makeHls(clock, 9 << 20);
  for (const id of ['a', 'b', 'c', 'd']) cameras.set(id, new HlsCamera(clock, fixtures.h264High()));
  alwaysOn.push('a', 'b', 'c');
  clock.advance(1_000);
  const begun = (): string =>
    [...cameras].map(([id, { listeners }]) => (listeners.size === 1 ? id : '')).join('');
  assert.equal(begun(), 'ab', 'no more than there is room for');
  const asked = async (id: string): Promise<string> => {
    const playlist = hls.lowLatency(id, viewer, null);
    cameras.get(id)!.play(2.5);
    return playlist;
  };
  await asked('d');
  assert.equal(begun(), 'bd', 'one that nobody plays gives way');
  await asked('c');
  assert.equal(begun(), 'cd');
  await assert.rejects(hls.video('a', viewer), { code: 'no_picture', details: { retryAfterSec: 10 } });
  assert.equal(begun(), 'cd', 'those that are played stay');
  clock.advance(11_000);
  await asked('a');
  assert.match(begun(), /^a[cd]$/);
  hls.stop();
});

test('where memory is short all cameras keep fewer segments, though enough to play', async () => {
  const clock = new FakeClock();
  const { cameras, hls } = makeHls(clock, 11 << 20);
  const video = generateVideo({ kbps: 4_000 });
  for (const id of ['a', 'b']) cameras.set(id, new HlsCamera(clock, video));
  for (const [id, camera] of cameras) {
    const first = hls.video(id, viewer);
    camera.play(5);
    await first;
  }
  for (let passed = 0; passed < 30; passed += 1) for (const camera of cameras.values()) camera.play(0.5);
  for (const id of cameras.keys()) {
    const { length } = addressesOf(parse(await hls.video(id, viewer)));
    assert.ok(length >= 3 && length < 6, `${length} segments`);
  }
  hls.stop();
});
