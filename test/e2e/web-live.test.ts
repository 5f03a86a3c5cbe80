import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { decodePictures, findShown } from '../support/browser/decoded-pictures.js';
import { PICTURE_HEIGHT_PIXELS, PICTURE_WIDTH_PIXELS } from '../support/browser/video-player.js';
import { ByteRelay } from '../support/byte-relay.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';

const DEADLINE_MS = 60_000;
/** On a machine that is busy with something else the page shows less: then it says so, and is content with that. */
const SHOWN = /LIVE|STILL/;
/** Each picture, by WebCodecs. */
const DECODED = /^(?!.*(?:COMPATIBLE|KEYFRAMES)).*LIVE/;
const guard = { username: 'guard', password: 'a password of its own' };

let camera: FakeCamera;
let service: RunningService;
let relay: ByteRelay;
let browser: AppBrowser;
let page: AppPage;
let admin = '';
let dataDir = '';
let password = '';

/** Through the relay, which the test can break. */
const urlOf = (host = '127.0.0.1'): string => `http://${host}:${relay.port}`;

const call = (method: string, path: string, body?: unknown) =>
  service.call(method, path, { token: admin, ...(body === undefined ? {} : { body }) });

before(async () => {
  camera = await FakeCamera.start({
    mounts: {
      '/gate': { video: fixtures.h264High() },
      '/dock': { video: fixtures.h264Baseline() },
      '/yard': { video: fixtures.h264BFrames() },
    },
  });
  dataDir = mkdtempSync(join(tmpdir(), 'framering-'));
  service = await startService({ DATA_DIR: dataDir });
  password = service.adminPassword;
  admin = await service.login('admin', password);
  for (const id of ['gate', 'dock', 'yard'])
    await call('POST', '/api/cameras', { id, url: camera.url(`/${id}`) });
  await call('POST', '/api/users', { ...guard, role: 'viewer' });
  relay = await ByteRelay.start(Number(new URL(service.url).port));
  browser = await AppBrowser.launch();
  page = await browser.signedIn(urlOf(), guard);
});
after(async () => {
  await browser.close();
  service.process.kill('SIGKILL');
  await relay[Symbol.asyncDispose]();
  await camera[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true, force: true });
});

/** What a page says of a camera's tile. */
const saidOf = (of: AppPage, id: string): Promise<string> =>
  of.page.evaluate<string>(
    `document.querySelector('[data-camera="${id}"]')?.textContent.replace(/\\s+/g, ' ') ?? ''`,
  );

const untilSaid = async (of: AppPage, id: string, what: RegExp, deadlineMs = DEADLINE_MS): Promise<void> => {
  let said = '';
  await until(
    `${id} is ${what}`,
    async () => {
      said = await saidOf(of, id);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return what.test(said);
    },
    { deadlineMs, describe: () => `${said} ${of.faults.join('; ')}` },
  );
};

/** Opens a camera, and once more where the page was content with less: another tile begins anew. */
const openDecoded = (id: string): Promise<true> =>
  until(
    `${id} is decoded`,
    async () => {
      await page.follow('/wall/all?grid=2x2');
      await page.follow(`/camera/${id}`);
      await untilSaid(page, id, SHOWN, 2 * DEADLINE_MS);
      return DECODED.test(await saidOf(page, id));
    },
    { deadlineMs: 2 * DEADLINE_MS },
  );

/**
 * The luminance of what is on the screen, averaged over as many areas as FFmpeg's pictures have; null: nothing is there
 * yet, as what a worker draws comes to the page's canvas with one of the next frames of the screen.
 */
const LUMINANCE = (id: string): string => `(() => {
  const shown = document.querySelector('[data-camera="${id}"] :is(canvas, video, img)');
  const width = shown?.videoWidth || shown?.naturalWidth || shown?.width, height = shown?.videoHeight || shown?.naturalHeight || shown?.height;
  if (!(width > 0 && height > 0)) return null;
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  context.drawImage(shown, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const [columns, rows] = [${PICTURE_WIDTH_PIXELS}, ${PICTURE_HEIGHT_PIXELS}];
  const sums = new Float64Array(columns * rows), counts = new Float64Array(columns * rows);
  for (let y = 0, i = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1, i += 4) {
      const area = Math.floor((y * rows) / height) * columns + Math.floor((x * columns) / width);
      sums[area] += 0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2];
      counts[area] += 1;
    }
  const areas = [...sums].map((sum, area) => Math.round(sum / counts[area]));
  return areas.every((luminance) => luminance === areas[0]) ? null : areas;
})()`;

