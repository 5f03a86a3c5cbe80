/** An address in its parts, as far as a page has to know them: the service reads them for good. */
export type Address = {
  readonly scheme: string;
  /** With its colon and password; "": nobody is named. */
  readonly login: string;
  /** With its port. */
  readonly host: string;
  /** From the first slash on. */
  readonly path: string;
};

const HOST = /^(?:\[[0-9a-f:.%]+\]|[\p{L}\p{N}_][\p{L}\p{N}._-]*)(?::\d{1,5})?$/iu;

const MAX_PORT = 65_535;

const splitAt = (body: string, at: number): Pick<Address, 'login' | 'host' | 'path'> | null => {
  const rest = body.slice(at + 1);
  const end = rest.search(/[/?#]/);
  const host = end < 0 ? rest : rest.slice(0, end);
  if (!HOST.test(host)) return null;
  const port = /:(\d+)$/.exec(host)?.[1];
  if (port !== undefined && (Number(port) < 1 || Number(port) > MAX_PORT)) return null;
  // What isn't ASCII has to be written so that it can be looked up.
  if (/[^!-~]/.test(host) && !URL.canParse(`http://${host}`)) return null;
  return { login: at < 0 ? '' : body.slice(0, at), host, path: end < 0 ? '' : rest.slice(end) };
};

/** Reads it; null: this can't be an address of a camera. A password may hold `@` and `/` as people write them. */
export const readAddress = (url: string): Address | null => {
  const match = /^(rtsps?):\/\/(.*)$/i.exec(url);
  if (match === null) return null;
  const [, scheme = '', body = ''] = match;
  const end = body.search(/[/?#]/);
  const before = body.lastIndexOf('@', end < 0 ? body.length : end);
  // Where no host stands before the path, a later `@` ends the password.
  const parts = splitAt(body, before) ?? splitAt(body, body.lastIndexOf('@'));
  return parts === null ? null : { scheme: scheme.toLowerCase(), ...parts };
};

/** What may be shown of it: neither user nor password, nor those that some cameras want in the path. */
export const shownAddress = (url: string): string => {
  const address = readAddress(url);
  if (address === null) return '';
  const path = address.path
    .replace(/((?:pas\w*?|pwd|token|auth|secret|\bkey)=)[^&;/?#]*/gi, '$1***')
    .replace(/(\/[^/:?#&=]+:)[^/?#]+/g, '$1***');
  return `${address.host}${path}`;
};

/** The same stream, whoever asks for it: for seeing that it is there already. */
export const sameStreamKey = (url: string): string => {
  const address = readAddress(url);
  if (address === null) return url;
  const port = address.scheme === 'rtsps' ? ':322' : ':554';
  const host = /:\d+$/.test(address.host.replace(/^\[[^\]]*\]/, ''))
    ? address.host
    : `${address.host}${port}`;
  return `${host.toLowerCase()}${address.path}`;
};

/** The address with another login: what mends a 401. Both are written so that any character may be in them. */
export const withLogin = (url: string, user: string, password: string): string => {
  const address = readAddress(url);
  if (address === null) return url;
  const login = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`;
  return `${address.scheme}://${login}${address.host}${address.path}`;
};

/** The user that it names, as it is meant. */
export const userOf = (url: string): string => {
  const user = readAddress(url)?.login.split(':')[0] ?? '';
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
};
