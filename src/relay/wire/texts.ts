import { isBoxName } from '../../base/box-name.js';
import type {
  AudioCodec,
  AudioTrackInfo,
  StreamInfo,
  VideoCodec,
  VideoTrackInfo,
} from '../../codec/track.js';
import { relayError } from '../relay-error.js';
import { MAX_PATH, MAX_REASON_CHARS } from './format.js';

/* What is said in JSON. Fields that nobody knows are passed over. */

export type Hello = {
  /** The oldest and the newest version that whoever asks can speak. */
  readonly versions: readonly [oldest: number, newest: number];
  readonly box: string;
  /** Of the source (`ring/source-key.ts`). */
  readonly source: string;
};

export type Welcome = {
  readonly version: number;
  /** The boxes that the frames come by, the one that answers last. */
  readonly path: readonly string[];
};

/** Of the frames that follow. */
export type Described = {
  /** Frames of a ring are numbered on, whoever asks for them and how often. */
  readonly ring: number;
  readonly awaitsSound: boolean;
  readonly info: StreamInfo;
};

/** What is seen in a picture of the source; nothing, too. */
export type SeenThere = {
  /** When that was taken. */
  readonly wallMs: number;
  readonly source: 'model' | 'onvif';
  readonly objects: readonly {
    readonly label: string;
    readonly score: number;
    readonly box: readonly [x: number, y: number, width: number, height: number];
  }[];
};

export type End = { readonly reason: string };

/** A question of another box; what it asks for is for those to read whom it is passed to. */
export type Ask = {
  readonly box: string;
  /** Whom it is meant for; null: whoever asks is of a version that doesn't say. */
  readonly to: string | null;
  readonly question: Fields;
};

/** What comes of it. */
export type Answered = {
  /** So many follow, in pieces. */
  readonly bytes: number;
  /** Why there is none; null: there is one. */
  readonly fault: { readonly code: string; readonly message: string } | null;
  readonly content: Fields;
};

export type Fields = Readonly<Record<string, unknown>>;

const MAX_NAME_CHARS = 200;
const MAX_SETS = 64;
/** More in one picture nobody tells apart. */
const MAX_OBJECTS = 64;
const MAX_LABEL_CHARS = 64;
const MAX_SIDE = 65_535;
const MAX_RATE_HZ = 1_000_000;
const MAX_CHANNELS = 64;
const videoCodecs: readonly VideoCodec[] = ['h264', 'h265'];
const audioCodecs: readonly AudioCodec[] = ['aac', 'pcmu', 'pcma', 'l16', 'opus', 'flac'];

const refuse = (what: string): never => {
  throw relayError('relay_protocol', `it can't be read: ${what}`);
};

const fieldsOf = (value: unknown, what: string): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(what);
  return value as Fields;
};

const parsed = (text: string): Fields => {
  try {
    return fieldsOf(JSON.parse(text), 'no object');
  } catch (cause) {
    throw relayError('relay_protocol', 'what it says is no JSON', cause);
  }
};

const textOf = (value: unknown, what: string, maxChars = MAX_NAME_CHARS): string =>
  typeof value === 'string' && value.length <= maxChars ? value : refuse(what);

const wholeOf = (value: unknown, what: string, min: number, max: number): number =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max
    ? (value as number)
    : refuse(what);

const numberOf = (value: unknown, what: string, min: number, max: number): number =>
  typeof value === 'number' && value >= min && value <= max ? value : refuse(what);

const oneOf = <T extends string>(value: unknown, known: readonly T[], what: string): T =>
  known.find((name) => name === value) ?? refuse(what);

const numberOrNull = (value: unknown, what: string): number | null =>
  value === null || (typeof value === 'number' && Number.isFinite(value) && value >= 0)
    ? (value as number | null)
    : refuse(what);

const bytesOf = (value: unknown, what: string): Uint8Array =>
  Uint8Array.from(Buffer.from(textOf(value, what, Number.POSITIVE_INFINITY), 'base64'));

/** NAL units, header byte included. */
const setsOf = (value: unknown, what: string): Uint8Array[] => {
  if (!Array.isArray(value) || value.length > MAX_SETS) return refuse(what);
  return value.map((set) => {
    const bytes = bytesOf(set, what);
    return bytes.length > 0 ? bytes : refuse(what);
  });
};

const boxOf = (value: unknown): string => {
  const name = textOf(value, 'the name of a box');
  return isBoxName(name) ? name : refuse('the name of a box');
};

export const readHello = (text: string): Hello => {
  const { versions, box, source } = parsed(text);
  if (!Array.isArray(versions)) return refuse('versions');
  const [oldest, newest] = versions.map((version) => wholeOf(version, 'versions', 0, 65_535));
  if (oldest === undefined || newest === undefined || oldest > newest) return refuse('versions');
  const key = textOf(source, 'the source');
  return { versions: [oldest, newest], box: boxOf(box), source: key === '' ? refuse('the source') : key };
};

