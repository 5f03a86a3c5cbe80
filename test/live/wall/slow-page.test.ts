import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WallPage } from '../../support/wall-page.js';
import { FRAME_MS, type TestCamera } from '../test-camera.js';
import { numberOf, WallRig } from './wall-rig.js';

const CAMERAS = 8;
const GOP = 25;
const FRAME_BYTES = 2_000;
const SECOND = 1000 / FRAME_MS;

type Scene = { readonly rig: WallRig; readonly cameras: readonly TestCamera[] };

const setUp = async (isTls = false): Promise<Scene> => {
  const rig = await WallRig.start(isTls);
  const cameras = Array.from({ length: CAMERAS }, (_, at) => rig.addCamera(`camera-${at}`));
  for (const camera of cameras) camera.write(true, FRAME_BYTES);
  return { rig, cameras };
};

/** The more important, the larger the number. */
const allTiles = Array.from({ length: CAMERAS }, (_, at) => ({
  tile: at,
  camera: `camera-${at}`,
  priority: at,
}));

const play = async ({ rig, cameras }: Scene, frames: number, each: () => void = () => {}): Promise<void> => {
  for (let frame = 0; frame < frames; frame += 1) {
    for (const camera of cameras) camera.write(camera.framesWritten % GOP === 0, FRAME_BYTES);
    rig.clock.advance(FRAME_MS / 2);
    await rig.settled();
    each();
    rig.clock.advance(FRAME_MS / 2);
    await rig.settled();
  }
};

const lostOf = (page: WallPage): number =>
  page.textsOf('lost').reduce((sum, { frames }) => sum + Number(frames), 0);

const modesOf = (page: WallPage): unknown[] => allTiles.map(({ tile }) => page.tile(tile)?.['mode']);

const isWhole = (page: WallPage, cameras: readonly TestCamera[]): void => {
  for (const [at, camera] of cameras.entries()) {
    const frames = page.framesOf(page.tile(at)?.['stream']);
    assert.deepEqual(
      frames.map(numberOf),
      Array.from({ length: camera.framesWritten }, (_, number) => number),
    );
  }
};

/** Every frame can be decoded: it follows on the one before, or is a keyframe. */
const isDecodable = (page: WallPage): void => {
  const last = new Map<number, number>();
  for (const { stream, index, isKey } of page.frames) {
    const before = last.get(stream);
    assert.ok(
      isKey || index === (before ?? Number.NaN) + 1,
      `frame ${index} of stream ${stream} after ${before}`,
    );
    last.set(stream, index);
  }
};

test('a page that never acknowledges gets a second, then keyframes of what matters most, and is closed after 30 s', async () => {
  const scene = await setUp();
  await using rig = scene.rig;
  const [page, healthy] = [await rig.open('none'), await rig.open()];
  for (const each of [page, healthy]) each.show(allTiles);
  await play(scene, 3 * SECOND);
  const inASecond = CAMERAS * SECOND;
  const afterStall = page.frames.length;
  assert.ok(afterStall < 1.5 * inASecond, `${afterStall} frames were sent to a page that took none`);
  assert.equal(page.tile(0)?.['mode'], 'key', 'it is told what it does without');
  assert.ok(page.textsOf('lost').every(({ reason }) => reason === 'slow'));
  await play(scene, 26 * SECOND);
  const late = page.frames.slice(afterStall);
  const most = page.tile(CAMERAS - 1)?.['stream'];
  assert.ok(late.every(({ stream, isKey }) => isKey && stream === most) && late.length > 20);
  assert.equal(page.closedWith, null);
  await play(scene, 3 * SECOND);
  assert.equal(await page.untilClosed(), 1013);
  isDecodable(page);
  isWhole(healthy, scene.cameras);
  assert.deepEqual([healthy.textsOf('lost'), healthy.faults], [[], []]);
  const drops = allTiles.reduce((sum, { camera }) => sum + rig.walls.droppedFrames(camera), 0);
  assert.ok(
    drops >= lostOf(page) && drops <= CAMERAS * 32 * SECOND - page.frames.length,
    `${drops} are counted`,
  );
});

