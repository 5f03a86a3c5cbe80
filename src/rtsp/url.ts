import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import type { Credentials } from './auth.js';
import { rtspError } from './errors.js';

export type CameraUrl = {
  readonly isSecure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  readonly credentials: Credentials | null;
  /** What goes into requests: no credentials, only printable ASCII. */
  readonly requestUri: string;
};

const RTSP_PORT = 554;
const RTSPS_PORT = 322;
const MAX_URL_CHARS = 4096;

type HostPort = { readonly host: string; readonly port: number | null };

const toHostPort = (text: string): HostPort | null => {
  if (isIPv6(text)) return { host: text, port: null };
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5})?)?$/.exec(text);
  if (match === null) return null;
  const [, address, name, digits] = match;
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  if (address !== undefined) {
    const plain = address.replace('%25', '%');
    return isIPv6(plain) ? { host: plain, port } : null;
  }
  if (name === undefined || !/^[\p{L}\p{N}._-]+$/u.test(name)) return null;
  // Only where it must: it would also make 0.0.0.5 of a 5, which may be a part of a password.
  const host = /^[!-~]+$/.test(name) ? name : domainToASCII(name);
  return host === '' ? null : { host, port };
};

/** How sure we are that this is where the host stands: 2 an address or a dotted name, 1 a bare word, 0 none. */
const sureness = (hostPort: HostPort | null): number => {
  if (hostPort === null) return 0;
  return /[.:]/.test(hostPort.host) || hostPort.host === 'localhost' ? 2 : 1;
};

const authorityEnd = (text: string, from: number): number => {
  const end = text.slice(from).search(/[/?#]/);
  return end < 0 ? text.length : from + end;
};

const hostPortAfter = (text: string, at: number): HostPort | null =>
  toHostPort(text.slice(at + 1, authorityEnd(text, at + 1)));

/**
 * Where the `@` stands that ends the credentials; -1: there are none. As written in the RFC it is the last one
 * before the first `/`, `?` or `#`. Where no host stands behind that one, the password itself holds such a
 * character and a later `@` is meant (quirk: mediamtx#2069).
 */
const findAt = (text: string): number => {
  const conventional = text.slice(0, authorityEnd(text, 0)).lastIndexOf('@');
  const conventionalSureness = sureness(hostPortAfter(text, conventional));
  if (conventionalSureness === 2) return conventional;
  const isLikelyPassword = conventional >= 0 || /^[^/?#]*:/.test(text);
  let best = conventional;
  let bestSureness = isLikelyPassword ? conventionalSureness : conventionalSureness * 2;
  for (let at = text.indexOf('@', conventional + 1); at >= 0; at = text.indexOf('@', at + 1)) {
    const found = sureness(hostPortAfter(text, at));
    // Among equals the last wins, but a bare word behind the path doesn't beat a bare word before it.
    if (found > bestSureness || (found === bestSureness && best !== conventional)) {
      best = at;
      bestSureness = found;
    }
  }
  return best;
};

/** Undoes percent-encoding where there is some; a raw `%` stays. */
const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });

const toCredentials = (userinfo: string): Credentials | null => {
  if (userinfo === '') return null;
  const colon = userinfo.indexOf(':');
  return colon < 0
    ? { user: decoded(userinfo), password: '' }
    : { user: decoded(userinfo.slice(0, colon)), password: decoded(userinfo.slice(colon + 1)) };
};

const percentEncoded = (text: string): string =>
  [...Buffer.from(text, 'utf8')]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');

/** Percent-encodes what may not stand in a request line; all else stays as the camera's maker wrote it. */
export const toRequestText = (text: string): string => text.replace(/[^!-~]+/g, percentEncoded);

type Parts = { readonly scheme: string; readonly userinfo: string; readonly rest: string } & HostPort;

const split = (text: string): Parts | null => {
  const match = /^(rtsps?):\/\/(.*)$/is.exec(text.trim());
  if (match === null || text.length > MAX_URL_CHARS) return null;
  const [, scheme = '', body = ''] = match;
  const at = findAt(body);
  const hostPort = hostPortAfter(body, at);
  if (hostPort === null) return null;
  const userinfo = at < 0 ? '' : body.slice(0, at);
  return {
    scheme: scheme.toLowerCase(),
    userinfo,
    rest: body.slice(authorityEnd(body, at + 1)),
    ...hostPort,
  };
};

const authorityOf = ({ host, port }: HostPort): string => {
  // The zone of a link-local address means something on this machine only.
  const name = isIPv6(host) ? `[${host.replace(/%.*$/, '')}]` : host;
  return port === null ? name : `${name}:${port}`;
};

/**
 * Reads a camera's URL as people write them: `rtsp` or `rtsps`, user and password raw or percent-encoded with any
 * of `@ # % : /` in them, names, IPv4, IPv6. Throws AppError `bad_url`, which never quotes the text.
 */
export const parseCameraUrl = (text: string): CameraUrl => {
  const parts = split(text);
  if (parts === null) {
    throw rtspError('bad_url', "the camera's URL must look like rtsp://user:password@host:554/path");
  }
  const isSecure = parts.scheme === 'rtsps';
  const path = parts.rest.startsWith('/') ? parts.rest : `/${parts.rest}`;
  return {
    isSecure,
    host: parts.host,
    port: parts.port ?? (isSecure ? RTSPS_PORT : RTSP_PORT),
    credentials: toCredentials(parts.userinfo),
    requestUri: toRequestText(`${parts.scheme}://${authorityOf(parts)}${path}`),
  };
};

/**
 * Secrets that some cameras want in the path or query: XMeye's `/user=admin_password=x_channel=1`, `?pwd=x`,
 * VStarcam's `?loginpas=x`, Dericam's `/0/user:password/main`.
 */
const withoutSecrets = (text: string): string =>
  text
    .replace(
      /((?:pas\w*?|pwd|pswd?|token|auth\w*?|secret|\b\w*key|\b(?:pw|pword|pin|pincode|code|sig|sign|signature|jwt|ticket|credential))=)(?:(?!_channel|_stream)[^&;/?#])*/gi,
      '$1***',
    )
    .replace(/(\/[^/:?#&=]+:)[^/?#]+/g, '$1***');

/**
 * The URL as it may be shown and logged. Of a text that can't be read nothing but its scheme is left, and where it
 * isn't sure which `@` ends the password everything up to the last one is hidden.
 */
export const redactUrl = (text: string): string => {
  const parts = split(text);
  if (parts === null) return `${/^\s*([a-z]{1,8}):/i.exec(text)?.[1]?.toLowerCase() ?? ''}://***`;
  const { scheme, userinfo, rest } = parts;
  const colon = userinfo.indexOf(':');
  const prefix = colon < 0 ? userinfo : `${userinfo.slice(0, colon)}:***`;
  const lastAt = rest.lastIndexOf('@');
  const shown =
    colon >= 0 && lastAt >= 0 ? rest.slice(lastAt + 1) : `${authorityOf(parts)}${withoutSecrets(rest)}`;
  return `${scheme}://${prefix}${userinfo === '' ? '' : '@'}${shown}`;
};