export const readWelcome = (text: string): Welcome => {
  const { version, path } = parsed(text);
  if (!Array.isArray(path) || path.length === 0 || path.length > 4 * MAX_PATH) return refuse('the path');
  return { version: wholeOf(version, 'the version', 0, 65_535), path: path.map(boxOf) };
};

export const readEnd = (text: string): End => ({
  reason: textOf(parsed(text)['reason'], 'the reason', MAX_REASON_CHARS),
});

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

export const readAsk = (text: string): Ask => {
  const { box, to = null, question } = parsed(text);
  return {
    box: boxOf(box),
    to: to === null ? null : boxOf(to),
    question: fieldsOf(question, 'the question'),
  };
};

/** `maxBytes`: what there is room for. */
export const readAnswer = (text: string, maxBytes: number): Answered => {
  const { bytes, fault, content } = parsed(text);
  const said = fault === null ? null : fieldsOf(fault, 'what is wrong');
  return {
    bytes: wholeOf(bytes, 'how much follows', 0, maxBytes),
    fault: said && {
      code: textOf(said['code'], 'a code'),
      message: textOf(said['message'], 'what is wrong', MAX_REASON_CHARS),
    },
    content: fieldsOf(content, 'the answer'),
  };
};

/** As JSON has it. */
export const describedFields = ({ ring, awaitsSound, info: { video, audio } }: Described): unknown => ({
  ring,
  awaitsSound,
  video: {
    ...video,
    vps: video.vps.map(toText),
    sps: video.sps.map(toText),
    pps: video.pps.map(toText),
  },
  audio: audio && { ...audio, config: toText(audio.config) },
});

export const readDescribed = (text: string): Described => {
  const { ring, awaitsSound, video, audio } = parsed(text);
  return {
    ring: wholeOf(ring, 'the ring', -(2 ** 31), 2 ** 31 - 1),
    awaitsSound: awaitsSound === true,
    info: {
      video: videoOf(fieldsOf(video, 'the video')),
      audio: audio === null ? null : audioOf(fieldsOf(audio, 'the sound')),
    },
  };
};

const videoOf = (fields: Fields): VideoTrackInfo => ({
  codec: oneOf(fields['codec'], videoCodecs, 'the codec'),
  vps: setsOf(fields['vps'], 'parameter sets'),
  sps: setsOf(fields['sps'], 'parameter sets'),
  pps: setsOf(fields['pps'], 'parameter sets'),
  width: wholeOf(fields['width'], 'the width', 0, MAX_SIDE),
  height: wholeOf(fields['height'], 'the height', 0, MAX_SIDE),
  codecString: textOf(fields['codecString'], "the codec's string"),
  frameRateHz: numberOrNull(fields['frameRateHz'], 'the frame rate'),
  reorderDepth: numberOrNull(fields['reorderDepth'], 'the reorder depth'),
});

const audioOf = (fields: Fields): AudioTrackInfo => ({
  codec: oneOf(fields['codec'], audioCodecs, "the sound's codec"),
  clockRateHz: wholeOf(fields['clockRateHz'], "the sound's rate", 1, MAX_RATE_HZ),
  channels: wholeOf(fields['channels'], 'the channels', 1, MAX_CHANNELS),
  config: bytesOf(fields['config'], "the sound's configuration"),
  codecString: textOf(fields['codecString'], "the sound's string"),
});

/** As JSON has it: the first objects, and of labels, which foreign models make, so much. */
export const seenFields = ({ wallMs, source, objects }: SeenThere): unknown => ({
  ...{ wallMs, source },
  objects: objects
    .slice(0, MAX_OBJECTS)
    .map(({ label, score, box }) => ({ label: label.slice(0, MAX_LABEL_CHARS), score, box })),
});

export const readSeen = (text: string): SeenThere => {
  const { wallMs, source, objects } = parsed(text);
  if (!Array.isArray(objects) || objects.length > MAX_OBJECTS) return refuse('what is seen');
  return {
    wallMs: numberOf(wallMs, 'when it was seen', 0, Number.MAX_SAFE_INTEGER),
    source: oneOf(source, ['model', 'onvif'], 'who saw it'),
    objects: objects.map((object) => {
      const { label, score, box } = fieldsOf(object, 'an object');
      return {
        label: textOf(label, 'a label', MAX_LABEL_CHARS),
        score: numberOf(score, 'a score', 0, 1),
        box: boxPartsOf(box),
      };
    }),
  };
};

const boxPartsOf = (value: unknown): SeenThere['objects'][number]['box'] => {
  if (!Array.isArray(value) || value.length !== 4) return refuse('where it is');
  const [x, y, width, height] = value.map((part) => numberOf(part, 'where it is', -1, 2));
  return [x!, y!, width!, height!];
};
