import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemOf } from './problem.js';
import { type ReportDeps, reportFault } from './request-report.js';

/** What is known of the request that failed. */
export type AskedRoute = { readonly route?: unknown; readonly requestId?: unknown };

/** The one place where anything that was thrown becomes an answer. */
export const sendProblem = (
  deps: ReportDeps,
  thrown: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  { route, requestId }: AskedRoute,
): void => {
  const { problem, headers } = problemOf(thrown);
  const { status, code } = problem;
  reportFault(deps, thrown, { method: request.method, route, status, code, requestId });
  if (response.headersSent) {
    // Half of the answer is out: the client must see that the rest is missing.
    request.socket.destroy();
    return;
  }
  const body = JSON.stringify(problem);
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.setHeader('Cache-Control', 'no-store');
  response.end(body);
};
