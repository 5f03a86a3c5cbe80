import { whepError } from '../errors.js';

/** One payload type of a media section. */
export type OfferedFormat = {
  readonly payloadType: number;
  /** Lower case: `h264`, `opus`. */
  readonly encoding: string;
  readonly clockRateHz: number;
  readonly channels: number;
  /** What `a=fmtp` says, as it stands. */
  readonly parameters: string;
  /** The kinds of `a=rtcp-fb` that it allows. */
  readonly feedback: readonly string[];
};

/** One `m=` section of an offer. */
export type OfferedMedia = {
  readonly kind: string;
  readonly protocol: string;
  readonly mid: string;
  readonly isActive: boolean;
  readonly isBundleOnly: boolean;
  /** The viewer wants to receive. */
  readonly receives: boolean;
  readonly isMultiplexed: boolean;
  readonly formats: readonly OfferedFormat[];
  readonly iceUfrag: string;
  readonly icePwd: string;
  /** `sha-256 AB:CD…`: how the viewer's certificate is known. */
  readonly fingerprints: readonly string[];
  readonly setup: string;
};

/** An SDP offer (RFC 8866, RFC 8829): what a session needs of it. */
export type Offer = {
  readonly media: readonly OfferedMedia[];
  /** The sections that share one transport (RFC 9143). */
  readonly bundled: ReadonlySet<string>;
};

const MAX_SECTIONS = 32;
const MAX_FORMATS = 128;
const MAX_LINES = 4096;

/** Payload types that need no rtpmap (RFC 3551 §6). */
const staticFormats: Readonly<Record<number, string>> = { 0: 'PCMU/8000', 8: 'PCMA/8000' };

type Attributes = ReadonlyMap<string, readonly string[]>;

/** `a=name:value` lines of one section by name. */
const attributesOf = (lines: readonly string[]): Attributes => {
  const attributes = new Map<string, string[]>();
  for (const line of lines) {
    if (!line.startsWith('a=')) continue;
    const colon = line.indexOf(':');
    const name = colon < 0 ? line.slice(2) : line.slice(2, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).trim();
    const known = attributes.get(name);
    if (known === undefined) attributes.set(name, [value]);
    else known.push(value);
  }
  return attributes;
};

const firstOf = (name: string, ...places: readonly Attributes[]): string => {
  for (const place of places) {
    const value = place.get(name)?.[0];
    if (value !== undefined) return value;
  }
  return '';
};

/** The values of `a=<name>:<payload type> …` for one payload type. */
const ofPayload = (attributes: Attributes, name: string, payloadType: number): string[] =>
  (attributes.get(name) ?? [])
    .filter((value) => value.startsWith(`${payloadType} `))
    .map((value) => value.slice(String(payloadType).length + 1).trim());

const formatOf = (attributes: Attributes, payloadType: number): OfferedFormat | null => {
  const map = ofPayload(attributes, 'rtpmap', payloadType)[0] ?? staticFormats[payloadType];
  const match = /^([A-Za-z0-9_.-]{1,32})\/(\d{1,7})(?:\/(\d))?$/.exec(map ?? '');
  if (match === null) return null;
  const feedback = [...ofPayload(attributes, 'rtcp-fb', payloadType)];
  for (const value of attributes.get('rtcp-fb') ?? []) {
    if (value.startsWith('* ')) feedback.push(value.slice(2).trim());
  }
  return {
    payloadType,
    encoding: match[1]!.toLowerCase(),
    clockRateHz: Number(match[2]),
    channels: Number(match[3] ?? 1),
    parameters: ofPayload(attributes, 'fmtp', payloadType)[0] ?? '',
    feedback,
  };
};

const mediaOf = (lines: readonly string[], session: Attributes): OfferedMedia => {
  const match = /^m=([a-z]{1,16}) (\d{1,5})(?:\/\d+)? (\S{1,64})((?: \S{1,64})*)$/.exec(lines[0]!);
  if (match === null) throw whepError('bad_offer', 'the offer has an m= line that can not be read');
  const attributes = attributesOf(lines);
  const payloadTypes = match[4]!.trim().split(' ').filter(isPayloadType).slice(0, MAX_FORMATS).map(Number);
  const direction =
    ['sendrecv', 'sendonly', 'recvonly', 'inactive'].find((name) => attributes.has(name)) ??
    ['sendonly', 'recvonly', 'inactive'].find((name) => session.has(name)) ??
    'sendrecv';
  return {
    kind: match[1]!,
    protocol: match[3]!,
    mid: firstOf('mid', attributes),
    // A bundle-only section has port 0 and lives all the same (RFC 9143 §6).
    isActive: match[2] !== '0' || attributes.has('bundle-only'),
    isBundleOnly: attributes.has('bundle-only'),
    receives: direction === 'sendrecv' || direction === 'recvonly',
    isMultiplexed: attributes.has('rtcp-mux'),
    formats: payloadTypes
      .map((payloadType) => formatOf(attributes, payloadType))
      .filter((format) => format !== null),
    iceUfrag: firstOf('ice-ufrag', attributes, session),
    icePwd: firstOf('ice-pwd', attributes, session),
    fingerprints: attributes.get('fingerprint') ?? session.get('fingerprint') ?? [],
    setup: firstOf('setup', attributes, session),
  };
};

const isPayloadType = (text: string): boolean => /^\d{1,3}$/.test(text) && Number(text) < 128;

/**
 * What RFC 8829 §5.2.1 leaves out of a bundle-only section: it is that of the section the bundle is named after. RTP
 * that is bundled has its RTCP beside it (RFC 9143 §9.3).
 */
const withTransport = (media: OfferedMedia, tagged: OfferedMedia): OfferedMedia => {
  const { iceUfrag, icePwd, fingerprints, setup } = tagged;
  return { ...media, isMultiplexed: true, iceUfrag, icePwd, fingerprints, setup };
};

/** Reads an offer; throws `bad_offer` with what is wrong with it. */
export const parseOffer = (sdp: string): Offer => {
  const lines = sdp.split(/\r?\n/, MAX_LINES + 1);
  if (lines.length > MAX_LINES) throw whepError('bad_offer', 'the offer has too many lines');
  if (lines[0]?.trim() !== 'v=0')
    throw whepError('bad_offer', 'the body is not an SDP offer: it begins with v=0');
  const sections: string[][] = [[]];
  for (const line of lines) {
    if (line.startsWith('m=')) sections.push([]);
    sections.at(-1)!.push(line.trimEnd());
  }
  if (sections.length - 1 > MAX_SECTIONS)
    throw whepError('bad_offer', 'the offer has too many media sections');
  const session = attributesOf(sections[0]!);
  const media = sections.slice(1).map((section) => mediaOf(section, session));
  if (media.length === 0) throw whepError('bad_offer', 'the offer has no media section');
  const groups = (session.get('group') ?? []).filter((group) => group.startsWith('BUNDLE'));
  const mids = (groups[0] ?? '').split(' ').slice(1);
  const bundled = new Set(mids.filter((mid) => mid !== ''));
  const [tag] = bundled;
  const tagged = media.find(({ mid }) => mid === tag);
  const isBorrowing = ({ isBundleOnly, mid }: OfferedMedia): boolean => isBundleOnly && bundled.has(mid);
  return {
    media: media.map((section) =>
      tagged !== undefined && isBorrowing(section) ? withTransport(section, tagged) : section,
    ),
    bundled,
  };
};
