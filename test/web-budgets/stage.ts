import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { chromiumArgs } from '../support/browser/chromium.js';
import { type RunningService, startService } from '../support/service.js';
import { type Cameras, startCameras } from './cameras.js';

/** They run as they are, in pages and workers. */
export const scriptOf = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../../test/web-budgets', name), 'utf8');

const pageProbe = scriptOf('page-probe.js');
const workerProbe = scriptOf('worker-probe.js');
/** Those that draw. */
const WORKERS = /\/assets\/(?:decode-worker|archive-frames)-[^/]*\.js$/;

export type Draw = readonly [canvas: number, atMs: number, pictureMs: number];
export type Drawn = {
  readonly draws: readonly Draw[];
  readonly open: number;
  readonly mostOpen: number;
  readonly canvases: number;
};
export type PageFacts = {
  readonly startedMs: number;
  readonly longTasksMs: readonly (readonly [atMs: number, durationMs: number])[];
  readonly interactionsMs: Readonly<Record<string, number>>;
  readonly seenMs: Readonly<Record<string, number | undefined>>;
  readonly videoDrawsMs: readonly number[];
};

/** An admin of the first start would be led through it. */
const operator = { username: 'operator', password: 'a password of its own' };

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A page of the app with the probes in it. */
export class WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;

  constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
  }

  facts(): Promise<PageFacts> {
    return this.page.evaluate<PageFacts>('budgetProbe');
  }

  /** What each drawing worker has drawn since the last call. */
  async take(): Promise<Drawn[]> {
    const taken = this.page
      .workers()
      .filter((worker) => WORKERS.test(worker.url()))
      .map((worker) => worker.evaluate<Drawn>('budgetProbe.take()'));
    return await Promise.all(taken);
  }

  /** Pictures of a canvas, each in order; canvases of all workers. */
  async takeByCanvas(): Promise<Draw[][]> {
    const all = await this.take();
    return all.flatMap(({ draws, canvases }) =>
      Array.from({ length: canvases }, (_, nth) => draws.filter(([canvas]) => canvas === nth)),
    );
  }

  /** Gives the moment before. */
  async tellWorkers(what: 'failDecoders' | 'loseCanvases'): Promise<number> {
    const atMs = Date.now();
    for (const worker of this.page.workers())
      if (WORKERS.test(worker.url())) await worker.evaluate(`budgetProbe.${what}()`);
    return atMs;
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

type Session = Awaited<ReturnType<BrowserContext['storageState']>>;
type Theatre = { readonly cameras?: number; readonly env?: Readonly<Record<string, string>> };

/** Cameras, the service, a browser: as they stand beside each other on one machine. */
export class Stage {
  service: RunningService;
  readonly cameras: Cameras;
  readonly browser: Browser;
  readonly dataDir: string;
  readonly adminPassword: string;
  token = '';
  readonly #env: Readonly<Record<string, string>>;
  /** By origin. */
  readonly #sessions = new Map<string, Session>();

  private constructor(
    service: RunningService,
    cameras: Cameras,
    browser: Browser,
    dataDir: string,
    env: Readonly<Record<string, string>>,
  ) {
    this.service = service;
    this.cameras = cameras;
    this.browser = browser;
    this.dataDir = dataDir;
    this.adminPassword = service.adminPassword;
    this.#env = env;
  }

  static async set({ cameras = 0, env = {} }: Theatre): Promise<Stage> {
    const dataDir = mkdtempSync(join(tmpdir(), 'framering-budgets-'));
    const started = await startCameras(cameras);
    const service = await startService({ DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...env });
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      headless: true,
      chromiumSandbox: false,
      args: [...chromiumArgs, '--js-flags=--expose-gc', '--enable-precise-memory-info'],
    });
    const stage = new Stage(service, started, browser, dataDir, env);
    await stage.#logIn();
    await stage.ask('POST', '/api/users', { ...operator, role: 'operator' });
    for (let nth = 0; nth < cameras; nth += 1)
      await stage.ask('POST', '/api/cameras', { id: `cam${nth}`, url: started.url(nth) });
    return stage;
  }

  async ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const options = { token: this.token, ...(body === undefined ? {} : { body }) };
    const answer = await this.service.call(method, path, options);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Ends the service and starts it again, on the same port; gives the moment when it listened. */
  async restart(): Promise<number> {
    const { port } = new URL(this.service.url);
    await this.service.stop();
    this.service = await startService({
      DATA_DIR: this.dataDir,
      LOG_LEVEL: 'warn',
      ...this.#env,
      PORT: port,
    });
    const listensMs = Date.now();
    await this.#logIn();
    return listensMs;
  }

  /** A page of somebody who is signed in, with nothing cached; `origin`: where it comes from, if not from the service itself. */
  async open(
    path: string,
    { origin = this.service.url, width = 1_440, height = 900 } = {},
  ): Promise<WatchedPage> {
    const watched = await this.prepare({ origin, width, height });
    await watched.page.goto(origin + path, { waitUntil: 'commit' });
    return watched;
  }

  /** The same before it goes anywhere; without `origin` of somebody who isn't signed in. */
  async prepare({ origin = '', width = 1_440, height = 900 } = {}): Promise<WatchedPage> {
    const session = origin === '' ? null : (this.#sessions.get(origin) ?? (await this.#signIn(origin)));
    const context = await this.browser.newContext({
      viewport: { width, height },
      colorScheme: 'dark',
      reducedMotion: 'reduce',
      ...(session === null ? {} : { storageState: session }),
    });
    await context.addInitScript(pageProbe);
    await context.route(WORKERS, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: workerProbe + (await answer.text()) });
    });
    return new WatchedPage(context, await context.newPage());
  }

  async clear(): Promise<void> {
    await this.browser.close();
    this.service.process.kill('SIGKILL');
    await this.service.exited;
    await this.cameras.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async #logIn(): Promise<void> {
    this.token = await this.service.login('admin', this.adminPassword);
  }

  /** As a person does it, once: every page gets the cookie of it. */
  async #signIn(origin: string): Promise<Session> {
    const context = await this.browser.newContext();
    const page = await context.newPage();
    await page.goto(origin);
    await page.fill('input[name=username]', operator.username);
    await page.fill('input[name=password]', operator.password);
    await page.click('button[type=submit]');
    await page.waitForSelector('input[name=password]', { state: 'detached' });
    const session = await context.storageState();
    await context.close();
    this.#sessions.set(origin, session);
    return session;
  }
}
