import { performance } from 'node:perf_hooks';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Clock } from '../base/clock.js';
import { AppError, messageOf } from '../base/errors.js';
import { createCors } from './cors.js';
import type { ForwardedNotice } from './forwarded-notice.js';
import { type Doorkeepers, mountRoutes } from './mount.js';
import { httpError, problemOf } from './problem.js';
import { type ReportDeps, reportFault, reportRequest, requestIdOf } from './request-report.js';
import type { Route } from './route.js';

export type WebAppOptions = {
  readonly corsOrigins: readonly string[];
  readonly trustProxy: boolean | number | string;
  readonly isHttps: boolean;
};

export type WebAppDeps = ReportDeps &
  Doorkeepers & {
    readonly forwarded: ForwardedNotice;
    readonly clock: Pick<Clock, 'wallMs'>;
    /** What is at paths that are no route's: the web app's files. */
    readonly pages?: RequestHandler;
  };

const securityHeaders = (isHttps: boolean): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    strictTransportSecurity: isHttps,
  });

const observe =
  (deps: WebAppDeps): RequestHandler =>
  (request, response, next) => {
    const startMs = performance.now();
    const requestId = requestIdOf(request.headers['x-request-id']);
    response.setHeader('X-Request-Id', requestId);
    // Proxies put their own clock in the place of `Date`.
    response.setHeader('Service-Time', new Date(deps.clock.wallMs()).toISOString());
    response.locals['requestId'] = requestId;
    response.once('close', () => {
      const route = (response.locals['route'] as string | undefined) ?? 'none';
      const durationSec = (performance.now() - startMs) / 1000;
      reportRequest(deps, requestId, {
        method: request.method,
        route,
        status: response.statusCode,
        durationSec,
      });
    });
    next();
  };

/** The one place where anything that was thrown becomes an answer. */
const answerProblem =
  (deps: WebAppDeps): ErrorRequestHandler =>
  (thrown: unknown, request, response, _next) => {
    const isUrlBad = thrown instanceof URIError;
    const { problem, headers } = problemOf(
      isUrlBad ? httpError('bad_request', 'the path is not encoded properly') : thrown,
    );
    reportFault(deps, thrown, {
      method: request.method,
      route: response.locals['route'],
      status: problem.status,
      code: problem.code,
      requestId: response.locals['requestId'],
    });
    if (response.headersSent) {
      // Half of the answer is out: the client must see that the rest is missing.
      request.socket.destroy();
      return;
    }
    const body = JSON.stringify(problem);
    response.statusCode = problem.status;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(body));
    response.setHeader('Cache-Control', 'no-store');
    response.end(body);
  };

/** Express alone knows what it takes for a subnet. */
const trust = (app: Express, trustProxy: WebAppOptions['trustProxy']): void => {
  try {
    app.set('trust proxy', trustProxy);
  } catch (cause) {
    const message = `TRUST_PROXY=${JSON.stringify(trustProxy)} can't be used: ${messageOf(cause)}`;
    throw new AppError('bad_config', message, { cause });
  }
};

/** Whether the application takes an address for a proxy's, which many clients stand behind. */
export const isTrustedProxy = (app: Express, address: string): boolean =>
  (app.get('trust proxy fn') as (address: string, hop: number) => boolean)(address, 0);

/** One listener's application: headers, routes, and an answer for everything else. */
export const createWebApp = (routes: readonly Route[], options: WebAppOptions, deps: WebAppDeps): Express => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // One spelling each: proxies have rules for some paths, of just that spelling.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  trust(app, options.trustProxy);
  app.use(observe(deps), securityHeaders(options.isHttps), createCors(options.corsOrigins));
  if (options.trustProxy === false) app.use(deps.forwarded.look);
  mountRoutes(app, routes, deps);
  if (deps.pages !== undefined) app.use(deps.pages);
  app.use(() => {
    throw httpError('route_not_found', 'there is nothing at this path');
  });
  app.use(answerProblem(deps));
  return app;
};
