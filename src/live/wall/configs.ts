import type { AudioTrackInfo, VideoTrackInfo } from '../../codec/track.js';
import type { RingReader } from '../../ring/reader.js';
import { soundConfigMessage, videoConfigMessage } from '../../wire/config-message.js';
import { type KeptMessage, keptMessage } from './frame-messages.js';

/** What decoders have to know of one source, as messages: made anew when the source is described anew. */
export class Configs {
  readonly #pictureNumber: number;
  readonly #soundNumber: number;
  #picture: KeptMessage | null = null;
  #sound: KeptMessage | null = null;
  #streamVersion = 0;

  constructor(pictureNumber: number, soundNumber: number) {
    this.#pictureNumber = pictureNumber;
    this.#soundNumber = soundNumber;
  }

  /** The message that goes with the current picture; the same object as long as it says the same. Null: unknown. */
  picture(reader: RingReader): KeptMessage | null {
    this.#read(reader);
    return this.#picture;
  }

  /** The same for the current frame of sound. */
  sound(reader: RingReader): KeptMessage | null {
    this.#read(reader);
    return this.#sound;
  }

  /** Another ring counts its descriptions from one again. */
  restart(): void {
    this.#streamVersion = 0;
  }

  #read(reader: RingReader): void {
    if (reader.streamVersion === this.#streamVersion) return;
    const info = reader.streamInfo();
    this.#picture = kept(this.#picture, pictureOf(this.#pictureNumber, info?.video));
    this.#sound = kept(this.#sound, soundOf(this.#soundNumber, info?.audio));
    this.#streamVersion = info === null ? 0 : reader.streamVersion;
  }
}

const pictureOf = (number: number, video: VideoTrackInfo | undefined): KeptMessage | null =>
  video === undefined ? null : keptMessage(videoConfigMessage(number, video));

const soundOf = (number: number, audio: AudioTrackInfo | null | undefined): KeptMessage | null =>
  audio == null ? null : keptMessage(soundConfigMessage(number, audio));

const kept = (before: KeptMessage | null, now: KeptMessage | null): KeptMessage | null =>
  before !== null && now?.bytes.equals(before.bytes) === true ? before : now;
