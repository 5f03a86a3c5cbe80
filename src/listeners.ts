import { join } from 'node:path';
import { isLoopback } from './base/client-address.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import { openFileLimit } from './base/open-file-limit.js';
import type { Config } from './config.js';
import { ConnectionCaps, connectionLimit } from './http/connection-caps.js';
import { createPages } from './http/pages.js';
import type { Route } from './http/route.js';
import { HttpServer, type ListenOptions } from './http/server.js';
import { StalledResponses } from './http/stalled-responses.js';
import type { ServedCertificate } from './http/tls/served-certificate.js';
import { createUpgradeListener, type UpgradeListener } from './http/upgrade.js';
import { createWebApp, type WebAppDeps } from './http/web-app.js';
import type { RtspAccess } from './live/rtsp/admission.js';
import { RtspServer } from './live/rtsp/server.js';
import type { RtspViews } from './live/rtsp/views.js';
import type { Routes } from './routes.js';
import type { Stops } from './stops.js';

/** Where the service is found; null: not there. */
export type Urls = {
  readonly url: string;
  readonly metricsUrl: string;
  readonly rtspUrl: string | null;
  readonly rtspsUrl: string | null;
};

/** What the build made of src/web, beside what it made of this file. */
const WEB_FOLDER = join(import.meta.dirname, '../web');

export type ListenDeps = Omit<WebAppDeps, 'pages'> & {
  readonly clock: Clock;
  readonly certificate: ServedCertificate | null;
  readonly rtsp: { readonly views: RtspViews; readonly access: RtspAccess };
};

type Caps = { readonly clock: Clock; readonly log: Logger };

/** A listener's own: whoever takes all places of the one leaves those of the others. */
const capsOf = (
  { maxConnections: wanted, maxConnectionsPerAddress }: Config,
  listener: Parameters<typeof connectionLimit>[2],
  isProxy: (address: string) => boolean,
  deps: Caps,
): ConnectionCaps => {
  const maxConnections = connectionLimit(wanted, openFileLimit(), listener);
  const isShared = (address: string): boolean => isLoopback(address) || isProxy(address);
  return new ConnectionCaps({ maxConnections, maxConnectionsPerAddress, isShared }, deps);
};

/** The listener for RTSP, or over TLS; null where it isn't wanted. */
const listenRtsp = async (
  config: Config,
  listener: 'rtsp' | 'rtsps',
  { clock, log, rtsp, certificate }: ListenDeps,
): Promise<RtspServer | null> => {
  const isTls = listener === 'rtsps';
  const port = isTls ? config.rtspsPort : config.rtspPort;
  if (port === null) return null;
  const tls = isTls ? certificate : null;
  const portVariable = isTls ? 'RTSPS_PORT' : 'RTSP_PORT';
  const guard = capsOf(config, listener, () => false, { clock, log });
  return await RtspServer.listen(
    { host: config.host, port, portVariable, tls },
    { clock, log, guard, ...rtsp },
  );
};

/** Opens all listeners; they close together, so that none waits for another's clients. */
export const listen = async (
  config: Config,
  routes: Routes,
  deps: ListenDeps,
  stops: Stops,
): Promise<Urls> => {
  const { corsOrigins, trustProxy } = config;
  const servers: { close(): Promise<void> }[] = [];
  stops.push(async () => void (await Promise.all(servers.map((server) => server.close()))));
  const open = async (
    listener: 'service' | 'monitoring',
    shown: readonly Route[],
    onUpgrade: UpgradeListener | null,
    at: ListenOptions,
  ): Promise<string> => {
    // Once told to insist on HTTPS, a browser lets nobody past a certificate that it doesn't know, such as the next one.
    const isHttps = at.tls !== null && !at.tls.isSelfSigned;
    const pages = listener === 'service' ? { pages: createPages(WEB_FOLDER, deps.log) } : {};
    const app = createWebApp(shown, { corsOrigins, trustProxy, isHttps }, { ...deps, ...pages });
    const caps = capsOf(config, listener, (address) => app.isTrustedProxy(address), deps);
    const guards = [caps, new StalledResponses(deps.clock)];
    const server = await HttpServer.listen(at, app.listener, onUpgrade, guards);
    servers.push(server);
    return server.url;
  };
  const onUpgrade = createUpgradeListener(routes.upgrades, deps);
  const url = await open('service', routes.all, onUpgrade, {
    ...{ host: config.host, hostVariable: 'HOST' },
    ...{ port: config.port, portVariable: 'PORT', tls: deps.certificate },
  });
  const metricsUrl = await open('monitoring', routes.probes, null, {
    ...{ host: config.metricsHost, hostVariable: 'METRICS_HOST' },
    ...{ port: config.metricsPort, portVariable: 'METRICS_PORT', tls: null },
  });
  const rtsp = await listenRtsp(config, 'rtsp', deps);
  if (rtsp !== null) servers.push(rtsp);
  const rtsps = await listenRtsp(config, 'rtsps', deps);
  if (rtsps !== null) servers.push(rtsps);
  return { url, metricsUrl, rtspUrl: rtsp?.url ?? null, rtspsUrl: rtsps?.url ?? null };
};
