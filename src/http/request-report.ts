import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Logger } from '../base/log.js';

/** Told of every request that was answered; `route` is its declared path, never the one with ids in it. */
export type RequestObserver = (request: {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationSec: number;
}) => void;

export type ReportDeps = { readonly log: Logger; readonly onRequest: RequestObserver };

/** An id of the caller's own choice is kept, so that a proxy's log and ours can be laid side by side. */
export const requestIdOf = (header: string | string[] | undefined): string =>
  typeof header === 'string' && /^[A-Za-z0-9_.:-]{1,64}$/.test(header) ? header : randomUUID();

/** Tells of a request once it is over. */
export const watchRequest = (
  deps: ReportDeps,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  routeOf: () => string,
): void => {
  const startMs = performance.now();
  response.on('close', () => {
    const durationSec = (performance.now() - startMs) / 1000;
    reportRequest(deps, requestId, {
      method: request.method ?? '',
      route: routeOf(),
      status: response.statusCode,
      durationSec,
    });
  });
};

/** Tells of a request that was answered. */
export const reportRequest = (
  { log, onRequest }: ReportDeps,
  requestId: string,
  request: Parameters<RequestObserver>[0],
): void => {
  onRequest(request);
  // The declared path: the one that was asked for may hold a token in its query.
  log.debug('request', {
    method: request.method,
    route: request.route,
    status: request.status,
    duration_ms: Math.round(request.durationSec * 1000),
    request_id: requestId,
  });
};

/** What passes by itself, and is no fault of ours: however often players ask, the log stays readable. */
const passingCodes: ReadonlySet<string> = new Set([
  'no_picture',
  'too_many_viewings',
  'archive_busy',
  'recording_not_ready',
  'store_unavailable',
  'model_fetches_busy',
]);

/** Tells of a fault of ours. */
export const reportFault = (
  { log }: ReportDeps,
  thrown: unknown,
  request: {
    readonly method: string | undefined;
    readonly route: unknown;
    readonly status: number;
    readonly code: string;
    readonly requestId: unknown;
  },
): void => {
  if (request.status < 500 || passingCodes.has(request.code)) return;
  log.error('request failed', {
    method: request.method,
    route: request.route,
    status: request.status,
    request_id: request.requestId,
    fault: thrown instanceof Error ? thrown.stack : String(thrown),
  });
};
