/** One `m=` section, made sense of. */
export type MediaDescription = {
  readonly kind: 'video' | 'audio' | 'application' | 'other';
  /** The first format of the m= line that we can use, else the first. */
  readonly payloadType: number;
  /** Upper case; static payload types filled in; empty where the camera doesn't say. */
  readonly encoding: string;
  readonly clockRateHz: number;
  readonly channels: number;
  /** Keys in lower case. */
  readonly fmtp: ReadonlyMap<string, string>;
  /** As written in a=control. */
  readonly control: string | null;
  readonly direction: 'recvonly' | 'sendonly' | 'sendrecv' | 'inactive' | null;
  readonly framesPerSecond: number | null;
};

/** One `m=` section as it was written. */
export type MediaLines = {
  readonly kind: string;
  readonly formats: readonly string[];
  readonly attributes: { readonly name: string; readonly value: string }[];
};

type Mapping = { readonly encoding: string; readonly clockRateHz: number; readonly channels: number };

/** Static payload types (RFC 3551 §6) that cameras name by number alone. */
const staticMappings: Readonly<Record<number, Mapping>> = {
  0: { encoding: 'PCMU', clockRateHz: 8000, channels: 1 },
  3: { encoding: 'GSM', clockRateHz: 8000, channels: 1 },
  4: { encoding: 'G723', clockRateHz: 8000, channels: 1 },
  8: { encoding: 'PCMA', clockRateHz: 8000, channels: 1 },
  9: { encoding: 'G722', clockRateHz: 8000, channels: 1 },
  10: { encoding: 'L16', clockRateHz: 44_100, channels: 2 },
  11: { encoding: 'L16', clockRateHz: 44_100, channels: 1 },
  14: { encoding: 'MPA', clockRateHz: 90_000, channels: 1 },
  18: { encoding: 'G729', clockRateHz: 8000, channels: 1 },
  26: { encoding: 'JPEG', clockRateHz: 90_000, channels: 1 },
  33: { encoding: 'MP2T', clockRateHz: 90_000, channels: 1 },
};

/** What we can take in, by the kind of media: a video whose first format is 0 (PCMU) has another behind it. */
const usableEncodings: Readonly<Record<string, ReadonlySet<string>>> = {
  video: new Set(['H264', 'H265', 'HEVC']),
  audio: new Set(['MPEG4-GENERIC', 'PCMU', 'PCMA', 'L16', 'OPUS']),
  application: new Set(['VND.ONVIF.METADATA']),
};

const DYNAMIC_FROM = 96;
const MAX_FORMATS = 32;
const kinds = ['video', 'audio', 'application'] as const;
const directions = ['recvonly', 'sendonly', 'sendrecv', 'inactive'] as const;

const payloadTypeOf = (format: string): number | null =>
  /^\d{1,3}$/.test(format) && Number(format) <= 127 ? Number(format) : null;

/** The values of `a=<name>:<payload type> <value>` lines (rtpmap and fmtp share the form). */
const linesByType = (media: MediaLines, name: string): { payloadType: number; value: string }[] => {
  const found: { payloadType: number; value: string }[] = [];
  for (const attribute of media.attributes) {
    if (attribute.name !== name) continue;
    const match = /^(\d{1,3})(?:\s+(.*))?$/s.exec(attribute.value);
    const payloadType = payloadTypeOf(match?.[1] ?? '');
    if (payloadType !== null) found.push({ payloadType, value: match?.[2] ?? '' });
  }
  return found;
};

const sane = (text: string | undefined, least: number, most: number): number | null => {
  const value = Number.parseInt(text ?? '', 10);
  return value >= least && value <= most ? value : null;
};

/** `<encoding>/<clock rate>[/<channels>]` (RFC 8866 §6.6). */
const mappingOf = (rtpmap: string, kind: string): Mapping => {
  const [encoding = '', rate, channels] = rtpmap.split('/').map((part) => part.trim());
  return {
    encoding: encoding.toUpperCase(),
    clockRateHz: sane(rate, 1000, 768_000) ?? (kind === 'audio' ? 8000 : 90_000),
    channels: sane(channels, 1, 16) ?? 1,
  };
};

