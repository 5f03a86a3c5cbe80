import assert from 'node:assert/strict';
import { test } from 'node:test';
import { l16Track } from '../../../src/codec/audio-track.js';
import { frameFlag } from '../../../src/ring/frame-flag.js';
import { stampOf, streamInfo } from '../../support/ring.js';
import { until } from '../../support/until.js';
import { FRAME_MS } from '../test-camera.js';
import { numberOf, WallRig } from './wall-rig.js';

const numbersFrom = (first: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => first + at);

test('a page gets each tile described, its newest keyframe, and all that follows', async () => {
  await using rig = await WallRig.start();
  const [door, yard] = [rig.addCamera('door'), rig.addCamera('yard')];
  for (let frame = 0; frame < 25; frame += 1) {
    door.write(frame % 10 === 0, 30_000);
    yard.write(frame % 10 === 0);
  }
  const page = await rig.open();
  const rev = page.show([
    { tile: 1, camera: 'door' },
    { tile: 2, camera: 'yard' },
  ]);
  await rig.run(400);
  for (let frame = 25; frame < 60; frame += 1) {
    door.write(frame % 10 === 0, frame === 30 ? 90_000 : 600);
    yard.write(frame % 10 === 0);
    await rig.run(FRAME_MS);
  }
  const [first, second] = [page.tile(1), page.tile(2)];
  assert.deepEqual([first?.['rev'], first?.['mode'], first?.['sound']], [rev, 'all', null]);
  assert.notEqual(first?.['stream'], second?.['stream']);
  for (const tile of [first, second]) {
    const frames = page.framesOf(tile?.['stream']);
    assert.deepEqual(frames.map(numberOf), numbersFrom(20, 40));
    assert.deepEqual(
      frames.map(({ index }) => index),
      numbersFrom(20, 40),
    );
    assert.deepEqual(frames.filter(({ isKey }) => isKey).map(numberOf), [20, 30, 40, 50]);
    const config = page.configs.find(({ stream }) => stream === tile?.['stream']);
    assert.deepEqual(
      [config?.width, config?.height, config?.rate, config?.codec],
      [1920, 1080, 25_000, 'avc1.64001f'],
    );
    assert.deepEqual(
      config?.bytes,
      Buffer.concat([Buffer.of(0, 0, 0, 1), Buffer.alloc(20, 1), Buffer.of(0, 0, 0, 1, 0x68, 1)]),
    );
  }
  assert.equal(page.frames.find((frame) => numberOf(frame) === 30)?.bytes.length, 90_004);
  assert.deepEqual([rig.walls.viewers('door'), rig.walls.droppedFrames('door')], [1, 0]);
  assert.deepEqual(page.faults, []);
});

test('two tiles of one stream get its frames once, two pages the same number', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  camera.write(true);
  const [page, other] = [await rig.open(), await rig.open()];
  page.show([
    { tile: 1, camera: 'door' },
    { tile: 2, camera: 'door', mode: 'key' },
  ]);
  other.show([{ tile: 9, camera: 'door', stream: 'sub' }]);
  await rig.run(100);
  camera.write(false);
  await rig.run(100);
  assert.equal(page.tile(1)?.['stream'], page.tile(2)?.['stream']);
  assert.equal(
    page.tile(1)?.['stream'],
    other.tile(9)?.['stream'],
    'without a sub-stream that is the main one',
  );
  assert.deepEqual(
    [page.frames.map(numberOf), other.frames.map(numberOf)],
    [
      [0, 1],
      [0, 1],
    ],
  );
  assert.equal(rig.walls.viewers('door'), 3);
});

test('of keyframes alone a tile gets the newest one at once; all frames follow gaplessly when it wants them', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  for (let frame = 0; frame < 15; frame += 1) camera.write(frame % 10 === 0);
  const page = await rig.open();
  page.show([{ tile: 1, camera: 'door', mode: 'key' }]);
  await rig.run(100);
  for (let frame = 15; frame < 25; frame += 1) camera.write(frame % 10 === 0);
  await rig.run(100);
  assert.deepEqual(page.frames.map(numberOf), [10, 20]);
  page.show([{ tile: 1, camera: 'door', mode: 'all' }]);
  await rig.run(100);
  camera.write(false);
  await rig.run(100);
  assert.deepEqual(page.frames.map(numberOf), [10, 20, 21, 22, 23, 24, 25]);
  page.show([{ tile: 1, camera: 'door', mode: 'off' }]);
  await rig.run(100);
  camera.write(true);
  await rig.run(100);
  assert.equal(page.frames.length, 7);
  assert.deepEqual([page.tile(1)?.['mode'], page.tile(1)?.['stream']], ['off', null]);
  assert.deepEqual(
    [rig.walls.viewers('door'), rig.walls.droppedFrames('door'), page.textsOf('lost')],
    [0, 0, []],
  );
  assert.equal(camera.followers, 0);
});

