import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { launchChromium } from '../support/browser/chromium.js';
import { playWall, type WallStats } from '../support/browser/wall-player.js';
import type { VideoStream } from '../support/elementary-stream.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { startService } from '../support/service.js';
import { assertOfSource, sources } from '../support/source-pictures.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { type WallFrame, WallPage } from '../support/wall-page.js';

/** The service with a camera for each stream, all of them streaming. */
const setUp = async (t: TestContext, streams: Readonly<Record<string, VideoStream>>) => {
  const mounts = Object.entries(streams).map(([id, video]) => [`/${id}`, { video }]);
  const camera = await FakeCamera.start({ mounts: Object.fromEntries(mounts) });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t) });
  t.after(() => service.process.kill('SIGKILL'));
  const admin = await service.login('admin', service.adminPassword);
  const call = (method: string, path: string, body?: unknown, token = admin) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  for (const id of Object.keys(streams)) {
    await call('POST', '/api/cameras', { id, url: camera.url(`/${id}`) });
  }
  const list = async (): Promise<{ id: string; state: string; viewers: number }[]> =>
    (await call('GET', '/api/cameras')).body;
  await until('all cameras stream', async () => (await list()).every(({ state }) => state === 'streaming'));
  const address = async (token = admin): Promise<string> => {
    const { body } = await call('GET', '/api/wall-token', undefined, token);
    return `${service.url.replace(/^http/, 'ws')}/stream/wall?token=${body.token}`;
  };
  const open = async (token = admin): Promise<WallPage> => {
    const page = new WallPage(await address(token));
    t.after(() => page.webSocket.terminate());
    return page.opened();
  };
  return { service, call, list, address, open };
};

/** The frames since the last one was lost. */
const unbroken = (frames: readonly WallFrame[]): readonly WallFrame[] =>
  frames.slice(
    Math.max(
      0,
      frames.findLastIndex(({ index }, at) => at > 0 && index !== frames[at - 1]!.index + 1),
    ),
  );

describe('a wall of the service', { concurrency: 2 }, () => {
  test('what ffmpeg decodes of each tile are the pictures of its source', async (t) => {
    const cases = sources();
    const { open } = await setUp(t, Object.fromEntries(cases.map(([id, , , stream]) => [id, stream])));
    const page = await open();
    page.show(cases.map(([camera], tile) => ({ tile, camera })));
    // On a machine that is busy a page may be called slow: what came since is whole.
    const framesOf = (tile: number) => unbroken(page.framesOf(page.tile(tile)?.['stream'] ?? -1));
    await page.until('all tiles have two loops', () => cases.every((_, tile) => framesOf(tile).length > 65));
    const dumps = cases.map((_, tile) => framesOf(tile));
    for (const [tile, source] of cases.entries()) {
      const config = page.configs.find(({ stream }) => stream === page.tile(tile)?.['stream']);
      const path = join(tempFolder(t), source[0]);
      writeFileSync(path, Buffer.concat([config!.bytes, ...dumps[tile]!.map(({ bytes }) => bytes)]));
      await assertOfSource(path, source, `lost: ${page.textsOf('lost')}`);
    }
    const shownUs = dumps[2]!.map(({ timestampUs, compositionUs }) => timestampUs + compositionUs);
    assert.ok(
      shownUs.some((us, at) => us < (shownUs[at - 1] ?? 0)),
      'B-frames are shown before what came before',
    );
    assert.deepEqual(page.faults, []);
  });

  test('Chromium decodes the tiles of a wall, and says how much it took', async (t) => {
    const { service, address } = await setUp(t, { door: fixtures.h264High(), yard: fixtures.h264Baseline() });
    const browser = await launchChromium();
    t.after(() => browser.close());
    await using player = await playWall(browser, await address(), ['door', 'yard']);
    const { faults, decoded } = await player.until(
      'both tiles show pictures',
      (stats) =>
        stats.faults.length > 0 || Object.values(stats.decoded).filter((count) => count > 60).length === 2,
    );
    assert.deepEqual([faults, Object.keys(decoded).length], [[], 2]);
    // A browser that stands still for a second is rightly called slow, and it begins anew.
    const isFast = (stats: WallStats) => stats.acknowledged - stats.acknowledgedAtLoss > 12;
    await player.until('it was slow for no second', isFast);
    assert.equal(await service.stop(), 0);
    const { closeCode } = await player.until('it is told of the end', (stats) => stats.closeCode !== null);
    assert.equal(closeCode, 1001);
  });

  test('tiles are counted as viewers, checked one by one, and end one by one; the wall ends with its user', async (t) => {
    const { service, call, list, open } = await setUp(t, {
      door: fixtures.h264High(),
      yard: fixtures.h264Baseline(),
    });
    const account = { username: 'guard', password: 'a password of its own', role: 'viewer' };
    await call('POST', '/api/users', account);
    const guard = await service.login(account.username, account.password);
    await call('PUT', '/api/cameras/yard', { token_auth: true });
    const page = await open(guard);
    const tiles = [
      { tile: 1, camera: 'door' },
      { tile: 2, camera: 'yard' },
      { tile: 3, camera: 'yard', mode: 'key' as const },
    ];
    page.show(tiles);
    const isShown = (tile: number): boolean => page.framesOf(page.tile(tile)?.['stream'] ?? -1).length > 5;
    await page.until('both are shown', () => isShown(1) && isShown(2));
    assert.deepEqual(
      (await list()).map(({ viewers }) => viewers),
      [1, 2],
    );
    const { text } = await call('GET', '/metrics');
    assert.match(text, /svc_viewers\{camera_id="yard",kind="wall"\} 2/);

    const isHeard = (topic: string, id: string, key: string): boolean =>
      page
        .textsOf('event')
        .some((text) => text['topic'] === topic && text['id'] === id && key in (text['set'] as object));
    await call('POST', '/api/users', { ...account, username: 'another' });
    await call('PUT', '/api/cameras/door', { comment: 'the front door' });
    await page.until('a changed setting is heard of', () => isHeard('config', 'cameras/door', 'comment'));
    const problemOf = (tile: number) =>
      page.tile(tile)?.['problem'] as { status: number; code: string } | undefined;
    await call('PUT', '/api/cameras/door', { token_auth: true });
    await page.until('that camera is withdrawn', () => problemOf(1) !== undefined);
    assert.deepEqual([problemOf(1)?.status, problemOf(2)], [403, undefined]);
    page.show(tiles);
    await page.until('who may watch it asks again', () => problemOf(1) === undefined);
    await call('PUT', '/api/cameras/yard', { disabled: true });
    await page.until(
      'a disabled camera ends its tiles',
      () => problemOf(2) !== undefined && problemOf(3) !== undefined,
    );
    page.show(tiles);
    await page.until('asked again it is refused', () => problemOf(2)?.code === 'no_picture');
    const before = page.frames.length;
    await page.until('the other one goes on', () => page.frames.length > before + 20);
    await call('DELETE', '/api/cameras/door');
    await page.until('a deleted camera ends its tile', () => problemOf(1)?.status === 404);
    assert.equal(page.closedWith, null);

    const topics = new Set(
      page.textsOf('event').map(({ topic, id }) => `${topic} ${String(id).split('/')[0]}`),
    );
    assert.ok(!topics.has('config users'), 'a viewer hears nothing of users');
    await call('PUT', '/api/users/guard', { role: 'operator' });
    assert.equal(await page.untilClosed(), 4403);
    const late = await service.call('GET', '/api/wall-token', { token: guard });
    assert.equal(late.status, 401);
    assert.equal(service.err(), '');
    assert.deepEqual(page.faults, []);
  });
});
