import { AppError } from '../../base/errors.js';

const MASK = '***';
const MAX_LENGTH = 2_048;

/** Whether a text is an address that messages can be sent to. */
export const isWebhookUrl = (text: string): boolean => {
  if (text.length > MAX_LENGTH || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if ((protocol !== 'http:' && protocol !== 'https:') || hostname === '') return false;
  try {
    // What can't be decoded could not be sent either.
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
};

/** The address as it is shown: without its password. */
export const maskedUrl = (text: string): string => {
  const url = new URL(text);
  if (url.password !== '') url.password = MASK;
  return url.href;
};

/**
 * The address to store where a client sends one that it was shown masked. Throws `bad_url` where the mask stands for
 * nothing, or where it would take the password to another host.
 */
export const unmaskedUrl = (text: string, stored: string | null): string => {
  const url = new URL(text);
  if (url.password !== MASK) return text;
  const known = stored === null ? null : new URL(stored);
  const isSame = known !== null && known.origin === url.origin && known.username === url.username;
  if (!isSame || known.password === '')
    throw new AppError('bad_url', 'the url has a masked password: send the real one, or leave url out');
  url.password = known.password;
  return url.href;
};

/** Where it leads, for the log: an address may hold secrets in its path, too. */
export const hostOf = (url: string): string => new URL(url).host;
