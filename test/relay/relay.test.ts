import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RingReader } from '../../src/ring/reader.js';
import { ByteRelay } from '../support/byte-relay.js';
import { cameraAt, FrameLog, type SeenFrame } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { generateVideo } from '../support/frame-generator.js';
import { copyOf } from '../support/ring.js';
import { until } from '../support/until.js';
import { Box, keyOf } from './boxes.js';

const mounts = { '/cam0': { video: fixtures.h264High(), audio: fixtures.aac() } };
const deadline = { deadlineMs: 30_000 };

/** What a frame is, apart from when it was taken for the first one. */
const factsOf = ({ hash, isVideo, isKey, wallMs, info }: SeenFrame) => ({
  ...{ hash, isVideo, isKey, wallMs },
  codecs: [info?.video.codecString, info?.audio?.codecString],
});

/** Both logs from the first frame of the later one on, as long as both go. */
const together = (first: FrameLog, second: FrameLog): [SeenFrame[], SeenFrame[]] => {
  const from = ({ frames }: FrameLog, begin: SeenFrame): SeenFrame[] => {
    const at = frames.findIndex(({ hash, wallMs }) => hash === begin.hash && wallMs === begin.wallMs);
    return at < 0 ? [] : frames.slice(at);
  };
  const [ours, theirs] = [from(first, second.frames[0]!), from(second, first.frames[0]!)];
  const both = ours.length > 0 ? ([ours, second.frames] as const) : ([first.frames, theirs] as const);
  const count = Math.min(...both.map(({ length }) => length));
  assert.ok(count > 60, 'one begins with a frame that the other one has');
  return [both[0].slice(0, count), both[1].slice(0, count)];
};

test('another box shows what the owner of a camera has, sound and times included, and asks for it when it is wanted', async () => {
  await using camera = await FakeCamera.start({ mounts });
  await using owner = await Box.start('owner');
  await using other = await Box.start('other');
  owner.engine.cameras.setAll([cameraAt('cam', camera.url(), { isOnDemand: true })]);
  other.engine.cameras.setAll([other.pulls('cam', owner)]);
  assert.equal(other.engine.cameras.get('cam')?.status().state, 'standby');
  assert.equal(owner.engine.cameras.get('cam')?.status().state, 'standby');
  using seen = new FrameLog(other.engine.cameras, 'cam');
  await other.engine.untilState('cam', 'streaming');
  using own = new FrameLog(owner.engine.cameras, 'cam');
  const isLong = ({ video, audio }: FrameLog): boolean => video.length > 60 && audio.length > 60;
  await until('some seconds are seen', () => isLong(own) && isLong(seen), deadline);
  const [theirs, ours] = together(own, seen);
  assert.deepEqual(ours.map(factsOf), theirs.map(factsOf));
  const apart = (frames: SeenFrame[]) => frames.map(({ ptsTicks, dtsTicks }) => ptsTicks - dtsTicks);
  assert.deepEqual(apart(ours), apart(theirs));
});

test('sound that is kept otherwise than it is sent comes as both', async () => {
  const sound = { '/cam0': { video: fixtures.h264High(), audio: fixtures.pcmu() } };
  await using camera = await FakeCamera.start({ mounts: sound });
  await using owner = await Box.start('owner');
  await using other = await Box.start('other');
  owner.engine.cameras.setAll([cameraAt('cam', camera.url())]);
  other.engine.cameras.setAll([other.pulls('cam', owner)]);
  using seen = new FrameLog(other.engine.cameras, 'cam');
  await until('it is heard', () => seen.audio.length > 100, deadline);
  const kept = new RingReader(other.engine.cameras.ring('cam')!, { start: 'latest-key', sound: 'kept' });
  await until('it is kept', () => kept.next() && kept.isAudio, deadline);
  assert.equal(copyOf(kept)?.readUInt16BE(0).toString(16).slice(0, 3), 'fff', 'a frame of FLAC');
});

test('a link that breaks costs no frame, and none is there twice', async () => {
  // Of 30 s: what is missed until there is another link is of the same one.
  const video = generateVideo({ kbps: 200, frameRateHz: 15, framesPerGop: 450, gops: 1 });
  await using camera = await FakeCamera.start({ mounts: { '/cam0': { video, audio: fixtures.aac() } } });
  await using owner = await Box.start('owner');
  await using other = await Box.start('other');
  owner.engine.cameras.setAll([cameraAt('cam', camera.url())]);
  using own = new FrameLog(owner.engine.cameras, 'cam');
  await owner.engine.untilState('cam', 'streaming');
  await using link = await ByteRelay.start(owner.relay.port);
  other.engine.cameras.setAll([other.pulls('cam', owner, link.port)]);
  using seen = new FrameLog(other.engine.cameras, 'cam');
  await until('pictures come', () => seen.video.length > 20, deadline);
  const reconnects = (): number => other.engine.cameras.get('cam')?.status().reconnects ?? 0;
  const reconnectsBefore = reconnects();
  link.cut();
  await until('it was noticed', () => reconnects() > reconnectsBefore, deadline);
  const before = seen.video.length;
  await until('pictures come again', () => seen.video.length > before + 30, deadline);
  const [theirs, ours] = together(own, seen);
  assert.deepEqual(ours.map(factsOf), theirs.map(factsOf));
  assert.ok(ours.every(({ discontinuity }) => !discontinuity));
});

