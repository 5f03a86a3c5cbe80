import type { Express } from 'express';
import { isLoopback } from './base/client-address.js';
import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import { openFileLimit } from './base/open-file-limit.js';
import type { Config } from './config.js';
import { ConnectionCaps, connectionLimit } from './http/connection-caps.js';
import type { Route } from './http/route.js';
import { HttpServer, type ListenOptions, type ServerGuard } from './http/server.js';
import { StalledResponses } from './http/stalled-responses.js';
import type { ServedCertificate } from './http/tls/served-certificate.js';
import { createUpgradeListener, type UpgradeListener } from './http/upgrade.js';
import { createWebApp, isTrustedProxy, type WebAppDeps } from './http/web-app.js';
import type { Routes } from './routes.js';
import type { Stops } from './stops.js';

/** Where the service is found. */
export type Urls = { readonly url: string; readonly metricsUrl: string };

/** A listener's own: whoever takes all places of the one leaves those of the other. */
const guardsOf = (
  { maxConnections: wanted, maxConnectionsPerAddress }: Config,
  listener: 'service' | 'monitoring',
  app: Express,
  deps: { readonly clock: Clock; readonly log: Logger },
): ServerGuard[] => {
  const maxConnections = connectionLimit(wanted, openFileLimit(), listener);
  const isShared = (address: string): boolean => isLoopback(address) || isTrustedProxy(app, address);
  return [
    new ConnectionCaps({ maxConnections, maxConnectionsPerAddress, isShared }, deps),
    new StalledResponses(deps.clock),
  ];
};

/** Opens both listeners; they close together, so that neither waits for the other's clients. */
export const listen = async (
  config: Config,
  routes: Routes,
  deps: WebAppDeps & { readonly clock: Clock; readonly certificate: ServedCertificate | null },
  stops: Stops,
): Promise<Urls> => {
  const { corsOrigins, trustProxy } = config;
  const servers: HttpServer[] = [];
  stops.push(async () => void (await Promise.all(servers.map((server) => server.close()))));
  const open = async (
    listener: 'service' | 'monitoring',
    shown: readonly Route[],
    onUpgrade: UpgradeListener | null,
    at: ListenOptions,
  ): Promise<string> => {
    // Once told to insist on HTTPS, a browser lets nobody past a certificate that it doesn't know, such as the next one.
    const isHttps = at.tls !== null && !at.tls.isSelfSigned;
    const app = createWebApp(shown, { corsOrigins, trustProxy, isHttps }, deps);
    const server = await HttpServer.listen(at, app, onUpgrade, guardsOf(config, listener, app, deps));
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
  return { url, metricsUrl };
};
