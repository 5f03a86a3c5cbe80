import { STATUS_CODES } from 'node:http';
import { archiveErrorStatus } from '../archive/archive-error.js';
import { AppError } from '../base/errors.js';
import { whepErrorStatus } from '../live/whep/errors.js';
import { modelErrorStatus } from '../models/errors.js';
import { onvifErrorStatus } from '../onvif/errors.js';
import { pictureErrorStatus } from '../pictures/errors.js';

/** One thing that is wrong with the input, and where: `path` is empty for the input as a whole. */
export type InputFault = { readonly path: string; readonly message: string };

/** The body of every error answer (RFC 9457), plus our stable `code` and what is wrong with the input. */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly errors?: readonly InputFault[];
};

/** What the web layer itself refuses; all other codes come from the folder that threw. */
export type HttpErrorCode =
  | 'invalid_input'
  | 'invalid_json'
  | 'bad_request'
  | 'forbidden'
  | 'wrong_origin'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'body_too_large'
  | 'precondition_failed'
  | 'precondition_required'
  | 'unsupported_media_type'
  | 'upgrade_required'
  | 'no_picture';

/** The status of every code that a request can end with. What isn't here is a fault of ours: 500. */
const statusOfCode: Readonly<Record<string, number>> = {
  invalid_input: 400,
  invalid_json: 400,
  bad_request: 400,
  bad_url: 400,
  bad_snapshot: 400,
  bad_password: 400,
  admin_limited: 400,
  folder_cycle: 400,
  unknown_parent: 400,
  bad_credentials: 401,
  session_missing: 401,
  session_ended: 401,
  token_missing: 401,
  token_expired: 401,
  token_invalid: 401,
  token_revoked: 401,
  forbidden: 403,
  wrong_password: 403,
  wrong_origin: 403,
  not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  exists: 409,
  box_here: 409,
  last_admin: 409,
  too_many_layouts: 409,
  too_many_webhooks: 409,
  too_many_keys: 409,
  too_many_protected: 409,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  upgrade_required: 426,
  precondition_required: 428,
  too_many_attempts: 429,
  login_busy: 429,
  tests_busy: 429,
  box_unreachable: 502,
  database_unavailable: 503,
  cluster_unavailable: 503,
  cluster_key_wrong: 503,
  too_many_viewings: 503,
  too_many_walls: 503,
  no_picture: 503,
  ...modelErrorStatus,
  ...onvifErrorStatus,
  ...archiveErrorStatus,
  ...whepErrorStatus,
  ...pictureErrorStatus,
};

/** An answer with more would be larger than most questions; who asks for more has a route that lists more. */
const MAX_LISTED_ERRORS = 50;

/** How long a client is asked to wait where the error itself doesn't say. */
const DEFAULT_RETRY_AFTER_SEC: Readonly<Record<number, number>> = { 429: 60, 503: 5 };

/** An AppError of the web layer. */
export const httpError = (
  code: HttpErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError<HttpErrorCode> => new AppError(code, message, { details });

/** A 400 that lists what is wrong with the input. */
export const invalidInput = (
  errors: readonly InputFault[],
  maxListed: number = MAX_LISTED_ERRORS,
): AppError<HttpErrorCode> => httpError('invalid_input', summaryOf(errors), { errors, maxListed });

const summaryOf = (errors: readonly InputFault[]): string => {
  const [first] = errors;
  if (first === undefined) return 'the input is not valid';
  const text = first.path === '' ? first.message : `${first.path}: ${first.message}`;
  return errors.length === 1 ? text : `${text} (and ${errors.length - 1} more)`;
};

/** The problem that tells of a status, for answers that no error object stands behind. */
export const problemOfStatus = (status: number, code: string, detail: string): Problem => ({
  type: 'about:blank',
  title: STATUS_CODES[status] ?? 'Error',
  status,
  detail,
  code,
});

/**
 * What a client is told of anything that was thrown, and the headers that go with it. An unknown fault says
 * nothing of its inside: the log has it, under the request's id.
 */
export const problemOf = (
  thrown: unknown,
): { readonly problem: Problem; readonly headers: Readonly<Record<string, string>> } => {
  const status = thrown instanceof AppError ? statusOfCode[thrown.code] : undefined;
  if (!(thrown instanceof AppError) || status === undefined) {
    const problem = problemOfStatus(500, 'internal_error', 'the service failed; its log has the details');
    return { problem, headers: {} };
  }
  const { errors, maxListed = MAX_LISTED_ERRORS } = thrown.details as {
    errors?: readonly InputFault[];
    maxListed?: number;
  };
  const problem = problemOfStatus(status, thrown.code, thrown.message);
  return {
    problem: errors === undefined ? problem : withErrors(problem, errors, maxListed),
    headers: headersOf(status, thrown),
  };
};

const withErrors = (problem: Problem, errors: readonly InputFault[], maxListed: number): Problem => {
  if (errors.length <= maxListed) return { ...problem, errors };
  const detail = `${problem.detail}; the first ${maxListed} of ${errors.length} faults are listed`;
  return { ...problem, detail, errors: errors.slice(0, maxListed) };
};

const headersOf = (status: number, thrown: AppError): Record<string, string> => {
  const { allow, retryAfterSec } = thrown.details as { allow?: string; retryAfterSec?: number };
  const waitSec = retryAfterSec ?? DEFAULT_RETRY_AFTER_SEC[status];
  // RFC 6750, section 3: no error code where no token was sent.
  const challenge = /^token_(?!missing)/.test(thrown.code) ? 'Bearer error="invalid_token"' : 'Bearer';
  return {
    ...(waitSec === undefined ? {} : { 'Retry-After': String(Math.ceil(waitSec)) }),
    ...(allow === undefined ? {} : { Allow: allow }),
    ...(status === 401 ? { 'WWW-Authenticate': challenge } : {}),
    // RFC 9110, section 15.5.22, and RFC 6455, section 4.4: what would do instead.
    ...(status === 426 ? { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13' } : {}),
  };
};