test('a page that takes half is lowered until it can follow, the least important tiles first', async () => {
  const scene = await setUp();
  await using rig = scene.rig;
  const [page, healthy] = [await rig.open('none'), await rig.open()];
  for (const each of [page, healthy]) each.show(allTiles);
  const frameBytes = FRAME_BYTES + 4 + 32;
  // So many messages a frame's time, however many there are: a line of half the width.
  const perFrame = CAMERAS / 2;
  let taken = 0;
  /** When which message came, and was taken: how late the page is. */
  const came: number[] = [];
  let worstMs = 0;
  let turn = 0;
  const take = (): void => {
    turn += 1;
    while (came.length < page.takenMessages) came.push(turn);
    const before = taken;
    taken = Math.min(page.takenMessages, taken + perFrame);
    for (let at = before; at < taken; at += 1) worstMs = Math.max(worstMs, (turn - came[at]!) * FRAME_MS);
    if (turn % 6 === 0) page.acknowledge(taken, Math.min(page.takenBytes, taken * frameBytes));
  };
  await play(scene, 9 * SECOND, take);
  const modes = modesOf(page);
  assert.equal(modes.at(-1), 'all', 'what matters most is whole');
  assert.equal(modes[0], 'key');
  assert.deepEqual(
    modes,
    modes.toSorted((a, b) => (a === b ? 0 : a === 'key' ? -1 : 1)),
  );
  assert.ok(worstMs <= 1_300, `it was ${worstMs} ms late`);
  assert.ok(lostOf(page) > 0);
  isDecodable(page);
  isWhole(healthy, scene.cameras);
  assert.equal(rig.walls.count, 2);
});

test('a page that stood still for 3 s sees now when it goes on, and everything again after a while', async () => {
  const scene = await setUp();
  await using rig = scene.rig;
  const page = await rig.open('none');
  page.show(allTiles);
  let isStill = false;
  let turn = 0;
  const take = (): void => {
    turn += 1;
    if (!isStill && turn % 6 === 0) page.acknowledge();
  };
  await play(scene, SECOND, take);
  isStill = true;
  await play(scene, 3 * SECOND, take);
  isStill = false;
  await play(scene, 12, take);
  const numbers = allTiles.map(({ tile }) => numberOf(page.framesOf(page.tile(tile)?.['stream']).at(-1)!));
  const [camera] = scene.cameras;
  const now = camera!.framesWritten - 1;
  assert.ok(numbers.at(-1)! >= now - 1, `it sees ${numbers} at ${now}`);
  assert.ok(numbers.every((number) => number >= Math.floor(now / GOP) * GOP));
  assert.ok(modesOf(page).includes('key'));
  await play(scene, 12 * SECOND, take);
  assert.deepEqual(new Set(modesOf(page)), new Set(['all']));
  const told = lostOf(page);
  const missing = CAMERAS * camera!.framesWritten - page.frames.length;
  assert.equal(told, missing, 'it is told of each frame that it lost');
  assert.equal(
    allTiles.reduce((sum, each) => sum + rig.walls.droppedFrames(each.camera), 0),
    missing,
  );
  isDecodable(page);
});

for (const isTls of [false, true]) {
  test(`a page that reads nothing holds up nobody, and nobody's memory is another's${isTls ? ', over TLS' : ''}`, async () => {
    const scene = await setUp(isTls);
    await using rig = scene.rig;
    const [page, healthy] = [await rig.open(), await rig.open()];
    for (const each of [page, healthy]) each.show(allTiles);
    await play(scene, 5);
    page.webSocket.pause();
    for (let frame = 0; frame < 2 * SECOND; frame += 1) {
      for (const [at, camera] of scene.cameras.entries())
        camera.write(camera.framesWritten % GOP === 0, at % 2 === 0 ? 90_000 : 20_000);
      await rig.run(FRAME_MS);
    }
    page.webSocket.resume();
    await rig.run(2_000, 250);
    for (const each of [page, healthy]) {
      for (const { bytes } of each.frames) {
        const fill = (bytes.readInt32LE(4) * 31 + 7) & 0xff;
        assert.ok(
          bytes.subarray(8).every((byte) => byte === fill),
          'a frame is what it was',
        );
      }
      isDecodable(each);
      assert.deepEqual(each.faults, []);
    }
    isWhole(healthy, scene.cameras);
    assert.ok(page.frames.length < healthy.frames.length);
  });
}

test('what waits in our own memory stays what it was while others are sent more', async () => {
  const scene = await setUp();
  await using rig = scene.rig;
  rig.holdNext();
  const page = await rig.open('none');
  const healthy = await rig.open();
  for (const each of [page, healthy]) each.show(allTiles);
  await play(scene, 5);
  rig.held?.hold();
  page.webSocket.pause();
  await play(scene, SECOND / 2);
  rig.held?.letGo();
  page.webSocket.resume();
  await play(scene, 3);
  isWhole(page, scene.cameras);
  isWhole(healthy, scene.cameras);
  assert.deepEqual(page.faults, []);
});

test('a page that has vanished while nothing is sent is found out', async () => {
  await using rig = await WallRig.start();
  const page = await rig.open();
  page.webSocket.pause();
  await rig.run(45_000, 1_000);
  page.webSocket.resume();
  assert.equal(await page.untilClosed(), 1013);
});
