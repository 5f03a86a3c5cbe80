import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const script = join(import.meta.dirname, '../../../test/support/gst-server.py');
/** Debian's GStreamer bindings belong to Debian's Python, whatever else is on the path. */
const PYTHON = '/usr/bin/python3';

export type GstServerOptions = {
  /** Launch lines by path; the payloaders are named pay0, pay1. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly auth?: { readonly scheme: 'basic' | 'digest'; readonly user: string; readonly password: string };
  /** 0 picks a free one. */
  readonly port?: number;
};

/** GStreamer's RTSP server in a process of its own. */
export class GstServer {
  readonly port: number;
  readonly #stop: () => Promise<void>;

  private constructor(port: number, stop: () => Promise<void>) {
    this.port = port;
    this.#stop = stop;
  }

  static async start(options: GstServerOptions): Promise<GstServer> {
    const child = spawn(PYTHON, [script, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([once(lines, 'line'), exited]);
    if (typeof first[0] !== 'string') throw new Error(`gst-server.py ended at once (${String(first[0])})`);
    return new GstServer((JSON.parse(first[0]) as { port: number }).port, async () => {
      child.kill('SIGKILL');
      await exited;
    });
  }

  /** Kills the process, as a camera that loses power. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

/** Puts an elementary stream into an MP4 file, from where GStreamer takes it with exact times. */
export const remux = (inputs: readonly { path: string; frameRateHz?: number }[], mp4Path: string): void => {
  const from = inputs.flatMap(({ path, frameRateHz }) => [
    ...(frameRateHz === undefined ? [] : ['-framerate', String(frameRateHz)]),
    '-i',
    path,
  ]);
  const maps = inputs.flatMap((_, index) => ['-map', String(index)]);
  execFileSync('ffmpeg', [
    '-nostdin',
    '-v',
    'error',
    '-y',
    '-fflags',
    '+genpts',
    ...from,
    ...maps,
    '-c',
    'copy',
    mp4Path,
  ]);
};
