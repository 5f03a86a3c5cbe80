import { toRequestText } from './url.js';

/** Makes a base of what a camera sends as one; null: it is none. */
const absoluteOf = (text: string | null, requestUrl: string): string | null => {
  const trimmed = text?.trim() ?? '';
  if (trimmed === '' || trimmed === '*') return null;
  // Some write the scheme twice (go2rtc#830); some write credentials, which belong to nobody here.
  const found = /^(?:rtsps?:\/\/)*(rtsps?:\/\/)(.*)$/is.exec(trimmed);
  if (found !== null) {
    const rest = found[2]!.replace(/^[^/?#]*@/, '');
    return /^[^/?#]/.test(rest) ? found[1]!.toLowerCase() + rest : null;
  }
  const [, scheme = 'rtsp://', authority = ''] = /^(rtsps?:\/\/)([^/?#]*)/.exec(requestUrl) ?? [];
  if (trimmed.startsWith('/')) return scheme + authority + trimmed;
  // Without a scheme: `192.168.1.10:554/stream0/` (Anjvision, quirk 1).
  return /^(?:\[[0-9a-f:.]+\]|[\w-]+(?:\.[\w-]+)+)(?::\d{1,5})?(?:\/|$)/i.test(trimmed)
    ? scheme + trimmed
    : null;
};

/** What the whole session is called in PLAY, TEARDOWN and keepalives. */
export const resolveSession = (
  sessionControl: string | null,
  contentBase: string | null,
  requestUrl: string,
): string => {
  const base = absoluteOf(contentBase, requestUrl) ?? requestUrl;
  const control = sessionControl?.trim() ?? '';
  if (control === '' || control === '*') return toRequestText(base);
  if (/^rtsps?:\/\//i.test(control)) return toRequestText(absoluteOf(control, requestUrl) ?? base);
  return toRequestText(joined(base, control));
};

/**
 * A relative control is put behind the base, with one slash between them, even behind a query. That isn't what
 * RFC 2326 §C.1.1 says, but what every other client does and cameras are tested with.
 */
const joined = (base: string, control: string): string => {
  if (base.endsWith('/')) return base + control.replace(/^\/+/, '');
  return control.startsWith('/') || control.startsWith('?') ? base + control : `${base}/${control}`;
};

/**
 * The URI for a media's SETUP: session control, else Content-Base, else the request's URL, with the media's own
 * control (quirks 1 and 2).
 */
export const resolveControl = (
  sessionControl: string | null,
  contentBase: string | null,
  requestUrl: string,
  mediaControl: string | null,
): string => {
  const base = resolveSession(sessionControl, contentBase, requestUrl);
  const control = mediaControl?.trim() ?? '';
  if (control === '' || control === '*') return base;
  if (/^rtsps?:\/\//i.test(control)) return toRequestText(absoluteOf(control, requestUrl) ?? base);
  return toRequestText(joined(base, control));
};
