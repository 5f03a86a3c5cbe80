import { createHash } from 'node:crypto';

/** MQTT 3.1.1, section 4.7: levels are parted by `/`; `+`, `#` and NUL have no place in a name; 65,535 bytes at most. */
const MAX_LEVEL_BYTES = 128;
const HASH_LENGTH = 8;

const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);

const encoded = (text: string, mark: string, plain: RegExp): string => {
  let level = '';
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    level += plain.test(character) ? character : `${mark}${byte.toString(16).padStart(2, '0')}`;
  }
  if (level === '') return mark;
  if (level.length <= MAX_LEVEL_BYTES) return level;
  const start = level.slice(0, MAX_LEVEL_BYTES - HASH_LENGTH - 1).replace(/[%-]$/, '');
  return `${start}~${hashOf(text)}`;
};

/** A text as one level of a topic: what isn't plain is written as in addresses, what is long is cut and told apart by a hash. */
export const levelOf = (text: string): string => encoded(text, '%', /[A-Za-z0-9_.-]/);

/** A text as Home Assistant takes it for an id: letters, figures, `_` and `-`; another one for each text. */
export const nodeOf = (text: string): string => {
  const node = encoded(text, '-', /[A-Za-z0-9_]/);
  return node.replace('~', '-z');
};

/** Between the parts of an id: in no part there are two of it in a row. */
export const JOINT = '--';

/** What is told where. */
export class Topics {
  readonly prefix: string;
  readonly available: string;
  readonly events: string;
  readonly storage: string;
  /** Of all cameras: what is kept there. */
  readonly ofAnyCamera: readonly string[];
  /** Null: Home Assistant is told nothing. */
  readonly discoveryPrefix: string | null;

  constructor(prefix: string, discoveryPrefix: string | null) {
    this.prefix = prefix;
    this.available = `${prefix}/available`;
    this.events = `${prefix}/events`;
    this.storage = `${prefix}/storage`;
    const any = `${prefix}/cameras/+`;
    this.ofAnyCamera = [`${any}/state`, `${any}/figures`, `${any}/motion`, `${any}/objects/+`];
    this.discoveryPrefix = discoveryPrefix;
  }

  /** What the camera's topics begin with. */
  camera(cameraId: string): string {
    return `${this.prefix}/cameras/${levelOf(cameraId)}`;
  }

  /** The part of a topic that says whose it is, with its slash; of what is no camera's, something that is none's. */
  cameraStartOf(topic: string): string {
    return topic.slice(0, topic.indexOf('/', `${this.prefix}/cameras/`.length) + 1);
  }

  objects(cameraId: string, label: string): string {
    return `${this.camera(cameraId)}/objects/${levelOf(label)}`;
  }

  /** By which Home Assistant knows a camera, or (null) the service. */
  deviceId(cameraId: string | null): string {
    return cameraId === null ? nodeOf(this.prefix) : `${nodeOf(this.prefix)}${JOINT}${nodeOf(cameraId)}`;
  }

  /** Where Home Assistant looks for it; null: nowhere. */
  discovery(cameraId: string | null): string | null {
    return this.discoveryPrefix === null
      ? null
      : `${this.discoveryPrefix}/device/${this.deviceId(cameraId)}/config`;
  }

  /** Where Home Assistant says that it is there; null: it isn't asked. */
  get birth(): string | null {
    return this.discoveryPrefix === null ? null : `${this.discoveryPrefix}/status`;
  }

  /** The camera's part of one of the service's topics, as it is spelled there; null: it is of no camera. */
  cameraLevel(topic: string): string | null {
    const start = `${this.prefix}/cameras/`;
    if (!topic.startsWith(start)) return null;
    const [level = '', ...rest] = topic.slice(start.length).split('/');
    return level === '' || rest.length === 0 ? null : level;
  }
}
