import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';
import { until } from '../until.js';
import { chromiumArgs } from './chromium.js';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Nothing was asked for so long: what a page wants to know it asks for at once. */
const QUIET_MS = 120;
/** And so many frames came meanwhile: a page that is busy with its scripts hasn't asked yet. */
const QUIET_FRAMES = 8;
/** Answers that never end. */
const STREAM = /\/stream(?:$|[/?])|\/frames(?:$|\?)/;

/** What runs in the page is text: the DOM's types would let the service's own code forget that it has none. */
const NEXT_FRAME = 'new Promise((resolve) => requestAnimationFrame(() => resolve()))';
/** A tile's badges change every second: its name begins with the camera's, which is what somebody would call it by. */
const RUN_AXE = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .flatMap(({ id, nodes }) => nodes
    .filter(({ html }) => id !== 'label-content-name-mismatch' || !html.includes('role="gridcell"'))
    .map(({ html, failureSummary }) =>
    id + ': ' + html.slice(0, 160) + ' ' + failureSummary.slice(0, 200))))`;
const FIND_OVERFLOW = `[document.documentElement, ...document.querySelectorAll('main, main > *, dialog[open]')]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.outerHTML.slice(0, 120) + ' is ' + box.scrollWidth + ' wide in ' + box.clientWidth + ': ' +
    [...box.querySelectorAll('*')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
      .map((each) => each.outerHTML.slice(0, 80)).slice(-3).join(' '))`;

export type Theme = 'dark' | 'light';
export type AskedRequest = { readonly method: string; readonly path: string; readonly status: number };
type Credentials = { readonly username: string; readonly password: string };
/** What the device is: where its clock is set, if not as that of this machine. */
type Device = { readonly timeZone?: string };

/** One Chromium for a test file; each visitor has cookies and storage of their own. */
export class AppBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<AppBrowser> {
    const browser = await chromium.launch({
      executablePath: '/usr/bin/chromium',
      headless: true,
      chromiumSandbox: false,
      args: chromiumArgs,
    });
    return new AppBrowser(browser);
  }

  /** Somebody who isn't signed in, before a page of the service at `url`. */
  async visit(url: string, { timeZone }: Device = {}): Promise<AppPage> {
    const context = await this.#browser.newContext({
      viewport: { width: 1_440, height: 900 },
      colorScheme: 'dark',
      reducedMotion: 'reduce',
      ...(timeZone === undefined ? {} : { timezoneId: timeZone }),
    });
    return new AppPage(url, context, await context.newPage());
  }

  /** Signed in by the form, as a person does it. */
  async signedIn(url: string, who: Credentials, device: Device = {}): Promise<AppPage> {
    const page = await this.visit(url, device);
    await page.go('/');
    await page.signIn(who);
    return page;
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

/** A page of the web app, with all that went wrong in it. */
export class AppPage {
  /** Playwright's own page, for whatever a test does with it. */
  readonly page: Page;
  /** Console messages of any kind, exceptions, breaches of the content policy, requests to elsewhere, refusals (403). */
  readonly faults: string[] = [];
  readonly asked: AskedRequest[] = [];
  readonly #url: string;
  readonly #context: BrowserContext;
  readonly #open = new Set<Request>();

  constructor(url: string, context: BrowserContext, page: Page) {
    this.#url = url;
    this.#context = context;
    this.page = page;
    page.on('console', (message) => this.faults.push(`console ${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => this.faults.push(`exception: ${String(error)}`));
    page.on('request', (request) => {
      if (/^https?:/.test(request.url()) && !request.url().startsWith(url))
        this.faults.push(`asked elsewhere: ${request.url()}`);
      if (!STREAM.test(request.url())) this.#open.add(request);
    });
    page.on('requestfinished', (request) => this.#open.delete(request));
    page.on('requestfailed', (request) => this.#open.delete(request));
    page.on('response', (answer) => {
      const path = answer.url().slice(url.length);
      this.asked.push({ method: answer.request().method(), path, status: answer.status() });
      if (answer.status() === 403) this.faults.push(`refused: ${answer.request().method()} ${path}`);
    });
  }

  /** Opens a path, as by its address, and waits until it is there. */
  async go(path: string): Promise<void> {
    await this.page.goto(this.#url + path, { waitUntil: 'load' });
    await this.settle();
  }

  /** Follows a link of the app: nothing is loaded anew. `isSettled`: waits for what it asks for. */
  async follow(path: string, isSettled = true): Promise<void> {
    await this.page.evaluate(`(() => {
      const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} });
      document.body.append(link);
      link.click();
      link.remove();
    })()`);
    if (isSettled) await this.settle();
  }

  /** Until nothing that ends is asked for, and what came has been drawn. */
  async settle(): Promise<void> {
    let quietSinceMs = performance.now();
    let frames = 0;
    await until(
      'the page is quiet',
      async () => {
        if (this.#open.size > 0) {
          quietSinceMs = performance.now();
          frames = 0;
        }
        await this.page.evaluate(NEXT_FRAME);
        frames += 1;
        return frames > QUIET_FRAMES && performance.now() - quietSinceMs > QUIET_MS;
      },
      { describe: () => [...this.#open].map((request) => request.url()).join(', ') },
    );
  }

  async signIn({ username, password }: Credentials, isSettled = true): Promise<void> {
    const form = this.page.locator('form', { has: this.page.locator('input[name=password]') });
    await form.locator('input[name=username]').fill(username);
    await form.locator('input[name=password]').fill(password);
    await form.locator('button[type=submit]').click();
    await this.page.waitForSelector('input[name=password]', { state: 'detached' });
    if (isSettled) await this.settle();
  }

  /** How the page is looked at, from here on. */
  async look({ width, theme }: { readonly width?: number; readonly theme?: Theme }): Promise<void> {
    if (width !== undefined)
      await this.page.setViewportSize({ width, height: width < 640 ? 844 : width < 1_000 ? 1_024 : 900 });
    if (theme !== undefined) await this.page.emulateMedia({ colorScheme: theme });
    await this.page.evaluate(NEXT_FRAME);
  }

  /** What axe finds serious or critical, a line each. */
  async axe(): Promise<string[]> {
    if (!(await this.page.evaluate<boolean>("'axe' in window"))) await this.page.evaluate(axeSource);
    return await this.page.evaluate<string[]>(RUN_AXE);
  }

  /** Whatever makes the page, or an open dialog, scroll sideways. */
  overflow(): Promise<string[]> {
    return this.page.evaluate<string[]>(FIND_OVERFLOW);
  }

  screenshot(path: string): Promise<Buffer> {
    return this.page.screenshot({ path });
  }

  close(): Promise<void> {
    return this.#context.close();
  }
}