/** Which picture of the source a tile shows: none other than one of them may be there. */
const shownIn = async (of: AppPage, id: string, pictures: readonly Buffer[]): Promise<number> => {
  const picture = (): Promise<Buffer> =>
    until(`${id} has a picture`, async () => {
      const areas = await of.page.evaluate<number[] | null>(LUMINANCE(id));
      return areas && Buffer.from(areas);
    });
  return (await findShown({ picture }, pictures)).index;
};

/** Other pictures come, each of them one of the source's. */
const assertPlays = async (of: AppPage, id: string, pictures: readonly Buffer[]): Promise<void> => {
  const first = await shownIn(of, id, pictures);
  await until(`${id} goes on`, async () => (await shownIn(of, id, pictures)) !== first, {
    deadlineMs: DEADLINE_MS,
  });
};

const viewersOf = async (id: string): Promise<number> => {
  const { body } = await call('GET', '/api/cameras');
  return (body as { id: string; viewers: number }[]).find((each) => each.id === id)?.viewers ?? -1;
};

test('a wall shows the pictures of its cameras, and says of each that it is live', async () => {
  await page.go('/wall/all?grid=2x2');
  for (const id of ['gate', 'dock', 'yard']) await untilSaid(page, id, SHOWN);
  await assertPlays(page, 'gate', decodePictures(fixturePath('h264-high.264')));
  await assertPlays(page, 'yard', decodePictures(fixturePath('h264-bframes.264')));
  await page.page.getByText('3 live, 0 away').waitFor();
  // With the tick the lag is known, and shown.
  await untilSaid(page, 'dock', /LIVE \d+\.\d s|STILL/);
  assert.deepEqual(page.faults, []);
});

test('keys lead from tile to tile, into the camera, and back', async () => {
  await page.page.focus('[data-slot="0"]');
  await page.page.keyboard.press('ArrowRight');
  assert.equal(await page.page.evaluate('document.activeElement.dataset.slot'), '1');
  await page.page.keyboard.press('Enter');
  await page.page.waitForURL(/\/camera\/gate$/);
  await untilSaid(page, 'gate', SHOWN);
  // In a menu Escape closes that alone.
  await page.page.getByRole('button', { name: 'Player' }).click();
  await page.page.getByRole('menuitemradio', { name: 'WebRTC' }).waitFor();
  await page.page.keyboard.press('Escape');
  await page.page.getByRole('menuitemradio', { name: 'WebRTC' }).waitFor({ state: 'hidden' });
  assert.match(page.page.url(), /\/camera\/gate$/);
  await page.page.keyboard.press('Escape');
  await page.page.waitForURL(/\/wall/);
  await untilSaid(page, 'gate', SHOWN);
  assert.deepEqual(page.faults, []);
});

/** The page is hidden, or seen again. */
const hide = (isHidden: boolean) =>
  page.page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);

test('a hidden page takes nothing, and shows live pictures as soon as it is seen again', async () => {
  await hide(true);
  await until('nobody watches', async () => (await viewersOf('gate')) === 0, { deadlineMs: DEADLINE_MS });
  await hide(false);
  // What is said of it was said before it was hidden.
  await until('it is watched again', async () => (await viewersOf('gate')) === 1, {
    deadlineMs: 2 * DEADLINE_MS,
  });
  for (const id of ['gate', 'dock', 'yard']) await untilSaid(page, id, SHOWN);
});

test('nor does a hidden page take anything by WebRTC, HLS or stills', async () => {
  await page.follow('/camera/gate');
  await untilSaid(page, 'gate', SHOWN);
  const snapshots = (): number => page.asked.filter(({ path }) => path.includes('/snapshot.jpg')).length;
  for (const [player, element] of [
    ['WebRTC', 'video'],
    ['HLS', 'video'],
    ['Stills', 'img'],
  ] as const) {
    const said = player === 'Stills' ? /STILL/ : /LIVE.*COMPATIBLE/;
    await page.page.getByRole('button', { name: 'Player' }).click();
    await page.page.getByRole('menuitemradio', { name: player }).click();
    // One that fails on a busy machine is tried again after a minute.
    await untilSaid(page, 'gate', said, 2 * DEADLINE_MS);
    await hide(true);
    await page.page.waitForSelector(`[data-camera="gate"] ${element}`, { state: 'detached' });
    await until(`nobody watches by ${player}`, async () => (await viewersOf('gate')) === 0, {
      deadlineMs: DEADLINE_MS,
    });
    const before = snapshots();
    await hide(false);
    await untilSaid(page, 'gate', said, 2 * DEADLINE_MS);
    assert.ok(player !== 'Stills' || snapshots() > before);
  }
  assert.deepEqual(page.faults, []);
});

