import { authError } from '../../src/auth/auth-error.js';
import { LoginLimiter } from '../../src/auth/login-limiter.js';
import { Sights } from '../../src/auth/sight.js';
import { Tokens } from '../../src/auth/tokens.js';
import { Viewers } from '../../src/auth/viewers.js';
import { ViewingGate } from '../../src/auth/viewing-gate.js';
import { createLogger } from '../../src/base/log.js';
import { ForwardedNotice } from '../../src/http/forwarded-notice.js';
import type { Route } from '../../src/http/route.js';
import { withOpenApi } from '../../src/http/routes/openapi.js';
import { HttpServer, type ListenOptions } from '../../src/http/server.js';
import { StalledResponses } from '../../src/http/stalled-responses.js';
import { StreamAccess, type WatchedCamera } from '../../src/http/stream-access.js';
import { createUpgradeListener, type StreamUpgrade, upgradeRoutes } from '../../src/http/upgrade.js';
import { createWebApp, type WebAppOptions } from '../../src/http/web-app.js';
import type { StoredUser } from '../../src/store/users.js';
import { type ApiAnswer, type ApiOptions, callApi } from './api-client.js';
import { FakeClock } from './fake-clock.js';
import type { SeenCall } from './test-app.js';

export type WebServer = {
  readonly url: string;
  readonly clock: FakeClock;
  readonly tokens: Tokens;
  readonly viewers: Viewers;
  /** Those that may be watched: `open`, `locked` (asks for tokens), `off` (disabled) and what a test adds. */
  readonly cameras: Map<string, WatchedCamera>;
  /** Cameras that this box can't show live, and why. */
  readonly unseen: Map<string, string>;
  readonly users: Map<string, StoredUser>;
  /** Routes and statuses of the requests that were answered. */
  readonly reported: string[];
  readonly seen: SeenCall[];
  readonly logText: () => string;
  accessToken(username: string): string;
  streamToken(cameraId: string, username?: string): string;
  call(method: string, path: string, options?: ApiOptions): Promise<ApiAnswer>;
  stop(): Promise<void>;
};

const userNamed = (username: string, role: StoredUser['role']): StoredUser => ({
  username,
  role,
  password_hash: 'h',
  token_epoch: 'epoch-1',
});

/** A listener with a test's own routes and the service's own doors: users `viewer` and `eve`, and a clock to set. */
export const startWebServer = async (
  routes: readonly Route[],
  upgrades: readonly StreamUpgrade[] = [],
  tls: ListenOptions['tls'] = null,
  trustProxy: WebAppOptions['trustProxy'] = false,
): Promise<WebServer> => {
  const clock = new FakeClock();
  let logText = '';
  const log = createLogger((level, message, fields) => {
    logText += `${JSON.stringify({ level, message, ...fields })}\n`;
  });
  const users = new Map([
    ['viewer', userNamed('viewer', 'viewer')],
    ['eve', userNamed('eve', 'viewer')],
    ['olga', userNamed('olga', 'operator')],
  ]);
  const wrongKeys = new LoginLimiter({ clock, isHome: () => false });
  const noKeys = {
    verify: (_key: string, address: string): never => {
      wrongKeys.fail(address);
      throw authError('token_invalid', 'there is no such key');
    },
    find: () => null,
  };
  const tokens = new Tokens(Buffer.alloc(32, 1), {
    users: { find: (name) => users.get(name) ?? null },
    keys: noKeys,
    clock,
  });
  const viewers = new Viewers({ clock, log });
  const sights = new Sights({
    cameras: { folderOf: () => null, withTag: () => [] },
    folders: { parentOf: () => null },
    ...{ limitsOf: () => null, viewers },
  });
  const cameras = new Map<string, WatchedCamera>([
    ['open', { tokenAuth: false, isDisabled: false }],
    ['locked', { tokenAuth: true, isDisabled: false }],
    ['off', { tokenAuth: false, isDisabled: true }],
  ]);
  const unseen = new Map<string, string>();
  const streams = new StreamAccess({
    cameras: { watched: (id) => cameras.get(id) ?? null, whyUnseen: (id) => unseen.get(id) ?? null },
    gate: new ViewingGate({ tokens, viewers, sights }),
  });
  const reported: string[] = [];
  const deps = {
    clock,
    log,
    audit: log,
    forwarded: new ForwardedNotice(log),
    ...{ tokens, sights, streams },
    onRequest: ({ method, route, status }: { method: string; route: string; status: number }) =>
      void reported.push(`${method} ${route} ${status}`),
  };
  const app = createWebApp(
    withOpenApi([...routes, ...upgradeRoutes(upgrades)], '1.2.3-test'),
    { corsOrigins: [], trustProxy, isHttps: tls !== null },
    deps,
  );
  const at = { host: '127.0.0.1', hostVariable: 'HOST', port: 0, portVariable: 'PORT', tls };
  const guards = [new StalledResponses(clock)];
  const server = await HttpServer.listen(at, app.listener, createUpgradeListener(upgrades, deps), guards);
  const seen: SeenCall[] = [];
  const accessToken = (username: string): string => tokens.issueAccess(users.get(username)!);
  return {
    url: server.url,
    clock,
    tokens,
    viewers,
    cameras,
    unseen,
    users,
    reported,
    seen,
    logText: () => logText,
    accessToken,
    streamToken: (cameraId, username = 'viewer') =>
      tokens.issueStream(tokens.verifyAccess(accessToken(username)), cameraId),
    call: async (method, path, options) => {
      const answer = await callApi(server.url, method, path, options);
      seen.push({ method, path, answer });
      return answer;
    },
    stop: () => server.close(),
  };
};
