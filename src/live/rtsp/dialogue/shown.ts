import type { RtspHeaders } from '../../../rtsp/message.js';
import type { Shown } from '../admission.js';

/** The name and the password of `Authorization: Basic …` (RFC 7617), or null. */
const loginOf = (authorization: string): Shown['login'] => {
  const encoded = /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
};

/** What a request shows: a token in its address or in its header, or a name and a password. */
export const shownBy = (headers: RtspHeaders, token: string | null, address: string): Shown => {
  const authorization = headers.get('authorization') ?? '';
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
  return { token: bearer ?? token, login: loginOf(authorization), address };
};