test('a tile goes over to another stream with its keyframe, is told before, and keeps the old one until then', async () => {
  await using rig = await WallRig.start();
  const main = rig.addCamera('door');
  const sub = rig.addCamera('door/sub');
  main.write(true);
  const page = await rig.open();
  page.show([{ tile: 1, camera: 'door' }]);
  await rig.run(100);
  const before = page.tile(1)?.['stream'];
  const rev = page.show([{ tile: 1, camera: 'door', stream: 'sub' }]);
  for (let frame = 1; frame < 8; frame += 1) {
    main.write(false);
    await rig.run(FRAME_MS);
  }
  assert.deepEqual(
    [page.tile(1)?.['rev'], page.tile(1)?.['stream']],
    [rev, before],
    'it has no keyframe yet',
  );
  assert.equal(rig.walls.viewers('door/sub'), 1);
  sub.write(true, 90_000);
  await rig.run(FRAME_MS);
  for (let frame = 1; frame < 5; frame += 1) {
    main.write(false);
    sub.write(false);
    await rig.run(FRAME_MS);
  }
  const after = page.tile(1)?.['stream'];
  assert.notEqual(after, before);
  assert.deepEqual(
    page.framesOf(before).map(numberOf),
    numbersFrom(0, 8),
    'no frame is missing of the old stream',
  );
  assert.deepEqual(page.framesOf(after).map(numberOf), numbersFrom(0, 5), 'nor of the new one');
  assert.equal(
    page.framesOf(after)[0]?.bytes.length,
    90_004,
    'though what was told before it took memory, too',
  );
  const told = page.news.findIndex((news) => news.kind === 'text' && news.text['stream'] === after);
  const firstNew = page.news.findIndex((news) => news.kind !== 'text' && streamOf(news) === after);
  const lastOld = page.news.findLastIndex((news) => news.kind === 'frame' && news.frame.stream === before);
  assert.ok(lastOld < told && told < firstNew, JSON.stringify({ lastOld, told, firstNew }));
  assert.equal(rig.walls.viewers('door'), 0);
  // And back: the main stream has a keyframe already.
  main.write(true);
  page.show([{ tile: 1, camera: 'door', stream: 'main' }]);
  await rig.run(100);
  assert.equal(page.tile(1)?.['stream'], before, 'it has the number that it had');
  assert.equal(numberOf(page.framesOf(before).at(-1)!), 12);
  assert.deepEqual(page.faults, []);
});

const streamOf = (
  news: { kind: 'frame'; frame: { stream: number } } | { kind: 'config'; config: { stream: number } },
): number => (news.kind === 'frame' ? news.frame.stream : news.config.stream);

test('who may not see a camera is told in its tile; withdrawn access ends that tile alone', async () => {
  await using rig = await WallRig.start();
  const [door, yard] = [rig.addCamera('door'), rig.addCamera('yard')];
  rig.addCamera('secret');
  rig.addCamera('dark');
  rig.forbidden.set('secret', 'forbidden');
  door.write(true);
  yard.write(true);
  const page = await rig.open();
  const cameras = ['door', 'yard', 'secret', 'unknown', 'dark'];
  const tiles = cameras.map((camera, tile) => ({ tile, camera }));
  page.show(tiles);
  await rig.run(100);
  const codes = () =>
    tiles.map(({ tile }) => (page.tile(tile)?.['problem'] as { code?: string })?.code ?? null);
  assert.deepEqual(codes(), [null, null, 'forbidden', 'not_found', 'no_picture']);
  rig.end('door', 'access_withdrawn');
  for (const camera of [door, yard]) camera.write(false);
  await rig.run(100);
  assert.deepEqual(codes(), ['forbidden', null, 'forbidden', 'not_found', 'no_picture']);
  const [ofDoor, ofYard] = [page.framesOf(1), page.framesOf(3)];
  assert.deepEqual([ofDoor.length, ofYard.length], [1, 2]);
  assert.equal(door.followers, 0);
  // Said anew, it is tried anew.
  page.show(tiles);
  await rig.run(100);
  assert.deepEqual(codes(), [null, null, 'forbidden', 'not_found', 'no_picture']);
  rig.cameras.get('dark')?.write(true);
  await rig.run(100);
  assert.equal(codes()[4], null, 'a camera that has a picture at last is shown');
  yard.delete();
  rig.walls.closeCamera('yard');
  await rig.run(100);
  assert.equal(codes()[1], 'not_found');
  assert.deepEqual([page.closedWith, page.faults], [null, []]);
  rig.end(null, 'access_withdrawn');
  assert.equal(await page.untilClosed(), 4403);
  await until('all places are given back', () => rig.places.size === 0);
  assert.equal(rig.clock.pendingTimers, 0);
});

