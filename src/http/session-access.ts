import type { Request } from 'express';
import { authError } from '../auth/auth-error.js';
import { type HeldSession, REMEMBERED_DAYS } from '../auth/sessions.js';
import { httpError } from './problem.js';

/** Where the cookie goes, and nowhere else: no other route can be called by a browser that merely has it. */
const PATH = '/api/session';
const REMEMBERED_SEC = REMEMBERED_DAYS * 86_400;

/**
 * By TLS the name says so: then no page that came without it can put a cookie of its own in the place of this one
 * (RFC 6265bis, section 4.1.3.1), nor be kept from its own by this one.
 */
const nameOf = (isSecure: boolean): string => `${isSecure ? '__Secure-' : ''}framering_session`;

/** The secret in a request's cookie, or null. Of several with the name the first has the longest path. */
const secretOf = (request: Request): string | null => {
  const name = nameOf(request.secure);
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key = '', value = ''] = pair.split('=', 2);
    if (key.trim() === name && /^[A-Za-z0-9_-]{43}$/.test(value.trim())) return value.trim();
  }
  return null;
};

/** Whether an Origin header (RFC 6454, section 7) names the host that the request was sent to. */
const isOwnOrigin = (request: Request): boolean => {
  const { origin } = request.headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  // That it did not come by TLS may only mean that the proxy doesn't say so.
  const isOwnScheme = protocol === 'https:' || (protocol === 'http:' && !request.secure);
  const own = `${protocol}//${request.host}`;
  return isOwnScheme && URL.canParse(own) && new URL(own).host === host;
};

/** Browsers that know it say who asks, where the address is one that can be trusted (Fetch Metadata). */
const isOwnSite = (request: Request): boolean =>
  (request.headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin';

/** What the browser holds of its session; throws `session_missing`, or `wrong_origin` where no page of ours asks. */
export const authorizeSession = (request: Request): string => {
  const secret = secretOf(request);
  if (secret === null) throw authError('session_missing', 'there is no session: log in');
  if (!isOwnOrigin(request) || !isOwnSite(request))
    throw httpError('wrong_origin', 'only a page of this very service may use its session');
  return secret;
};

const cookieOf = (isSecure: boolean, value: string, lifetime: string): Record<string, string> => ({
  'Set-Cookie': `${nameOf(isSecure)}=${value}; Path=${PATH}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${lifetime}`,
});

/** The header that gives a browser its session, or keeps it for another while. */
export const sessionCookie = (
  { secret, isRemembered }: HeldSession,
  isSecure: boolean,
): Record<string, string> => cookieOf(isSecure, secret, isRemembered ? `; Max-Age=${REMEMBERED_SEC}` : '');

/** The header that takes it away. */
export const endedCookie = (isSecure: boolean): Record<string, string> =>
  cookieOf(isSecure, '', '; Max-Age=0');
