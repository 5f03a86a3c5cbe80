import { until } from '../until.js';
import type { Browser, BrowserPage } from './browser.js';

const POLL_MS = 50;
const DEADLINE_MS = 60_000;

/** Opens the page that runs `players/<player>.js`. */
export const openPlayer = async (
  browser: Browser,
  player: string,
  options: unknown,
): Promise<BrowserPage> => {
  const page = await browser.open(browser.server.playerUrl(player, options));
  if (await page.evaluate<boolean>("typeof player === 'object'")) return page;
  await page.close();
  throw new Error(`the page's player didn't start: ${page.errors.join('; ')}`);
};

/** A page with a player in it, as the tests see it. */
export class Player<Stats> {
  readonly #page: BrowserPage;
  #isClosed = false;

  constructor(page: BrowserPage) {
    this.#page = page;
  }

  /** What the page complained of. */
  get errors(): readonly string[] {
    return this.#page.errors;
  }

  stats(): Promise<Stats> {
    return this.call('stats');
  }

  /** Calls a method of the page's player. */
  async call<Value>(method: string, ...given: readonly unknown[]): Promise<Value> {
    const args = given.map((value) => JSON.stringify(value)).join(', ');
    const answer = await this.#page.evaluate<string>(
      `Promise.resolve(player.${method}(${args})).then((value) => JSON.stringify(value ?? null))`,
    );
    return JSON.parse(answer) as Value;
  }

  /** Waits until the figures are as wanted and returns them; says what they were when they never came. */
  async until(
    what: string,
    isSo: (stats: Stats) => boolean,
    { deadlineMs = DEADLINE_MS }: { readonly deadlineMs?: number } = {},
  ): Promise<Stats> {
    let last: Stats | null = null;
    return until(
      what,
      async () => {
        last = await this.stats();
        if (isSo(last)) return last;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        return null;
      },
      { deadlineMs, describe: () => JSON.stringify({ stats: last, errors: this.errors }) },
    );
  }

  /** A picture of the page as PNG. */
  screenshot(path: string): Promise<void> {
    return this.#page.screenshot(path);
  }

  /** Lets the page end its viewing in order, then closes it. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.call('close');
    } finally {
      await this.#page.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
