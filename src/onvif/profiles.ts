import { all, at, attribute, type Element, number, textOf } from '../analytics/xml-tree.js';
import { escapeXml, plainLine } from './soap.js';

/** What a device can send: one way in which it makes a stream of one of its pictures. */
export type Profile = {
  readonly token: string;
  readonly name: string;
  /** Which of the device's pictures: recorders have many. */
  readonly source: string;
  /** Token of what says how that picture is taken; events may name it instead. */
  readonly sourceConfiguration: string;
  /** `h264`, `h265`, or what the device calls it, in small letters. */
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly bitrateKbps: number;
  readonly hasPtz: boolean;
  /** Whether it sends what it sees, beside the picture. */
  readonly hasMetadata: boolean;
};

/** ONVIF allows 64 characters (ReferenceToken); vendors take more. */
export const MAX_TOKEN = 128;
const MAX_PROFILES = 256;
const MAX_NAME = 64;

const count = (element: Element | undefined, name: string, highest: number): number => {
  const value = number(textOf(at(element, name))) ?? 0;
  return Math.min(Math.max(Math.round(value), 0), highest);
};

const codecOf = (encoding: string): string =>
  plainLine(encoding, 16)
    .toLowerCase()
    .replace(/^h\.26/, 'h26')
    .replace(/^hevc$/, 'h265');

type Parts = {
  readonly source: string;
  readonly encoder: string;
  readonly ptz: string;
  readonly metadata: string;
};

const fromElement = (profile: Element, configurations: Element | undefined, parts: Parts): Profile | null => {
  const token = attribute(profile, 'token');
  if (token === '' || token.length > MAX_TOKEN) return null;
  const encoder = at(configurations, parts.encoder);
  const [size, rate] = [at(encoder, 'Resolution'), at(encoder, 'RateControl')];
  return {
    token,
    name: plainLine(textOf(at(profile, 'Name')), MAX_NAME),
    source: plainLine(textOf(at(configurations, parts.source, 'SourceToken')), MAX_TOKEN),
    sourceConfiguration: plainLine(attribute(at(configurations, parts.source), 'token'), MAX_TOKEN),
    codec: codecOf(textOf(at(encoder, 'Encoding'))),
    width: count(size, 'Width', 65_535),
    height: count(size, 'Height', 65_535),
    fps: count(rate, 'FrameRateLimit', 1_000),
    bitrateKbps: count(rate, 'BitrateLimit', 1_000_000),
    hasPtz: at(configurations, parts.ptz) !== undefined,
    hasMetadata: at(configurations, parts.metadata) !== undefined,
  };
};

const mediaParts: Parts = {
  source: 'VideoSourceConfiguration',
  encoder: 'VideoEncoderConfiguration',
  ptz: 'PTZConfiguration',
  metadata: 'MetadataConfiguration',
};
const media2Parts: Parts = {
  source: 'VideoSource',
  encoder: 'VideoEncoder',
  ptz: 'PTZ',
  metadata: 'Metadata',
};

/** Of an answer to GetProfiles, by the first (Media) or the second (Media2) of the services that have one. */
export const readProfiles = (service: 'media' | 'media2', answer: Element): Profile[] =>
  all(answer, 'Profiles')
    .slice(0, MAX_PROFILES)
    .map((profile) =>
      service === 'media'
        ? fromElement(profile, profile, mediaParts)
        : fromElement(profile, at(profile, 'Configurations'), media2Parts),
    )
    .filter((profile) => profile !== null);

/** What asks for a stream's address (ONVIF Media §5.15.1, Media2 §5.4.1). */
export const streamQuestion = (service: 'media' | 'media2', token: string): string => {
  const profile = `<ProfileToken>${escapeXml(token)}</ProfileToken>`;
  if (service === 'media2') return `<Protocol>RTSP</Protocol>${profile}`;
  return (
    '<StreamSetup><tt:Stream>RTP-Unicast</tt:Stream><tt:Transport><tt:Protocol>RTSP</tt:Protocol></tt:Transport>' +
    `</StreamSetup>${profile}`
  );
};

/** The address in an answer to it, or to GetSnapshotUri; "" for none. */
export const readUri = (answer: Element): string =>
  textOf(at(answer, 'MediaUri', 'Uri')) || textOf(at(answer, 'Uri'));
