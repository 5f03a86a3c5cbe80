import type { RequestListener } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Clock } from '../base/clock.js';
import { AppError, messageOf } from '../base/errors.js';
import { Compression } from './compression.js';
import { createCors } from './cors.js';
import type { ForwardedNotice } from './forwarded-notice.js';
import { type Doorkeepers, mountRoutes } from './mount.js';
import { OftenAsked } from './often-asked.js';
import { httpError } from './problem.js';
import { sendProblem } from './problem-answer.js';
import { type ReportDeps, requestIdOf, watchRequest } from './request-report.js';
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
    const routeOf = (): string => (response.locals['route'] as string | undefined) ?? 'none';
    const requestId = requestIdOf(request.headers['x-request-id']);
    watchRequest(deps, request, response, requestId, routeOf);
    response.setHeader('X-Request-Id', requestId);
    // Proxies put their own clock in the place of `Date`.
    response.setHeader('Service-Time', new Date(deps.clock.wallMs()).toISOString());
    response.locals['requestId'] = requestId;
    next();
  };

const answerProblem =
  (deps: WebAppDeps): ErrorRequestHandler =>
  (thrown: unknown, request, response, _next) => {
    const fault =
      thrown instanceof URIError ? httpError('bad_request', 'the path is not encoded properly') : thrown;
    sendProblem(deps, fault, request, response, response.locals);
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

/** One listener's application. */
export type WebApp = {
  readonly listener: RequestListener;
  /** Whether it takes an address for a proxy's, which many clients stand behind. */
  isTrustedProxy(address: string): boolean;
};

/** One listener's application: headers, routes, and an answer for everything else. */
export const createWebApp = (routes: readonly Route[], options: WebAppOptions, deps: WebAppDeps): WebApp => {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  // One spelling each: proxies have rules for some paths, of just that spelling.
  app.enable('case sensitive routing');
  app.enable('strict routing');
  trust(app, options.trustProxy);
  const headers = [securityHeaders(options.isHttps), createCors(options.corsOrigins)];
  app.use(observe(deps), ...headers);
  if (options.trustProxy === false) app.use(deps.forwarded.look);
  const compression = new Compression();
  mountRoutes(app, routes, deps, compression);
  if (deps.pages !== undefined) app.use(deps.pages);
  app.use(() => {
    throw httpError('route_not_found', 'there is nothing at this path');
  });
  app.use(answerProblem(deps));
  const oftenAsked = new OftenAsked(routes, { app, headers, compression }, deps);
  return {
    listener: (request, response) => {
      if (!oftenAsked.take(request, response)) app(request, response);
    },
    isTrustedProxy: (address) =>
      (app.get('trust proxy fn') as (address: string, hop: number) => boolean)(address, 0),
  };
};
