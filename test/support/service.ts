import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type ApiAnswer, type ApiOptions, callApi } from './api-client.js';
import { until } from './until.js';

/** Where memory or threads are measured: what `npm start` and the image add. */
export const asNpmStart: Readonly<Record<string, string>> = {
  UV_THREADPOOL_SIZE: '16',
  GLIBC_TUNABLES:
    'glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=262144',
};

const entry = join(import.meta.dirname, '../../src/main.js');

export type Service = {
  readonly process: ChildProcess;
  /** All of standard output and of standard error so far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Exit code, or null if a signal ended it. */
  readonly exited: Promise<number | null>;
};

export type RunningService = Service & {
  readonly url: string;
  readonly metricsUrl: string;
  /** "" where no admin was made at this start. */
  readonly adminPassword: string;
  call(method: string, path: string, options?: ApiOptions): Promise<ApiAnswer>;
  login(username: string, password: string): Promise<string>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
};

/**
 * Runs the program as a person would, on ports of its own choice; no variable of the test's own environment counts.
 * `before`: words before the command, which must become it (`ip netns exec`).
 */
export const runService = (
  env: Readonly<Record<string, string>>,
  main = entry,
  before: readonly string[] = [],
): Service => {
  const [program = '', ...args] = [...before, process.execPath, main];
  const child = spawn(program, args, {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      RELAY_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that fails halfway leaves no service behind.
  const endWithTest = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithTest);
  child.once('exit', () => process.off('exit', endWithTest));
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const exited = once(child, 'close').then(([code]) => code as number | null);
  return { process: child, out: () => out, err: () => err, exited };
};

/** The records of the log on standard output. */
export const recordsOf = (out: string): Record<string, unknown>[] =>
  out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Runs the program and waits until it listens. */
export const startService = async (
  env: Readonly<Record<string, string>>,
  main = entry,
  before: readonly string[] = [],
): Promise<RunningService> => {
  const service = runService(env, main, before);
  const listening = await until(
    'the service listens',
    () => recordsOf(service.out()).find(({ msg }) => msg === 'listening'),
    { deadlineMs: 60_000, describe: () => service.out() + service.err() },
  );
  const url = String(listening['url']);
  const call: RunningService['call'] = (method, path, options) => callApi(url, method, path, options);
  return {
    ...service,
    url,
    metricsUrl: String(listening['metrics_url']),
    adminPassword: /^password: (.*)$/m.exec(service.out())?.[1] ?? '',
    call,
    login: async (username, password) =>
      (await call('POST', '/api/login', { body: { username, password } })).body.token,
    stop: () => {
      service.process.kill('SIGTERM');
      return service.exited;
    },
  };
};
