import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { CameraProcessOptions, CameraProcessReport } from './main.js';

const entry = fileURLToPath(new URL('./main.js', import.meta.url));

/** Generated cameras in a process of their own. */
export class CameraProcess {
  readonly port: number;
  readonly pid: number;
  readonly urls: readonly string[];
  readonly #ask: () => Promise<string>;
  readonly #stop: () => Promise<void>;

  private constructor(
    port: number,
    pid: number,
    urls: readonly string[],
    ask: () => Promise<string>,
    stop: () => Promise<void>,
  ) {
    this.port = port;
    this.pid = pid;
    this.urls = urls;
    this.#ask = ask;
    this.#stop = stop;
  }

  /** `before`: words before the command, which must become it (`ip netns exec`). */
  static async start(options: CameraProcessOptions, before: readonly string[] = []): Promise<CameraProcess> {
    const command = [process.execPath, '--enable-source-maps', entry, JSON.stringify(options)];
    const [program = '', ...args] = [...before, ...command];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const nextLine = async (): Promise<string> => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the camera process ended');
      return value;
    };
    const { port, hosts } = JSON.parse(await nextLine()) as { port: number; hosts: readonly string[] };
    const urls = Array.from(
      { length: options.cameras },
      (_, i) => `rtsp://${hosts[i % hosts.length]}:${port}/cam${i}`,
    );
    const ask = (): Promise<string> => {
      child.stdin.write('\n');
      return nextLine();
    };
    return new CameraProcess(port, child.pid ?? 0, urls, ask, async () => {
      child.kill('SIGTERM');
      await exited;
    });
  }

  /** What it has sent, how late, and what that cost it. */
  async report(): Promise<CameraProcessReport> {
    return JSON.parse(await this.#ask()) as CameraProcessReport;
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}
