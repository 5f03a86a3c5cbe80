import type { ConfigMessage } from '../../player/messages.js';
import type { SoundMessage } from './forward-play.js';

export type DecodedSound = {
  readonly wallMs: number;
  readonly rateHz: number;
  /** One for each channel. */
  readonly channels: Float32Array<ArrayBuffer>[];
};

const MAX_PENDING = 500;

/** Sound of one camera, from frames to samples. */
export class SoundDecoder {
  readonly #onSound: (sound: DecodedSound) => void;
  #config: ConfigMessage | null = null;
  #decoder: AudioDecoder | null = null;
  readonly #wallUs = new Map<number, number>();
  #lastDecodeUs = 0;

  constructor(onSound: (sound: DecodedSound) => void) {
    this.#onSound = onSound;
  }

  take(message: SoundMessage): void {
    if (typeof AudioDecoder === 'undefined') return;
    if (message.kind === 'config') this.#configure(message);
    else if (this.#decoder?.state === 'configured' && message.decodeUs > this.#lastDecodeUs) {
      this.#lastDecodeUs = message.decodeUs;
      if (this.#wallUs.size > MAX_PENDING) this.#wallUs.clear();
      this.#wallUs.set(message.decodeUs, message.wallUs);
      this.#decoder.decode(
        new EncodedAudioChunk({ type: 'key', timestamp: message.decodeUs, data: message.data }),
      );
    }
  }

  /** Another moment, or another camera: what comes next may be earlier than what came last. */
  restart(): void {
    this.#lastDecodeUs = 0;
    this.#wallUs.clear();
  }

  close(): void {
    if (this.#decoder?.state !== 'closed') this.#decoder?.close();
    this.#decoder = null;
  }

  #configure(config: ConfigMessage): void {
    const before = this.#config;
    if (this.#decoder !== null && before?.codec === config.codec && before.rateHz === config.rateHz) return;
    this.close();
    this.#config = config;
    this.#decoder = new AudioDecoder({
      output: (data) => this.#take(data),
      error: () => {
        // Sound that this browser can't play is none.
        this.#decoder = null;
      },
    });
    try {
      this.#decoder.configure({
        codec: config.codec,
        numberOfChannels: config.width,
        sampleRate: config.rateHz ?? 48_000,
        ...(config.sets.length > 0 ? { description: config.sets.slice() } : {}),
      });
    } catch {
      this.#decoder = null;
    }
  }

  #take(data: AudioData): void {
    const wallUs = this.#wallUs.get(data.timestamp);
    this.#wallUs.delete(data.timestamp);
    if (wallUs !== undefined) {
      const channels = Array.from({ length: data.numberOfChannels }, (_, planeIndex) => {
        const plane = new Float32Array(data.numberOfFrames);
        data.copyTo(plane, { planeIndex, format: 'f32-planar' });
        return plane;
      });
      this.#onSound({ wallMs: wallUs / 1000, rateHz: data.sampleRate, channels });
    }
    data.close();
  }
}
