import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { type RunningService, recordsOf, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

export type Source = {
  readonly video: VideoStream;
  readonly audio?: AudioStream;
  readonly hasMetadata?: boolean;
};

export type RtspOut = {
  readonly camera: FakeCamera;
  readonly service: RunningService;
  /** `rtsp://127.0.0.1:<port>`. */
  readonly url: string;
  call(method: string, path: string, body?: unknown): ReturnType<RunningService['call']>;
  viewersOf(id: string): Promise<number>;
};

/** The service with a camera for each source, all of them streaming, shown over RTSP. */
export const startRtspOut = async (
  t: TestContext,
  sources: Readonly<Record<string, Source>>,
  env: Readonly<Record<string, string>> = {},
): Promise<RtspOut> => {
  const mounts = Object.entries(sources).map(([id, source]) => [`/${id}`, source]);
  const camera = await FakeCamera.start({ mounts: Object.fromEntries(mounts) });
  t.after(() => camera[Symbol.asyncDispose]());
  const service = await startService({ DATA_DIR: tempFolder(t), RTSP_PORT: '0', ...env });
  t.after(() => service.process.kill('SIGKILL'));
  const listening = recordsOf(service.out()).find(({ msg }) => msg === 'listening');
  const token = await service.login('admin', service.adminPassword);
  const call: RtspOut['call'] = (method, path, body) =>
    service.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  for (const id of Object.keys(sources))
    await call('POST', '/api/cameras', { id, url: camera.url(`/${id}`) });
  const list = async (): Promise<{ id: string; state: string; viewers: number }[]> =>
    (await call('GET', '/api/cameras')).body;
  await until('all cameras stream', async () => (await list()).every(({ state }) => state === 'streaming'));
  const viewersOf = async (id: string): Promise<number> =>
    (await list()).find((camera) => camera.id === id)?.viewers ?? -1;
  return { camera, service, url: String(listening?.['rtsp_url']), call, viewersOf };
};

/** Runs a program to its end; its exit code, and what it wrote on standard error. */
export const run = async (
  program: string,
  args: readonly string[],
  timeoutMs = 60_000,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> => {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const killer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(killer);
  return { code, out, err };
};