test('a canvas that the browser takes away is followed by another one, and the pictures go on', async () => {
  await page.go('/wall/all?grid=2x2');
  await untilSaid(page, 'yard', SHOWN);
  for (const worker of page.page.workers())
    await worker.evaluate(`if ('OffscreenCanvas' in self) {
      const { getContext } = OffscreenCanvas.prototype;
      OffscreenCanvas.prototype.getContext = function (...given) {
        self.newest = this;
        return getContext.apply(this, given);
      };
    }`);
  await openDecoded('yard');
  await page.page.evaluate(`window.lost = document.querySelector('[data-camera="yard"] canvas')`);
  let lost = 0;
  for (const worker of page.page.workers())
    lost += await worker.evaluate<number>(
      `self.newest === undefined ? 0 : (self.newest.dispatchEvent(new Event('contextlost')), 1)`,
    );
  assert.ok(lost > 0);
  const isAnother = `(() => {
    const now = document.querySelector('[data-camera="yard"] canvas');
    return now !== null && now !== window.lost;
  })()`;
  await until('there is another canvas', () => page.page.evaluate<boolean>(isAnother), {
    deadlineMs: DEADLINE_MS,
  });
  await untilSaid(page, 'yard', /^(?!.*COMPATIBLE).*(?:LIVE|STILL)/, 2 * DEADLINE_MS);
  await assertPlays(page, 'yard', decodePictures(fixturePath('h264-bframes.264')));
});

test('decoders that fail are followed by MSE, and a click takes the pictures back to them', async () => {
  const everywhere = async (code: string): Promise<void> => {
    for (const worker of page.page.workers()) await worker.evaluate(code);
  };
  await openDecoded('yard');
  await everywhere(`if ('VideoDecoder' in self) {
    self.decode = VideoDecoder.prototype.decode;
    VideoDecoder.prototype.decode = () => { throw new DOMException('broken', 'EncodingError'); };
  }`);
  await untilSaid(page, 'yard', /LIVE.*COMPATIBLE/, 2 * DEADLINE_MS);
  await everywhere("if ('VideoDecoder' in self) VideoDecoder.prototype.decode = self.decode");
  await page.page.locator('[data-camera="yard"] :is([data-badge=compatible], [data-badge=still])').click();
  await untilSaid(page, 'yard', DECODED, 2 * DEADLINE_MS);
  await assertPlays(page, 'yard', decodePictures(fixturePath('h264-bframes.264')));
});

test('on saved data a camera with B-frames shows each keyframe when it comes', async () => {
  await page.page.evaluate(
    "Object.defineProperty(navigator.connection, 'saveData', { value: true, configurable: true })",
  );
  const rebuilds = page.page.locator('dl > div', { hasText: 'Decoders built anew' }).locator('dd');
  const rebuildsWhileSeen = async (): Promise<string> => {
    await page.follow('/wall/all?grid=2x2');
    await page.follow('/camera/yard');
    await untilSaid(page, 'yard', /LIVE.*KEYFRAMES/, 2 * DEADLINE_MS);
    await assertPlays(page, 'yard', decodePictures(fixturePath('h264-bframes.264')));
    await untilSaid(page, 'yard', /LIVE 0\.\d s.*KEYFRAMES/, 2 * DEADLINE_MS);
    await page.page.keyboard.press('q');
    const told = await until('figures are there', async () => (await rebuilds.allTextContents())[0]);
    await page.page.keyboard.press('q');
    return told;
  };
  let told = await rebuildsWhileSeen();
  // One that stood still for long together with this machine is rightly followed by another one.
  for (let tries = 1; tries < 3 && told !== '0'; tries += 1) told = await rebuildsWhileSeen();
  assert.equal(told, '0');
  await page.page.evaluate('delete navigator.connection.saveData');
  await openDecoded('yard');
});

test('the camera that somebody looks at shows its pictures evenly', async () => {
  await page.page.keyboard.press('q');
  const paced = page.page.locator('dl > div', { hasText: 'Held back to come evenly' }).locator('dd');
  const pacedMs = await until(
    'it is paced',
    async () => /^(\d+) ms$/.exec((await paced.allTextContents()).join())?.[1],
    { deadlineMs: 2 * DEADLINE_MS },
  );
  assert.ok(Number(pacedMs) <= 150, pacedMs);
  await page.page.keyboard.press('q');
  await page.page.keyboard.press('Escape');
});

