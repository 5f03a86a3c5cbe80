import { messageOf } from '../../base/errors.js';
import type { VideoCodec } from '../../codec/track.js';
import type { DetectJob, DetectOutcome, FromEngine, ToEngine } from '../messages.js';
import { FrameDecoder } from './frame-decoder.js';
import { Model } from './model.js';

export type EngineOptions = { readonly ffmpegPath: string; readonly modelPath: string };

/** Finds objects in keyframes: the model, and a decoder for each codec, in a process that nothing else lives in. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #send: (message: FromEngine) => void;
  readonly #decoders = new Map<VideoCodec, FrameDecoder>();
  readonly #model: Promise<Model | Error>;

  constructor(options: EngineOptions, send: (message: FromEngine) => void) {
    this.#options = options;
    this.#send = send;
    this.#model = Model.load(options.modelPath).catch((fault) => new Error(messageOf(fault)));
  }

  async handle({ id, ...job }: ToEngine): Promise<void> {
    const outcome = await this.#outcomeOf(job).catch(modelFault);
    const decoderRestarts = [...this.#decoders.values()].reduce((sum, { restarts }) => sum + restarts, 0);
    this.#send({ id, ...outcome, decoderRestarts });
  }

  stop(): void {
    for (const decoder of this.#decoders.values()) decoder.kill();
  }

  async #outcomeOf({ codec, width, height, reorders, annexB }: DetectJob): Promise<DetectOutcome> {
    const model = await this.#model;
    if (model instanceof Error) return modelFault(model);
    const startMs = performance.now();
    const pixels = reorders
      ? await this.#newDecoder(codec, model).decodeAlone(annexB)
      : await this.#decoder(codec, model).decode(annexB);
    if (!Buffer.isBuffer(pixels)) return pixels;
    const decodedMs = performance.now();
    const objects = await model.run(pixels, { width, height });
    return { objects, decodeMs: decodedMs - startMs, inferMs: performance.now() - decodedMs };
  }

  #decoder(codec: VideoCodec, model: Model): FrameDecoder {
    const known = this.#decoders.get(codec);
    if (known !== undefined) return known;
    const decoder = this.#newDecoder(codec, model);
    this.#decoders.set(codec, decoder);
    return decoder;
  }

  #newDecoder(codec: VideoCodec, { input: size, color }: Model): FrameDecoder {
    return new FrameDecoder({ ffmpegPath: this.#options.ffmpegPath, codec, size, color });
  }
}

const MAX_DETAIL = 300;

const modelFault = (fault: unknown): DetectOutcome => ({
  fault: 'model',
  detail: messageOf(fault).slice(0, MAX_DETAIL),
});
