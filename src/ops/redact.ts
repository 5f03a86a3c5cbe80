const MASK = '***';
/** Longer strings are cut: no log record needs them, and it bounds the work on what a camera sent us. */
const MAX_TEXT = 8_192;
/** How far after `://` the end of a user and password is looked for; passwords may hold spaces, @ and slashes. */
const MAX_USERINFO = 2_048;
const MAX_DEPTH = 8;

/** A line without any of these holds nothing to hide. */
const suspicious =
  /:\/\/|%3a%2f%2f|eyj|bearer|basic|response=|scrypt|argon2|\$2[aby]\$|pas|pwd|secret|token|session|authorization|cookie|api_?key|framering_[0-9a-f]/i;

const secretKeys: ReadonlySet<string> = new Set([
  'password',
  'passwd',
  'passwordhash',
  'secret',
  'jwtsecret',
  'token',
  'accesstoken',
  'streamtoken',
  'session',
  'authorization',
  'cookie',
  'setcookie',
  'apikey',
]);

const isSecretKey = (key: string): boolean => secretKeys.has(key.toLowerCase().replaceAll(/[-_]/g, ''));

/** The schemes that we meet: one of them begins the next URL, anything else before :// may be a password's. */
const knownScheme = /\b(?:rtsps?|https?|wss?|file)$/i;

/** Where a user and password that begin at `start` end: the last @ before the next URL, or `start` if none. */
const userinfoEnd = (text: string, start: number): number => {
  let window = text.slice(start, start + MAX_USERINFO);
  const lineEnd = window.indexOf('\n');
  if (lineEnd !== -1) window = window.slice(0, lineEnd);
  const nextUrl = window.indexOf('://');
  if (nextUrl !== -1 && knownScheme.test(window.slice(0, nextUrl))) window = window.slice(0, nextUrl);
  const at = window.lastIndexOf('@');
  return at === -1 ? start : start + at;
};

/**
 * Masks what stands between `://` and the last @ that may belong to it. It takes too much rather than too little
 * ("rtsp://host/x, ask a@b" loses its host): a raw password may hold whatever a message may hold.
 */
const maskUserinfo = (text: string): string => {
  let masked = '';
  let from = 0;
  for (;;) {
    const scheme = text.indexOf('://', from);
    if (scheme === -1) return masked + text.slice(from);
    const start = scheme + 3;
    // Paths of modules in stack traces hold an @ and no password.
    const end = text.endsWith('file', scheme) ? start : userinfoEnd(text, start);
    masked += text.slice(from, start) + (end === start ? '' : MASK);
    from = end;
  }
};

const maskBasic = (found: string, scheme: string, credentials: string): string =>
  Buffer.from(credentials, 'base64').includes(':') ? `${scheme} ${MASK}` : found;

/** The text without the credentials that may be in it: of URLs and HTTP headers, tokens, password hashes. */
export const redactText = (text: string): string => {
  if (!suspicious.test(text)) return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return maskUserinfo(cut(text))
    .replaceAll(/%3a%2f%2f[^\s&"']*%40/gi, `%3A%2F%2F${MASK}%40`)
    .replaceAll(/eyJ[\w-]{5,}\.[\w-]*(?:\.[\w-]*)?/g, MASK)
    .replaceAll(/\b(bearer)\s+[\w.~+/=-]{8,}/gi, `$1 ${MASK}`)
    .replaceAll(/\b(basic)\s+([\w+/-]{4,}={0,2})/gi, maskBasic)
    .replaceAll(/\b(response=)"?[0-9a-f]{32,}"?/gi, `$1${MASK}`)
    .replaceAll(/framering_[0-9a-f]{16,}/gi, `framering_${MASK}`)
    .replaceAll(/\$?(?:scrypt|argon2(?:id|i|d)?)\$[^\s"']+/g, MASK)
    .replaceAll(/\$2[aby]\$\d\d\$[./\w]{53}/g, MASK)
    .replaceAll(
      /(token|session|pas(?:s(?:wor)?d?)?|pwd|secret|authorization|api_?key)=(?!\*\*\*)[^\s&;"'#]+/gi,
      `$1=${MASK}`,
    )
    .replaceAll(
      /("(?:token|session|password|password_hash|passwd|pwd|secret|authorization|api_?key)"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi,
      `$1"${MASK}"`,
    );
};

/** Cuts a long text; a URL that is cut before its @ would show its password, so it goes as a whole. */
const cut = (text: string): string => {
  if (text.length <= MAX_TEXT) return text;
  const url = text.lastIndexOf('://', MAX_TEXT);
  const end = url > MAX_TEXT - MAX_USERINFO ? url : MAX_TEXT;
  return `${text.slice(0, end)}…`;
};

/** A copy of parsed JSON in which no string holds a credential. */
const redactValue = (value: unknown, depth: number): unknown => {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      redactText(key),
      isSecretKey(key) && item !== null && item !== '' ? MASK : redactValue(item, depth + 1),
    ]),
  );
};

/** A JSON line without the credentials that may be in it; nearly all lines come back as they are. */
export const redactLine = (line: string): string => {
  if (line.length <= MAX_TEXT && !suspicious.test(line)) return line;
  return JSON.stringify(redactValue(JSON.parse(line), 0));
};
