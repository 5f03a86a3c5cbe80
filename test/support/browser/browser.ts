import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PageServer } from './page-server.js';

/** A tab, whichever browser it is of. */
export type BrowserPage = {
  /** Runs an expression in the page, waits for a promise, and brings back what it gives as JSON. */
  evaluate<Value>(expression: string): Promise<Value>;
  screenshot(path: string): Promise<void>;
  /** What the page complained of: console errors, exceptions that nobody caught. */
  readonly errors: readonly string[];
  close(): Promise<void>;
};

/** A browser as a product brings it: tabs, and an end that leaves no process. */
export type BrowserProcess = {
  open(url: string): Promise<BrowserPage>;
  close(): Promise<void>;
};

/** A browser and the server of its pages. Launch one for a test file, close it in `after`. */
export class Browser {
  readonly server: PageServer;
  readonly #process: BrowserProcess;
  readonly #folder: string;

  private constructor(server: PageServer, process: BrowserProcess, folder: string) {
    this.server = server;
    this.#process = process;
    this.#folder = folder;
  }

  /** `launch` gets an empty folder for the profile. */
  static async launch(launch: (profileFolder: string) => Promise<BrowserProcess>): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), 'framering-browser-'));
    const server = await PageServer.start();
    try {
      return new Browser(server, await launch(folder), folder);
    } catch (error) {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  open(url: string): Promise<BrowserPage> {
    return this.#process.open(url);
  }

  /** Ends the browser's processes. */
  async close(): Promise<void> {
    await this.#process.close();
    await this.server.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
