import { AppError } from '../base/errors.js';
import { parseCameraUrl, redactUrl } from '../rtsp/url.js';
import type { CameraChanges, Camera as StoredCamera } from '../store/cameras.js';

const MASK = '***';

/** Whether a text is an address that a camera can be reached at. */
export const isCameraUrl = (text: string): boolean => {
  try {
    parseCameraUrl(text);
    return true;
  } catch {
    return false;
  }
};

/** The host that handshakes are counted for. */
export const hostOf = (url: string): string => parseCameraUrl(url).host;

/** Who is named in it. Holds a secret: never log it. */
export const credentialsOf = (url: string): { user: string; password: string } | null =>
  parseCameraUrl(url).credentials;

const passwordOf = (url: string): string =>
  url === '' ? '' : (parseCameraUrl(url).credentials?.password ?? '');

/**
 * The URL to store where a client sends one that it may have been shown with its password masked: the mask stands
 * for what is stored. Throws `bad_url` if nothing is stored that it could stand for.
 */
const keepPassword = (url: string, storedUrl: string): string => {
  if (url === storedUrl || !url.includes(MASK)) return url;
  if (url === redactUrl(storedUrl)) return storedUrl;
  const password = passwordOf(storedUrl);
  const isMasked = passwordOf(url) === MASK && password !== '';
  const whole = isMasked ? url.replace(`:${MASK}@`, () => `:${encodeURIComponent(password)}@`) : url;
  if (whole.includes(MASK))
    throw new AppError('bad_url', 'the url has a masked password: send the real one, or leave url out');
  return whole;
};

/** Changes with the passwords that their masks stand for. Throws `bad_url` as above. */
export const keepPasswords = (changes: CameraChanges, stored: StoredCamera): CameraChanges => ({
  ...changes,
  ...(changes.url === undefined ? {} : { url: keepPassword(changes.url, stored.url) }),
  ...(changes.sub_url === undefined ? {} : { sub_url: keepPassword(changes.sub_url, stored.sub_url) }),
  ...(changes.onvif?.password === MASK
    ? { onvif: { ...changes.onvif, password: storedOnvifPassword(stored) } }
    : {}),
});

const storedOnvifPassword = ({ onvif: { password } }: StoredCamera): string => {
  if (password !== undefined) return password;
  throw new AppError('bad_url', 'onvif.password is a mask: send the real one, or leave it out');
};

/** The camera as whoever may see no passwords sees it: itself, where it has none. */
export const withoutPasswords = (stored: StoredCamera): StoredCamera => {
  const url = redactUrl(stored.url);
  const sub_url = stored.sub_url === '' ? '' : redactUrl(stored.sub_url);
  const hasOnvif = stored.onvif.password !== undefined;
  if (!hasOnvif && url === stored.url && sub_url === stored.sub_url) return stored;
  const onvif = hasOnvif ? { ...stored.onvif, password: MASK } : stored.onvif;
  return { ...stored, url, sub_url, onvif };
};
