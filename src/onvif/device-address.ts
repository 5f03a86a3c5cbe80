import { isIP, isIPv6 } from 'node:net';
import { plainAddress } from '../base/client-address.js';
import type { Credentials } from '../rtsp/auth.js';
import { parseCameraUrl } from '../rtsp/url.js';
import { onvifError } from './errors.js';

/** Where nearly all devices have it (ONVIF Core §5.1.1 asks for it). */
export const DEVICE_PATH = '/onvif/device_service';
const MAX_ADDRESS_CHARS = 512;
const DEFAULT_RTSP_PORT = 554;
const DEFAULT_RTSPS_PORT = 322;

const toUrl = (text: string): URL | null => {
  try {
    return new URL(text);
  } catch {
    return null;
  }
};

/** Of IPv6 addresses without their brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').toLowerCase();

const isUsable = (url: URL): boolean =>
  (url.protocol === 'http:' || url.protocol === 'https:') && url.hostname !== '' && url.port !== '0';

/**
 * A device's address as people write it: a host, one with a port, or the whole address of its device service. Throws
 * `bad_address`, which never quotes the text: people type passwords into it.
 */
export const parseDeviceAddress = (text: string): URL => {
  const trimmed = text.trim();
  const whole = isIPv6(trimmed)
    ? `http://[${trimmed}]`
    : /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed)
      ? trimmed
      : `http://${trimmed}`;
  const url = trimmed === '' || trimmed.length > MAX_ADDRESS_CHARS ? null : toUrl(whole);
  if (url === null || !isUsable(url))
    throw onvifError(
      'bad_address',
      'the address must look like 192.168.1.20, camera.lan:8080 or http://192.168.1.20/onvif/device_service',
    );
  if (url.username !== '' || url.password !== '')
    throw onvifError(
      'bad_address',
      'user and password have fields of their own: take them out of the address',
    );
  if (url.pathname === '/') url.pathname = DEVICE_PATH;
  url.hash = '';
  return url;
};

/** Whether a text is one. */
export const isDeviceAddress = (text: string): boolean => {
  try {
    return parseDeviceAddress(text) instanceof URL;
  } catch {
    return false;
  }
};

/**
 * An address that a device tells of itself, on the host that was asked and on no other: behind NAT devices tell
 * their inner addresses, and a hostile one names whom we are to call for it. Its port counts where the host is the
 * one that was asked, by its name or by the address that the name led to (`reached`; "": nobody knows); an inner port
 * means nothing outside. Null: no address.
 */
export const onSameHost = (asked: URL, told: string, reached: string): URL | null => {
  const url = told.length > MAX_ADDRESS_CHARS ? null : toUrl(told.trim());
  if (url === null || !isUsable(url)) return null;
  // Nobody is led from a line that nobody can read to one that all can.
  const isWeaker = asked.protocol === 'https:' && url.protocol === 'http:';
  const isSame = [hostOf(asked), reached].includes(plainAddress(hostOf(url)));
  const result = new URL(asked.origin);
  if (isSame && !isWeaker) {
    result.protocol = url.protocol;
    result.port = url.port;
  }
  result.pathname = url.pathname;
  result.search = url.search;
  return result;
};

const bracketed = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

/** The part of a request line behind the authority. */
const pathOf = (requestUri: string): string => requestUri.replace(/^rtsps?:\/\/[^/?#]*/i, '');

/**
 * A stream's address that a device tells, as a camera's `url`: on the host that was asked, with the port that was told,
 * since RTSP has one of its own, and with the user and password that were given to us. Null: no such address.
 */
export const streamUrl = (asked: URL, told: string, credentials: Credentials | null): string | null => {
  try {
    const { isSecure, port, requestUri } = parseCameraUrl(told.trim());
    const user =
      credentials === null
        ? ''
        : `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`;
    const isUsual = port === (isSecure ? DEFAULT_RTSPS_PORT : DEFAULT_RTSP_PORT);
    const authority = `${user}${bracketed(hostOf(asked))}${isUsual ? '' : `:${port}`}`;
    return `${isSecure ? 'rtsps' : 'rtsp'}://${authority}${pathOf(requestUri)}`;
  } catch {
    return null;
  }
};
