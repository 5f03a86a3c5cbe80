import { AppError } from '../../../base/errors.js';
import type { Answer, Status } from './answer.js';

/** What a client is told where it may not, or can't, have what it wants; by the code of what was thrown. */
const statusOf: Readonly<Record<string, Status>> = {
  not_found: 404,
  token_missing: 401,
  token_expired: 401,
  token_revoked: 401,
  token_invalid: 401,
  bad_credentials: 401,
  forbidden: 403,
  too_many_attempts: 503,
  login_busy: 503,
  no_picture: 503,
  no_session_left: 453,
};

const RETRY_SEC = 5;

const retryAfter = ({ details }: AppError): string => {
  const sec = details['retryAfterSec'];
  return String(typeof sec === 'number' ? sec : RETRY_SEC);
};

/** The answer for what was thrown; null: that was no refusal but a fault. */
export const refusalOf = (thrown: unknown): Answer | null => {
  const status = thrown instanceof AppError ? statusOf[thrown.code] : undefined;
  if (!(thrown instanceof AppError) || status === undefined) return null;
  if (status === 401) return { status, headers: [['WWW-Authenticate', 'Basic realm="Framering"']] };
  if (status === 503) return { status, headers: [['Retry-After', retryAfter(thrown)]] };
  return { status };
};
