// Before all that makes hashes.
import './quick-passwords.js';

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from '../../src/app.js';
import { type Clock, systemClock } from '../../src/base/clock.js';
import type { SpawnCameraWorker } from '../../src/camera/fleet/worker-thread.js';
import type { ToCameraWorker } from '../../src/camera/messages.js';
import { readConfig } from '../../src/config.js';
import { LogHub } from '../../src/ops/log-hub.js';
import { createProcessLog } from '../../src/ops/process-log.js';
import { type ApiAnswer, type ApiOptions, callApi } from './api-client.js';

export const JWT_SECRET = 'a secret of the tests that is long enough';
export const roleNames = ['viewer', 'operator', 'admin', 'service'] as const;
export type RoleName = (typeof roleNames)[number];
export const USER_PASSWORD = 'correct horse battery';

/** Every call that a test made of the service. */
export type SeenCall = { readonly method: string; readonly path: string; readonly answer: ApiAnswer };

export type TestApp = {
  readonly url: string;
  readonly metricsUrl: string;
  readonly rtspUrl: string | null;
  readonly dataDir: string;
  readonly adminPassword: string;
  /** A token of a user of each role; the users are named like their roles. */
  readonly tokens: Readonly<Record<RoleName, string>>;
  /** All that was written to the log. */
  readonly logText: () => string;
  /** What the camera workers were told. */
  readonly told: ToCameraWorker[];
  readonly seen: SeenCall[];
  call(method: string, path: string, options?: ApiOptions): Promise<ApiAnswer>;
  /** The same with the admin's token. */
  asAdmin(method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  stop(): Promise<void>;
};

/** Stands where worker threads would: notes what it is told, and no camera ever answers. */
const silentWorkers =
  (told: ToCameraWorker[]): SpawnCameraWorker =>
  (_name, events) => {
    events.onMessage({ type: 'ready', bell: new SharedArrayBuffer(8) });
    const send = (message: ToCameraWorker): void => {
      told.push(message);
      if (message.type === 'release') events.onMessage({ type: 'released', cameraId: message.cameraId });
    };
    return { send, stop: () => Promise.resolve(), kill: () => {} };
  };

export type TestAppOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Kept when the app stops, so that another one can go on with it. */
  readonly dataDir?: string;
  /** Password hashes take their time: a test that needs no other roles can do without. */
  readonly withUsers?: boolean;
  readonly clock?: Clock;
  /** Threads in the place of silent ones. */
  readonly spawn?: SpawnCameraWorker;
};

const makeUsers = async (call: TestApp['call'], adminPassword: string): Promise<Record<RoleName, string>> => {
  const login = async (username: string, password: string): Promise<string> =>
    (await call('POST', '/api/login', { body: { username, password } })).body.token;
  const admin = await login('admin', adminPassword);
  const tokenOf = async (role: RoleName): Promise<[RoleName, string]> => {
    if (role === 'admin') return [role, admin];
    const body = { username: role, password: USER_PASSWORD, role };
    await call('POST', '/api/users', { token: admin, body });
    return [role, await login(role, USER_PASSWORD)];
  };
  return Object.fromEntries(await Promise.all(roleNames.map(tokenOf))) as Record<RoleName, string>;
};

/** The whole service in this process, on free ports, without worker threads unless the test has some. */
export const startTestApp = async (options: TestAppOptions = {}): Promise<TestApp> => {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'framering-app-'));
  const config = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    RELAY_PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'debug',
    JWT_SECRET,
    ...options.env,
  });
  const hub = new LogHub();
  let logText = '';
  const sink = {
    write: (line: string) => {
      logText += line;
    },
    flushSync: () => {},
  };
  const { log, audit } = createProcessLog({ level: config.logLevel }, { hub, sink });
  let adminPassword = '';
  const told: ToCameraWorker[] = [];
  const app = await App.start(config, {
    clock: options.clock ?? systemClock,
    log,
    audit,
    hub,
    version: '1.2.3-test',
    spawn: options.spawn ?? silentWorkers(told),
    showAdmin: ({ password }) => {
      adminPassword = password;
    },
  });
  const seen: SeenCall[] = [];
  const call: TestApp['call'] = async (method, path, callOptions) => {
    const answer = await callApi(app.url, method, path, callOptions);
    seen.push({ method, path, answer });
    return answer;
  };
  const none = { viewer: '', operator: '', admin: '', service: '' };
  const tokens = options.withUsers === false ? none : await makeUsers(call, adminPassword);
  return {
    url: app.url,
    metricsUrl: app.metricsUrl,
    rtspUrl: app.rtspUrl,
    dataDir,
    adminPassword,
    tokens,
    logText: () => logText,
    told,
    seen,
    call,
    asAdmin: (method, path, body) =>
      call(method, path, { token: tokens.admin, ...(body === undefined ? {} : { body }) }),
    stop: async () => {
      await app.stop();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