test('a camera that is switched off and on goes on in the same stream; a larger ring loses nothing', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door', { slotCount: 16, maxSlotCount: 1024 });
  const page = await rig.open();
  page.show([{ tile: 1, camera: 'door' }]);
  for (let frame = 0; frame < 100; frame += 1) {
    camera.write(frame === 0);
    await rig.run(FRAME_MS);
  }
  camera.restart();
  for (let frame = 100; frame < 120; frame += 1) {
    camera.write(frame === 100);
    await rig.run(FRAME_MS);
  }
  assert.deepEqual(
    page.frames.map(({ index }) => index),
    numbersFrom(0, 120),
  );
  assert.deepEqual(
    page.frames.filter(({ brokeOff }) => brokeOff).map(({ index }) => index),
    [100],
  );
  assert.deepEqual([page.faults, rig.walls.droppedFrames('door')], [[], 0]);
});

test('sound comes as a stream of its own to who wants it', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  camera.write(true);
  const [deaf, page] = [await rig.open(), await rig.open()];
  deaf.show([{ tile: 1, camera: 'door' }]);
  page.show([{ tile: 1, camera: 'door', sound: true }]);
  await rig.run(100);
  for (let frame = 0; frame < 10; frame += 1) {
    camera.write(false);
    camera.hear(frame);
    await rig.run(FRAME_MS);
  }
  const { stream, sound } = page.tile(1) as { stream?: number; sound?: number };
  assert.notEqual(sound, stream);
  const heard = page.framesOf(sound);
  assert.deepEqual(
    heard.map(({ index, bytes }) => [index, bytes[0]]),
    numbersFrom(0, 10).map((at) => [at, at]),
  );
  assert.ok(heard.every(({ isKey }) => isKey));
  const config = page.configs.find((described) => described.stream === sound);
  assert.deepEqual(
    [config?.codec, config?.rate, config?.width, config?.bytes],
    ['mp4a.40.2', 16_000, 1, Buffer.of(0x14, 0x08)],
  );
  const shown = page.framesOf(stream).at(-1)!;
  assert.ok(Math.abs(shown.timestampUs - heard.at(-1)!.timestampUs) < 100_000, 'both run on one clock');
  assert.deepEqual([deaf.frames.length, deaf.tile(1)?.['sound'], page.faults], [11, null, []]);
});

test('L16 comes as decoders of pages want it', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  camera.writer.setStreamInfo({ ...streamInfo(1), audio: l16Track(16_000, 1) });
  camera.write(true);
  const page = await rig.open();
  page.show([{ tile: 1, camera: 'door', sound: true }]);
  await rig.run(100);
  camera.write(false);
  // The last byte is no sample.
  camera.writer.writeAudio(Buffer.of(1, 2, 3, 4, 5), 0, 5, stampOf({ ptsTicks: 640 }));
  await rig.run(FRAME_MS);
  const { sound } = page.tile(1) as { sound?: number };
  assert.deepEqual([...page.framesOf(sound)[0]!.bytes], [2, 1, 4, 3, 5]);
  assert.equal(page.configs.find(({ stream }) => stream === sound)?.codec, 'pcm-s16');
});

test('sound that the ring has twice, as it was sent and as files keep it, is numbered without a gap', async () => {
  await using rig = await WallRig.start();
  const camera = rig.addCamera('door');
  const hear = async (first: number): Promise<void> => {
    camera.write(true);
    for (let frame = first; frame < first + 8; frame += 1) {
      camera.hear(frame, frameFlag.sentOnly);
      if (frame % 3 === 0) camera.hear(frame, frameFlag.keptOnly);
      await rig.run(FRAME_MS);
    }
  };
  await hear(0);
  const page = await rig.open();
  page.show([{ tile: 1, camera: 'door', sound: true }]);
  await rig.run(100);
  await hear(8);
  camera.restart();
  await hear(16);
  const { sound } = page.tile(1) as { sound?: number };
  const heard = page.framesOf(sound);
  const first = heard[0]!.index;
  assert.deepEqual(
    heard.map(({ index, bytes }) => [index - first, bytes[0]]),
    numbersFrom(0, 16).map((at) => [at, at + 8]),
  );
});

