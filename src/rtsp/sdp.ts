import { AppError } from '../base/errors.js';
import { type MediaDescription, type MediaLines, toMediaDescription } from './sdp-media.js';

export type { MediaDescription };

/** What a DESCRIBE answer says of a session. */
export type SessionDescription = {
  readonly control: string | null;
  readonly medias: readonly MediaDescription[];
};

const MAX_TEXT_CHARS = 65_536;
const MAX_LINE_CHARS = 8192;
const MAX_MEDIAS = 32;
const MAX_ATTRIBUTES = 128;

type Attribute = { readonly name: string; readonly value: string };

const attributeOf = (text: string): Attribute => {
  const colon = text.indexOf(':');
  return colon < 0
    ? { name: text.trim().toLowerCase(), value: '' }
    : { name: text.slice(0, colon).trim().toLowerCase(), value: text.slice(colon + 1).trim() };
};

/** `m=<media> <port> <proto> <fmt> …` (RFC 8866 §5.14). */
const mediaLinesOf = (text: string): MediaLines => {
  const [kind = '', , , ...formats] = text.split(/\s+/);
  return { kind: kind.toLowerCase(), formats, attributes: [] };
};

/**
 * Parses SDP (RFC 8866) as cameras write it: any line ends, `o=`, `s=`, `t=`, `c=` missing, repeated or broken
 * (FLIR, macro-video), spaces where none belong. Nothing but `m=` and `a=` lines is looked at. A media that
 * makes no sense (TP-Link's `m=application/TP-LINK`) is left out together with its attributes.
 *
 * Throws AppError `bad_sdp` only where no media is left.
 */
export const parseSdp = (text: string): SessionDescription => {
  const session: Attribute[] = [];
  const medias: MediaLines[] = [];
  for (const rawLine of text.slice(0, MAX_TEXT_CHARS).split(/\r\n|\r|\n/)) {
    const line = rawLine.trim();
    if (line.length > MAX_LINE_CHARS) continue;
    const value = line.slice(line.indexOf('=') + 1).trim();
    if (/^m\s*=/.test(line)) {
      if (medias.length >= MAX_MEDIAS) break;
      medias.push(mediaLinesOf(value));
    } else if (/^a\s*=/.test(line)) {
      const attributes = medias.at(-1)?.attributes ?? session;
      if (attributes.length < MAX_ATTRIBUTES) attributes.push(attributeOf(value));
    }
  }
  const described = medias
    .map((media) => toMediaDescription(media, session, medias))
    .filter((media) => media !== null);
  if (described.length === 0) {
    throw new AppError('bad_sdp', 'the session description has no media', {
      details: { mediaLines: medias.length, textChars: text.length },
    });
  }
  const control = session.find(({ name, value }) => name === 'control' && value !== '')?.value ?? null;
  return { control, medias: described };
};
