import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './mosquitto.js';
import { tempFolder } from './temp-folder.js';
import { until } from './until.js';

const PROGRAM = join(tmpdir(), 'framering-versitygw/bin/versitygw');
const ACCESS_KEY = 'framering';
/** With what a URL must encode. */
const SECRET_KEY = 'se/cret+key:of=a?store@home%20';

/** Why tests with a real store can't be; false: they can. For a test's `skip`. */
export const withoutStore: string | false = existsSync(PROGRAM)
  ? false
  : 'versitygw could not be had (test/support/install-servers.sh)';

const answers = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** A real store that somebody else wrote, on a folder and a port of its own; it can be killed and started anew. */
export class Versitygw {
  readonly host: string;
  readonly port: number;
  /** Where it has the objects, as files. */
  readonly folder: string;
  #child: ChildProcess | null = null;

  private constructor(host: string, port: number, folder: string) {
    this.host = host;
    this.port = port;
    this.folder = folder;
  }

  static async start(
    t: Pick<TestContext, 'after'>,
    bucket = 'recordings',
    host = '127.0.0.1',
  ): Promise<Versitygw> {
    const store = new Versitygw(host, await freePort(), tempFolder(t));
    mkdirSync(join(store.folder, bucket));
    t.after(() => store.kill());
    await store.start();
    return store;
  }

  /** As the service is told of it. */
  url(path = 'recordings', secretKey = SECRET_KEY): string {
    return `http://${ACCESS_KEY}:${encodeURIComponent(secretKey)}@${this.host}:${this.port}/${path}`;
  }

  async start(): Promise<void> {
    const keys = { ROOT_ACCESS_KEY: ACCESS_KEY, ROOT_SECRET_KEY: SECRET_KEY };
    const args = ['--port', `${this.host}:${this.port}`, '--quiet', 'posix', this.folder];
    const child = spawn(PROGRAM, args, {
      env: { ...process.env, ...keys },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // A test that fails halfway leaves nobody behind.
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4_000);
      });
    this.#child = child;
    await until('the store listens', () => answers(this.host, this.port), { describe: () => said });
  }

  /** As a power cut does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