test('what is detected is told to who shows that camera and wants to hear it, and to nobody else', async () => {
  await using rig = await WallRig.start();
  for (const id of ['door', 'yard', 'vault']) rig.addCamera(id).write(true);
  rig.forbidden.set('vault', 'forbidden');
  const [page, other] = [await rig.open(), await rig.open()];
  page.show([
    { tile: 1, camera: 'door', detections: true },
    { tile: 2, camera: 'door', detections: true },
    { tile: 3, camera: 'vault', detections: true },
  ]);
  other.show([
    { tile: 1, camera: 'door' },
    { tile: 2, camera: 'yard', mode: 'off', detections: true },
  ]);
  await rig.run(400);
  const person = { label: 'person', score: 0.91234567, box: [0.1, 0.2, 0.3, 1 / 3] as const };
  const car = { label: 'c'.repeat(100), score: 0.95, box: [0, 0, 1, 1] as const };
  for (const id of ['door', 'yard', 'vault']) rig.walls.seen(id, { wallMs: 1_000.4, objects: [person, car] });
  rig.walls.seen('door', { wallMs: 2_000, objects: [] });
  await rig.run(400);
  assert.deepEqual(page.textsOf('detections'), [
    {
      ...{ op: 'detections', camera: 'door', at_ms: 1_000 },
      objects: [
        { label: 'c'.repeat(64), score: 0.95, box: [0, 0, 1, 1] },
        { label: 'person', score: 0.9123, box: [0.1, 0.2, 0.3, 0.3333] },
      ],
    },
    { op: 'detections', camera: 'door', at_ms: 2_000, objects: [] },
  ]);
  assert.deepEqual(other.textsOf('detections'), []);
  const many = Array.from({ length: 1_000 }, (_, at) => ({ ...person, score: at / 1_000 }));
  rig.walls.seen('door', { wallMs: 3_000, objects: many });
  page.show([{ tile: 1, camera: 'door' }]);
  await rig.run(400);
  const told = page.textsOf('detections').at(-1)?.['objects'] as { score: number }[];
  assert.deepEqual([told.length, told[0]?.score], [64, 0.999]);
  rig.walls.seen('door', { wallMs: 4_000, objects: [person] });
  await rig.run(400);
  assert.equal(page.textsOf('detections').length, 3, 'it is wanted no more');
  assert.deepEqual(page.faults, []);
});

test('every page is told the time, and of the end', async () => {
  await using rig = await WallRig.start();
  const page = await rig.open();
  await rig.run(11_000, 250);
  const ticks = page.textsOf('tick');
  assert.equal(ticks.length, 3);
  assert.ok(Math.abs(Number(ticks.at(-1)?.['server_ms']) - rig.clock.wallMs()) < 6_000);
  const stopped = rig.walls.stop();
  assert.equal(await page.untilClosed(), 1001);
  await stopped;
  assert.equal(rig.clock.pendingTimers, 0);
});

test('so many walls, and so many of one user, and no more', async () => {
  await using rig = await WallRig.start();
  for (let count = 0; count < 32; count += 1) await rig.open();
  const refused = await rig.open().catch(() => null);
  assert.deepEqual([refused, rig.refused], [null, ['too_many_walls']]);
  await rig.open('all', 'another');
  assert.equal(rig.walls.count, 33);
});

test('a page hears what happens from when it opened, also after it stood still, or that something is forgotten', async () => {
  await using rig = await WallRig.start();
  rig.happen('before');
  const camera = rig.addCamera('door');
  camera.write(true);
  const [page, still] = [await rig.open(), await rig.open('none')];
  for (const each of [page, still]) each.show([{ tile: 1, camera: 'door' }]);
  await rig.run(100);
  rig.happen('first', 'second');
  await rig.run(1_500);
  rig.happen('third');
  await rig.run(100);
  const heard = (each: typeof page) => each.textsOf('event').map(({ topic, id, set }) => [topic, id, set]);
  const first = [
    ['cameras', 'first', {}],
    ['cameras', 'second', {}],
  ];
  assert.deepEqual(heard(page), [...first, ['cameras', 'third', {}]]);
  assert.deepEqual(heard(still), first, 'a page that is behind has to take what was sent first');
  rig.events.forgotten = 4;
  still.acknowledge();
  await rig.run(500);
  assert.deepEqual([heard(still), still.textsOf('reset').length], [first, 1]);
  assert.equal(page.textsOf('reset').length, 0);
  page.webSocket.close();
  await until('nobody listens for who has gone', () => rig.events.listeners.size === 1);
});