const isOrdered = (times: readonly number[]): boolean =>
  times.every((time, at) => at === 0 || time > times[at - 1]!);

test('a camera that moves from box to box stays in one ring, where its time goes on', async () => {
  await using camera = await FakeCamera.start({ mounts });
  await using first = await Box.start('first');
  await using second = await Box.start('second');
  await using viewer = await Box.start('viewer');
  for (const { engine } of [first, second]) engine.cameras.setAll([cameraAt('cam', camera.url())]);
  const { cameras } = viewer.engine;
  cameras.setAll([viewer.pulls('cam', first)]);
  using seen = new FrameLog(cameras, 'cam');
  await until('pictures come', () => seen.video.length > 20, deadline);
  const ring = cameras.ring('cam');
  for (const move of [
    viewer.pulls('cam', second),
    cameraAt('cam', camera.url()),
    viewer.pulls('cam', first),
  ]) {
    cameras.setAll([move]);
    const before = seen.video.length;
    const changed = (): number => seen.video.findIndex((frame, at) => at >= before && frame.discontinuity);
    const goesOn = (): boolean => changed() >= 0 && seen.video.length > changed() + 15;
    await until('pictures go on', goesOn, deadline);
    assert.equal(seen.video[changed()]?.isKey, true);
  }
  assert.equal(cameras.ring('cam'), ring);
  assert.ok(isOrdered(seen.video.map(({ dtsTicks }) => dtsTicks)), 'media time goes on');
});

test('frames may come by other boxes, in no circle and by not too many', async (t) => {
  await using camera = await FakeCamera.start({ mounts });
  const names = ['a', 'b', 'c', 'd', 'e'];
  const chain = await Promise.all(names.map((name) => Box.start(name)));
  t.after(() => Promise.all(chain.map((box) => box[Symbol.asyncDispose]())));
  const [a, b, , d, e] = chain as [Box, Box, Box, Box, Box];
  a.engine.cameras.setAll([cameraAt('cam', camera.url())]);
  for (const [at, box] of chain.entries())
    if (at > 0) box.engine.cameras.setAll([box.pulls('cam', chain[at - 1]!)]);
  using seen = new FrameLog(d.engine.cameras, 'cam');
  await until('the fourth box has pictures', () => seen.video.length > 10, deadline);
  using tooFar = new FrameLog(e.engine.cameras, 'cam');
  await until('the fifth says why it has none', () =>
    /too many boxes: a, b, c, d/.test(e.engine.cameras.get('cam')?.status().lastError ?? ''),
  );
  assert.equal(tooFar.frames.length, 0);
  // Each now thinks that the other has it.
  a.engine.cameras.setAll([a.pulls('cam', b)]);
  await until(
    'nobody has it any more',
    () => /itself/.test(a.engine.cameras.get('cam')?.status().lastError ?? ''),
    deadline,
  );
  a.engine.cameras.setAll([cameraAt('cam', camera.url())]);
  const before = seen.video.length;
  await until('it comes again', () => seen.video.length > before + 20, { deadlineMs: 60_000 });
  const shown = seen.video.map(({ wallMs }) => wallMs);
  assert.ok(isOrdered(shown), 'nothing went round');
});

test('a box with another key is refused, and who has none learns nothing', async () => {
  await using camera = await FakeCamera.start({ mounts });
  await using owner = await Box.start('owner');
  await using stranger = await Box.start('stranger', keyOf('something else'));
  owner.engine.cameras.setAll([cameraAt('cam', camera.url())]);
  stranger.engine.cameras.setAll([stranger.pulls('cam', owner)]);
  using seen = new FrameLog(stranger.engine.cameras, 'cam');
  await until('it is told so', () =>
    /another CLUSTER_KEY/.test(stranger.engine.cameras.get('cam')?.status().lastError ?? ''),
  );
  await until('the owner says so', () =>
    owner.lines.some(({ message }) => message.includes('without the key')),
  );
  assert.equal(seen.frames.length, 0);
});

test('a link that stands still for a while goes on near the present, at a keyframe', async () => {
  await using camera = await FakeCamera.start({ mounts });
  await using owner = await Box.start('owner');
  await using other = await Box.start('other');
  owner.engine.cameras.setAll([cameraAt('cam', camera.url())]);
  using own = new FrameLog(owner.engine.cameras, 'cam');
  await using link = await ByteRelay.start(owner.relay.port);
  other.engine.cameras.setAll([other.pulls('cam', owner, link.port)]);
  using seen = new FrameLog(other.engine.cameras, 'cam');
  await until('pictures come', () => seen.video.length > 20, deadline);
  link.isStill = true;
  const ownBefore = own.video.length;
  await until('many are sent meanwhile', () => own.video.length > ownBefore + 90, deadline);
  link.isStill = false;
  const newest = own.video.at(-1)!;
  await until(
    'the present is seen',
    () => seen.video.some(({ wallMs }) => wallMs >= newest.wallMs),
    deadline,
  );
  const shown = own.video.map(({ wallMs }) => wallMs);
  const places = seen.video.map(({ wallMs }) => shown.indexOf(wallMs));
  const gap = places.findIndex((place, at) => at > 0 && place !== places[at - 1]! + 1);
  assert.ok(gap > 0, 'not all of it was sent');
  assert.equal(seen.video[gap]?.isKey, true);
});
