import type { Acceleration } from './acceleration.js';
import { type ConfigMessage, type FrameMessage, shownUs } from './messages.js';

/** A picture that was decoded. Whoever gets it closes its frame: decoders stand still when a few are open. */
export type Picture = {
  readonly frame: VideoFrame;
  readonly wallUs: number;
  /** How long the decoder worked for it, and for what waited before it; not for how long it waited for others. */
  readonly tookMs: number;
};

/**
 * `unsupported`: this browser doesn't decode that at all. `reclaimed`: the browser took the decoder away. `broken`:
 * the decoder gave up; another one may not.
 */
export type DecoderFault = {
  readonly kind: 'unsupported' | 'reclaimed' | 'broken';
  readonly message: string;
};

export type PictureDecoderOptions = {
  readonly acceleration: Acceleration;
  readonly onPicture: (picture: Picture) => void;
  /** Called once; the decoder is closed by then. */
  readonly onFault: (fault: DecoderFault) => void;
};

/** What was given and hasn't come out: bounded, for decoders that swallow pictures. */
const MAX_PENDING = 256;
/** As many pictures as H.264 and H.265 let wait for others (A.3, annex A.4). */
const MAX_REORDERED = 16;

const kindOf = (name: string): DecoderFault['kind'] => {
  if (name === 'NotSupportedError' || name === 'TypeError') return 'unsupported';
  return name === 'QuotaExceededError' ? 'reclaimed' : 'broken';
};

/** One decoder of one stream, from a keyframe on. A stream that changes, or breaks, gets another one. */
export class PictureDecoder {
  readonly config: ConfigMessage;
  readonly #decoder: VideoDecoder;
  readonly #setup: VideoDecoderConfig;
  readonly #options: PictureDecoderOptions;
  /** By the time at which it is shown. */
  readonly #pending = new Map<number, { readonly wallUs: number; readonly givenMs: number }>();
  #isAwaitingKey = true;
  /** Nobody wants to hear of it any more. */
  #isLetGo = false;
  #given = 0;
  #shown = 0;
  #lastOutputMs = performance.now();
  #lastGivenMs = 0;

  constructor(config: ConfigMessage, options: PictureDecoderOptions) {
    this.config = config;
    this.#options = options;
    this.#decoder = new VideoDecoder({
      output: (frame) => this.#onOutput(frame),
      error: (error) => this.#onError(error.name, error.message),
    });
    this.#setup = {
      codec: config.codec,
      optimizeForLatency: true,
      hardwareAcceleration: options.acceleration,
      ...(config.width > 0 ? { codedWidth: config.width, codedHeight: config.height } : {}),
    };
    try {
      this.#decoder.configure(this.#setup);
    } catch (error) {
      // Nobody is told from within a constructor.
      queueMicrotask(() => this.#onError((error as Error).name, (error as Error).message));
    }
  }

  /** Given and not yet begun. */
  get queued(): number {
    return this.#decoder.decodeQueueSize;
  }

  /** Given and not come out. */
  get held(): number {
    return this.#given - this.#shown;
  }

  /** For how long it was given frames and nothing came out; a camera that sends nothing is no fault of the decoder. */
  get silentMs(): number {
    const [first] = this.#pending.values();
    // So many it may hold, until others come.
    const mayHold = (this.config.reorderDepth ?? MAX_REORDERED) + 1;
    return first === undefined || this.#pending.size <= mayHold
      ? 0
      : this.#lastGivenMs - Math.max(first.givenMs, this.#lastOutputMs);
  }

  get isOpen(): boolean {
    return this.#decoder.state !== 'closed';
  }

  /** False: it begins with a keyframe, and this is none. */
  decode(message: FrameMessage): boolean {
    if (this.#decoder.state !== 'configured' || (this.#isAwaitingKey && !message.isKey)) return false;
    this.#isAwaitingKey = false;
    const timestamp = shownUs(message);
    if (this.#pending.size >= MAX_PENDING) this.#pending.clear();
    this.#lastGivenMs = performance.now();
    this.#pending.set(timestamp, { wallUs: message.wallUs, givenMs: this.#lastGivenMs });
    this.#given += 1;
    try {
      const type = message.isKey ? 'key' : 'delta';
      this.#decoder.decode(new EncodedVideoChunk({ type, timestamp, data: this.#withSets(message) }));
    } catch (error) {
      this.#onError((error as Error).name, (error as Error).message);
    }
    return true;
  }

  /** Brings out what the decoder holds back: behind the last frame of what was asked for. */
  flush(): Promise<void> {
    this.#isAwaitingKey = true;
    return this.#decoder.state === 'configured' ? this.#decoder.flush().catch(() => {}) : Promise.resolve();
  }

  close(): void {
    this.#isLetGo = true;
    this.#end();
  }

  #end(): void {
    this.#pending.clear();
    if (this.#decoder.state !== 'closed') this.#decoder.close();
  }

  /** A decoder without `description` reads Annex B, with the parameter sets before each keyframe. */
  #withSets({ isKey, data }: FrameMessage): Uint8Array<ArrayBuffer> {
    const { sets } = this.config;
    if (!isKey || sets.length === 0) return data;
    const whole = new Uint8Array(sets.length + data.length);
    whole.set(sets);
    whole.set(data, sets.length);
    return whole;
  }

  #onOutput(frame: VideoFrame): void {
    const nowMs = performance.now();
    this.#lastOutputMs = nowMs;
    this.#shown += 1;
    const known = this.#pending.get(frame.timestamp);
    this.#pending.delete(frame.timestamp);
    this.#options.onPicture({
      frame,
      wallUs: known?.wallUs ?? 0,
      tookMs: known === undefined ? 0 : nowMs - (this.queued > 0 ? known.givenMs : this.#lastGivenMs),
    });
  }

  #onError(name: string, message: string): void {
    this.#end();
    const kind = kindOf(name);
    if (kind === 'broken' && this.#shown === 0) void this.#doubt(message);
    else this.#options.onFault({ kind, message });
  }

  /** Chromium without H.265 takes its keyframes for none before it says that it doesn't know the codec. */
  async #doubt(message: string): Promise<void> {
    const { supported } = await VideoDecoder.isConfigSupported(this.#setup).catch(() => ({
      supported: false,
    }));
    if (!this.#isLetGo)
      this.#options.onFault({ kind: supported === true ? 'broken' : 'unsupported', message });
  }
}
