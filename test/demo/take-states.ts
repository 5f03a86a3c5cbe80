import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Route } from 'playwright-core';
import { AppBrowser, type AppPage } from '../support/browser/app-page.js';
import { ByteRelay } from '../support/byte-relay.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { type RunningService, startService } from '../support/service.js';
import { writeArchive } from './archive.js';
import { makeScenes } from './pictures.js';

const WIDTHS = [1_440, 768, 390] as const;
const THEMES = ['dark', 'light'] as const;
const PASSWORD = 'a password of its own';
const keeper = { username: 'keeper', password: PASSWORD };
/** Pictures have come, and what is loaded late. */
const SETTLED_MS = 4_000;
/** A tile that gets no more pictures is old, and says so. */
const OLD_MS = 8_000;
/** Layouts that follow the width are drawn anew. */
const DRAWN_MS = 300;

/** Every screen, as its address has it. */
const screens = {
  wall: '/wall/all',
  camera: '/camera/gate',
  /** A moment that was recorded. */
  archive: `/archive?cameras=atrium,gate&t=${new Date(Date.now() - 600_000).toISOString()}`,
  events: '/events?period=all',
  cameras: '/cameras',
  users: '/users',
  system: '/system',
  logs: '/logs',
  me: '/me',
  setup: '/setup',
} as const;
type Screen = keyof typeof screens;
const names = Object.keys(screens) as Screen[];

/** What tells who somebody is: without it there is no page at all. */
const OF_SESSION = /\/api\/(?:session|me)$/;
const isData = (url: URL): boolean =>
  /^\/(?:api|stream)\//.test(url.pathname) && !OF_SESSION.test(url.pathname);

