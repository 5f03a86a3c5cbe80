import { type ChildProcess, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { readVideoStream, type VideoStream } from '../support/elementary-stream.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';

export type ArchiveEntry = { readonly start: string; readonly end: string; readonly filename: string };

/** A moment before which nobody was held up for long, and for how long at the most. */
export type OnTime = { readonly atMs: number; readonly lateMs: number };

/** Whoever is held up for so long has something to make up for. */
const HELD_UP_MS = 250;
/** By then that is made up for. */
export const ON_TIME_MS = 500;
const ASK_EVERY_MS = 20;

/** A real H.264 stream with a keyframe each `gopSeconds`; `kbps` makes it as large as the disk test needs. */
export const encodeVideo = (folder: string, gopSeconds: number, seconds: number, kbps = 0): VideoStream => {
  const path = join(folder, `gop-${gopSeconds}.264`);
  const size = kbps === 0 ? '160x120' : '640x360';
  const noise = kbps === 0 ? [] : ['-vf', 'noise=alls=40:allf=t'];
  const rate =
    kbps === 0
      ? []
      : ['-b:v', `${kbps}k`, '-minrate', `${kbps}k`, '-maxrate', `${kbps}k`, '-bufsize', `${kbps}k`];
  const gop = ['-g', String(gopSeconds * 15), '-sc_threshold', '0', '-bf', '0', ...rate];
  const args = [
    '-v',
    'error',
    '-y',
    '-f',
    'lavfi',
    '-i',
    `testsrc2=size=${size}:rate=15:duration=${seconds}`,
  ];
  const { status, stderr } = spawnSync(
    'ffmpeg',
    [...args, ...noise, '-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', ...gop, path],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return readVideoStream(path, { codec: 'h264', frameRateHz: 15 });
};

/** The service with recorded cameras, that can be killed and started again on the same data. */
export class RecordingService {
  readonly camera: FakeCamera;
  readonly ids: readonly string[];
  readonly archiveDir: string;
  service!: RunningService;
  #password = '';
  #token = '';
  readonly #env: Readonly<Record<string, string>>;

  private constructor(camera: FakeCamera, ids: readonly string[], env: Record<string, string>) {
    this.camera = camera;
    this.ids = ids;
    this.archiveDir = env['ARCHIVE_DIR']!;
    this.#env = env;
  }

  static async start(
    t: TestContext,
    videos: Readonly<Record<string, VideoStream>>,
    env: Record<string, string>,
  ): Promise<RecordingService> {
    const mounts = Object.entries(videos).map(([id, video]) => [`/${id}`, { video }]);
    const camera = await FakeCamera.start({ mounts: Object.fromEntries(mounts) });
    t.after(() => camera[Symbol.asyncDispose]());
    const recording = new RecordingService(camera, Object.keys(videos), env);
    await recording.run();
    t.after(() => recording.process.kill('SIGKILL'));
    for (const id of recording.ids) {
      await recording.call('POST', '/api/cameras', { id, url: camera.url(`/${id}`), record: true });
    }
    return recording;
  }

  get process(): ChildProcess {
    return this.service.process;
  }

  /** The admin's. */
  get token(): string {
    return this.#token;
  }

  /** Starts the service, for the first time or again; `env`: what is otherwise this time. */
  async run(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.service = await startService({ ...this.#env, ...env });
    if (this.service.adminPassword !== '') this.#password = this.service.adminPassword;
    this.#token = await this.service.login('admin', this.#password);
  }

  async call(method: string, path: string, body?: unknown) {
    return this.service.call(method, path, { token: this.#token, ...(body === undefined ? {} : { body }) });
  }

  /**
   * Waits until service and camera have been on time for a while: whoever stood still has pictures to make up for, of
   * which nothing is promised yet.
   */
  async untilOnTime(): Promise<OnTime> {
    let sinceMs = performance.now();
    let lastMs = sinceMs;
    let lateMs = 0;
    const isOnTime = async (): Promise<OnTime | false> => {
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
      await this.service.call('GET', '/livez');
      const nowMs = performance.now();
      const tookMs = nowMs - lastMs - ASK_EVERY_MS;
      lastMs = nowMs;
      if (tookMs > HELD_UP_MS) [sinceMs, lateMs] = [nowMs, 0];
      else lateMs = Math.max(lateMs, tookMs);
      return nowMs - sinceMs >= ON_TIME_MS && { atMs: Date.now(), lateMs };
    };
    return until('nobody was held up for a while', isOnTime, { deadlineMs: 180_000 });
  }

  /** kill -9; returns the moment. */
  async kill(): Promise<number> {
    const atMs = Date.now();
    this.process.kill('SIGKILL');
    await this.service.exited;
    return atMs;
  }

  files(id: string): string[] {
    try {
      return readdirSync(join(this.archiveDir, id)).sort();
    } catch {
      return [];
    }
  }

  pathOf(id: string, name: string): string {
    return join(this.archiveDir, id, name);
  }

  async archive(id: string): Promise<ArchiveEntry[]> {
    return (await this.call('GET', `/api/cameras/${id}/archive`)).body;
  }

  async readiness(): Promise<{ status: number; archive: string }> {
    const { status, body } = await this.service.call('GET', '/readyz');
    return { status, archive: body.checks.archive };
  }

  async isRecording(id: string): Promise<boolean> {
    const { body } = await this.call('GET', '/api/cameras');
    return body.find((camera: { id: string }) => camera.id === id).recording;
  }

  async untilRecording(deadlineMs = 60_000): Promise<void> {
    for (const id of this.ids) {
      await until(`${id} is recorded`, () => this.isRecording(id), {
        deadlineMs,
        describe: () => this.service.out().slice(-2000),
      });
    }
  }
}