test('a camera that is lost is AWAY with the reason, never live, and comes back by itself', async () => {
  for (const id of ['gate', 'dock', 'yard']) await untilSaid(page, id, SHOWN);
  // A clock that is set back makes nothing younger.
  await page.page.evaluate('{ const { now } = Date; Date.now = () => now() - 3_600_000; }');
  await camera.stopListening();
  camera.resetConnections();
  await untilSaid(page, 'gate', /AWAY.*nothing listens/);
  assert.doesNotMatch(await saidOf(page, 'gate'), SHOWN);
  assert.match((await page.page.textContent('[data-camera="gate"]')) ?? '', /Last picture\s*\d+/);
  await camera.listenAgain();
  await untilSaid(page, 'gate', SHOWN);
});

test('a socket that is cut, and a service that starts again, are found again without a reload', async () => {
  await page.page.evaluate('window.isSamePage = true');
  relay.cut();
  await untilSaid(page, 'gate', /STALLED|AWAY|LIVE|STILL/);
  for (const id of ['gate', 'dock']) await untilSaid(page, id, SHOWN);
  await service.stop();
  await untilSaid(page, 'gate', /AWAY/);
  service = await startService({ DATA_DIR: dataDir, PORT: new URL(service.url).port });
  admin = await service.login('admin', password);
  for (const id of ['gate', 'dock']) await untilSaid(page, id, SHOWN);
  assert.equal(await page.page.evaluate('window.isSamePage'), true);
});

test('who asks again is let in to a camera that wants tokens; who lost the right sees nothing live', async () => {
  await call('PUT', '/api/cameras/dock', { token_auth: true });
  await untilSaid(page, 'dock', SHOWN);
  await call('PUT', '/api/users/guard', { role: 'service' });
  await page.page.waitForSelector('dialog input[name=password]', { timeout: DEADLINE_MS });
  await untilSaid(page, 'gate', /AWAY/);
  assert.doesNotMatch(await saidOf(page, 'gate'), SHOWN);
});

test('over plain http, where there is no WebCodecs, MSE shows the same pictures, and says so', async () => {
  const plain = await browser.signedIn(urlOf('cams.test'), { username: 'admin', password });
  await plain.go('/wall/all?grid=2x2');
  assert.equal(await plain.page.evaluate('isSecureContext'), false);
  await untilSaid(plain, 'gate', /LIVE.*COMPATIBLE|STILL/);
  await assertPlays(plain, 'gate', decodePictures(fixturePath('h264-high.264')));
  await plain.page.waitForSelector('text=plain http');
  // A way that failed is taken again by a click on what is said of it.
  const isByMse = `document.querySelector('[data-camera="dock"] video')?.src.startsWith('blob:') === true`;
  await plain.page.evaluate(
    `window.plays = MediaSource.isTypeSupported; MediaSource.isTypeSupported = () => false`,
  );
  await plain.follow('/wall/all?grid=1x1');
  await plain.follow('/camera/dock');
  await untilSaid(plain, 'dock', /LIVE.*COMPATIBLE|STILL/);
  assert.equal(await plain.page.evaluate(isByMse), false);
  await plain.page.evaluate('MediaSource.isTypeSupported = window.plays');
  await plain.page.locator('[data-camera="dock"] :is([data-badge=compatible], [data-badge=still])').click();
  await until('MSE is tried again', () => plain.page.evaluate<boolean>(isByMse), {
    deadlineMs: 2 * DEADLINE_MS,
  });
  await untilSaid(plain, 'dock', /LIVE.*COMPATIBLE/, 2 * DEADLINE_MS);
  // What the service's headers ask of secure pages alone is told of by the browser.
  assert.deepEqual(
    plain.faults.filter((fault) => !/Cross-Origin-Opener-Policy|Origin-Agent-Cluster/.test(fault)),
    [],
  );
  await plain.close();
});

test('where a worker of an older version is gone pictures come in another way, and the page says what to do', async () => {
  const old = await browser.visit(urlOf());
  await old.page.route('**/assets/decode-worker-*.js', (route) => route.fulfill({ status: 404 }));
  await old.go('/');
  await old.signIn({ username: 'admin', password });
  await old.go('/wall/all?grid=2x2');
  await untilSaid(old, 'gate', /LIVE.*COMPATIBLE|STILL/);
  await old.page.getByRole('button', { name: 'Load the page anew' }).waitFor();
  await old.page.unroute('**/assets/decode-worker-*.js');
  await old.page.getByRole('button', { name: 'Load the page anew' }).click();
  await untilSaid(old, 'gate', /^(?!.*COMPATIBLE).*(?:LIVE|STILL)/);
  await old.close();
});