const answers = {
  /** Never. */
  loading: () => {},
  error: (route: Route) =>
    void route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      headers: { 'x-request-id': '3f1c8a52' },
      json: {
        ...{ type: 'about:blank', title: 'Internal Server Error', status: 500, code: 'internal' },
        detail: 'the disk of the settings gave a fault',
        request_id: '3f1c8a52-6f1e-4a57-9c55-08d1f1a2b3c4',
      },
    }),
} as const;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Photographer {
  readonly #folder: string;
  readonly #wanted: RegExp;

  constructor(folder: string, wanted: RegExp) {
    this.#folder = folder;
    this.#wanted = wanted;
  }

  wants(name: string): boolean {
    return this.#wanted.test(name);
  }

  /** At every width, in both themes. */
  async take(page: AppPage, name: string): Promise<void> {
    for (const width of WIDTHS)
      for (const theme of THEMES) {
        await page.look({ width, theme });
        await sleep(DRAWN_MS);
        await page.screenshot(join(this.#folder, `${name}-${width}-${theme}.png`));
      }
    const overflow = await page.overflow();
    await page.look({ width: 1_440, theme: 'dark' });
    say(`${name}${overflow.length > 0 ? `: ${overflow.join()}` : ''}`);
  }
}

type Set = {
  readonly camera: FakeCamera;
  readonly service: RunningService;
  readonly token: string;
};

const cameraOf = (camera: FakeCamera, id: string) => ({
  ...{ id, comment: `${id.charAt(0).toUpperCase()}${id.slice(1)}`, url: camera.url(`/${id}`) },
  record: id === 'gate' || id === 'atrium',
});

/** A house with cameras, some hours of recordings, and one camera that nobody answers for. */
const furnish = async (dataDir: string): Promise<Set> => {
  const scenes = makeScenes();
  const mounts = Object.fromEntries([...scenes].map(([name, video]) => [`/${name}`, { video }]));
  const camera = await FakeCamera.start({ mounts: { ...mounts, '/atrium': { video: fixtures.h264High() } } });
  const archiveDir = join(dataDir, 'recordings');
  writeArchive(archiveDir, 'atrium', Date.now());
  const service = await startService({ DATA_DIR: dataDir, ARCHIVE_DIR: archiveDir });
  const token = await service.login('admin', service.adminPassword);
  const ask = (path: string, body: object) => service.call('POST', path, { token, body });
  await ask('/api/users', { ...keeper, role: 'admin' });
  for (const id of [...scenes.keys(), 'atrium']) await ask('/api/cameras', cameraOf(camera, id));
  await ask('/api/cameras', { ...cameraOf(camera, 'roof'), url: 'rtsp://127.0.0.1:1/roof', record: true });
  return { camera, service, token };
};

/** Full, loading, failing: the service stands behind all of it. */
const takeAnswers = async (photographer: Photographer, browser: AppBrowser, url: string): Promise<void> => {
  const page = await browser.signedIn(url, keeper);
  for (const name of names.filter((each) => photographer.wants(`${each}-full`))) {
    await page.go(screens[name]);
    await sleep(SETTLED_MS);
    await photographer.take(page, `${name}-full`);
  }
  for (const [state, answer] of Object.entries(answers)) {
    await page.page.route(isData, answer);
    for (const name of names.filter((each) => photographer.wants(`${each}-${state}`))) {
      await page.page.goto(url + screens[name], { waitUntil: 'commit' });
      await sleep(SETTLED_MS);
      await photographer.take(page, `${name}-${state}`);
    }
    await page.page.unroute(isData);
  }
  await page.close();
};

const takeOffline = async (
  photographer: Photographer,
  browser: AppBrowser,
  service: RunningService,
): Promise<void> => {
  for (const name of [...names, 'login'] as const) {
    if (!photographer.wants(`${name}-offline`)) continue;
    const relay = await ByteRelay.start(Number(new URL(service.url).port));
    const url = `http://127.0.0.1:${relay.port}`;
    const page = name === 'login' ? await browser.visit(url) : await browser.signedIn(url, keeper);
    await page.go(name === 'login' ? '/' : screens[name]);
    await sleep(SETTLED_MS);
    await relay[Symbol.asyncDispose]();
    if (name === 'login') {
      await page.page.fill('input[name=username]', keeper.username);
      await page.page.fill('input[name=password]', keeper.password);
      await page.page.click('button[type=submit]');
    }
    await sleep(OLD_MS);
    await photographer.take(page, `${name}-offline`);
    await page.close();
  }
};

const takeLogin = async (photographer: Photographer, browser: AppBrowser, url: string): Promise<void> => {
  if (!photographer.wants('login-')) return;
  const page = await browser.visit(url);
  await page.go('/');
  await photographer.take(page, 'login-full');
  const submit = async (password: string): Promise<void> => {
    await page.page.fill('input[name=username]', 'nobody');
    await page.page.fill('input[name=password]', password);
    await page.page.click('button[type=submit]');
    await page.settle();
  };
  await submit('wrong');
  await photographer.take(page, 'login-error');
  for (let count = 0; count < 11 && (await page.page.isEnabled('button[type=submit]')); count += 1)
    await submit('wrong');
  await photographer.take(page, 'login-locked');
  await page.close();
};

/** A house without cameras, and the first steps in it. */
const takeEmpty = async (photographer: Photographer, browser: AppBrowser): Promise<void> => {
  if (!photographer.wants('-empty') && !photographer.wants('setup-')) return;
  const dataDir = mkdtempSync(join(tmpdir(), 'framering-states-'));
  const service = await startService({ DATA_DIR: dataDir });
  const page = await browser.signedIn(service.url, { username: 'admin', password: service.adminPassword });
  await photographer.take(page, 'setup-empty');
  for (const name of names.filter((each) => each !== 'setup' && photographer.wants(`${each}-empty`))) {
    await page.go(screens[name].replace(/\?cameras=.*/, ''));
    await sleep(1_000);
    await photographer.take(page, `${name}-empty`);
  }
  await page.close();
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
};

/** What happens to a wall that somebody looks at. */
const takeMishaps = async (
  photographer: Photographer,
  browser: AppBrowser,
  { camera, service, token }: Set,
): Promise<void> => {
  if (!photographer.wants('mishap-')) return;
  const relay = await ByteRelay.start(Number(new URL(service.url).port));
  const page = await browser.signedIn(`http://127.0.0.1:${relay.port}`, keeper);
  await page.go('/wall/all');
  await sleep(SETTLED_MS);
  relay.cut();
  await sleep(300);
  await photographer.take(page, 'mishap-socket-cut');
  await camera.stopListening();
  camera.resetConnections();
  await sleep(OLD_MS);
  await photographer.take(page, 'mishap-camera-lost');
  await page.go('/camera/gate');
  await sleep(SETTLED_MS);
  await photographer.take(page, 'mishap-camera-lost-single');
  await camera.listenAgain();
  await page.go('/wall/all');
  await sleep(SETTLED_MS);
  await service.call('PUT', '/api/users/keeper', { token, body: { password: `${PASSWORD}, another` } });
  await sleep(SETTLED_MS);
  await photographer.take(page, 'mishap-token-withdrawn');
  await service.call('PUT', '/api/users/keeper', { token, body: { password: PASSWORD } });
  await page.close();
  await relay[Symbol.asyncDispose]();
};

const MANY = 500;

const takeMany = async (
  photographer: Photographer,
  browser: AppBrowser,
  { service, token }: Set,
): Promise<void> => {
  if (!photographer.wants('many-')) return;
  const create = Array.from({ length: MANY }, (_, nth) => ({
    ...{ id: `hall-${nth}`, url: 'rtsp://127.0.0.1:1/hall', disabled: nth % 5 !== 0 },
    comment: nth % 7 === 0 ? 'A hall with a name that is far longer than any column is wide' : `Hall ${nth}`,
  }));
  await service.call('POST', '/api/cameras/bulk', { token, body: { create } });
  const page = await browser.signedIn(service.url, keeper);
  for (const [name, path] of Object.entries({
    cameras: '/cameras',
    wall: '/wall/all?grid=6x6',
    archive: '/archive',
    system: '/system',
  })) {
    await page.go(path);
    await sleep(SETTLED_MS);
    await photographer.take(page, `many-${name}`);
  }
  await page.close();
};

const takeDiskFull = async (
  photographer: Photographer,
  browser: AppBrowser,
  camera: FakeCamera,
): Promise<void> => {
  if (!photographer.wants('disk-')) return;
  const dataDir = mkdtempSync(join(tmpdir(), 'framering-states-'));
  const archiveDir = join(dataDir, 'recordings');
  mkdirSync(archiveDir);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', archiveDir]);
  if (status !== 0) return say('disk: only root can mount a small one');
  const service = await startService({ DATA_DIR: dataDir, ARCHIVE_DIR: archiveDir });
  const token = await service.login('admin', service.adminPassword);
  await service.call('POST', '/api/users', { token, body: { ...keeper, role: 'admin' } });
  await service.call('POST', '/api/cameras', { token, body: cameraOf(camera, 'gate') });
  await sleep(30_000);
  const page = await browser.signedIn(service.url, keeper);
  for (const name of ['wall', 'archive', 'events', 'cameras', 'system'] as const) {
    await page.go(name === 'archive' ? '/archive?cameras=gate' : screens[name]);
    await sleep(SETTLED_MS);
    await photographer.take(page, `disk-${name}`);
  }
  await page.close();
  await service.stop();
  spawnSync('umount', ['-l', archiveDir]);
  rmSync(dataDir, { recursive: true, force: true });
};

const takeStates = async (folder: string, wanted: RegExp): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  const photographer = new Photographer(folder, wanted);
  const dataDir = mkdtempSync(join(tmpdir(), 'framering-states-'));
  const browser = await AppBrowser.launch();
  const set = await furnish(dataDir);
  try {
    await takeAnswers(photographer, browser, set.service.url);
    await takeOffline(photographer, browser, set.service);
    await takeMishaps(photographer, browser, set);
    await takeMany(photographer, browser, set);
    await takeEmpty(photographer, browser);
    await takeDiskFull(photographer, browser, set.camera);
    // Who fails too often is locked out for a minute.
    await takeLogin(photographer, browser, set.service.url);
  } finally {
    await browser.close();
    await set.service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

const [folder, wanted = ''] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write(
    'node dist/test/demo/take-states.js FOLDER [PATTERN]: every screen in every state, into a folder\n',
  );
  process.exit(1);
}
await takeStates(folder, new RegExp(wanted));
process.exit(0);