const parametersOf = (lines: readonly string[]): ReadonlyMap<string, string> => {
  const parameters = new Map<string, string>();
  for (const part of lines.flatMap((line) => line.split(';'))) {
    const equals = part.indexOf('=');
    const key = (equals < 0 ? part : part.slice(0, equals)).trim().toLowerCase();
    if (key !== '') parameters.set(key, equals < 0 ? '' : part.slice(equals + 1).trim());
  }
  return parameters;
};

/** The fmtp of this payload type, or, for a video that has none, one that stands with another media (WebRTC#419). */
const fmtpOf = (media: MediaLines, payloadType: number, all: readonly MediaLines[]) => {
  const linesIn = (section: MediaLines): string[] =>
    linesByType(section, 'fmtp')
      .filter((line) => line.payloadType === payloadType)
      .map((line) => line.value);
  const own = linesIn(media);
  if (own.length > 0 || media.kind !== 'video') return parametersOf(own);
  const strangers = all.filter((other) => !other.formats.includes(String(payloadType)));
  return parametersOf(strangers.flatMap(linesIn));
};

/** Parameter sets betray a codec that no rtpmap names. */
const hasSprop = (fmtp: ReadonlyMap<string, string>): boolean =>
  fmtp.has('sprop-parameter-sets') || fmtp.has('sprop-sps');

/** The last sane one: some cameras write `0S` first and the real rate later (H264DVR, IPCAM). */
const frameRateOf = (media: MediaLines): number | null => {
  const rates = media.attributes
    .filter(({ name }) => name === 'framerate' || name === 'x-framerate')
    .map(({ value }) => Number.parseFloat(value))
    .filter((rate) => rate > 0 && rate <= 240);
  return rates.at(-1) ?? null;
};

const directionIn = (attributes: MediaLines['attributes']): MediaDescription['direction'] =>
  directions.find((direction) => attributes.some(({ name }) => name === direction)) ?? null;

/** Makes sense of one `m=` section; null: it has no payload type that RTP knows. */
export const toMediaDescription = (
  media: MediaLines,
  sessionAttributes: MediaLines['attributes'],
  all: readonly MediaLines[],
): MediaDescription | null => {
  const rtpmaps = linesByType(media, 'rtpmap');
  const mappingFor = (payloadType: number): Mapping | null => {
    const own = rtpmaps.find((line) => line.payloadType === payloadType);
    // A lone rtpmap under a number that no format has can only mean this dynamic type.
    const [lone] = payloadType >= DYNAMIC_FROM && rtpmaps.length === 1 ? rtpmaps : [];
    const isStranger = lone !== undefined && !media.formats.includes(String(lone.payloadType));
    const rtpmap = (own ?? (isStranger ? lone : undefined))?.value;
    return rtpmap === undefined ? (staticMappings[payloadType] ?? null) : mappingOf(rtpmap, media.kind);
  };
  const listed = media.formats.slice(0, MAX_FORMATS).map(payloadTypeOf);
  // No format at all (`m=video 0 RTP/AVP`): then the rtpmaps tell. Formats that aren't numbers: not RTP.
  const candidates = media.formats.length > 0 ? listed : rtpmaps.map((line) => line.payloadType);
  const payloadTypes = candidates.filter((payloadType) => payloadType !== null);
  const isUsable = (payloadType: number): boolean => {
    const encoding = mappingFor(payloadType)?.encoding ?? '';
    if (encoding === '') return media.kind === 'video' && hasSprop(fmtpOf(media, payloadType, [media]));
    return usableEncodings[media.kind]?.has(encoding) === true;
  };
  const payloadType = payloadTypes.find(isUsable) ?? payloadTypes[0];
  if (payloadType === undefined) return null;
  return {
    kind: kinds.find((kind) => kind === media.kind) ?? 'other',
    payloadType,
    ...(mappingFor(payloadType) ?? mappingOf('', media.kind)),
    fmtp: fmtpOf(media, payloadType, all),
    control: media.attributes.find(({ name, value }) => name === 'control' && value !== '')?.value ?? null,
    direction: directionIn(media.attributes) ?? directionIn(sessionAttributes),
    framesPerSecond: frameRateOf(media),
  };
};
