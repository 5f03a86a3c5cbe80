import { basename } from 'node:path';
import { messageOf } from '../../base/errors.js';
import {
  isFirstSliceH264,
  isFirstSliceH265,
  isVclH264,
  isVclH265,
  nalTypeH264,
  nalTypeH265,
} from '../../codec/nal.js';
import { AnnexBCursor } from '../../codec/nal-cursor.js';
import type { VideoCodec } from '../../codec/track.js';
import type { DetectJob, DetectOutcome, FromEngine, ToEngine } from '../messages.js';
import { FrameDecoder } from './frame-decoder.js';
import { Model } from './model.js';

const MAX_DETAIL = 300;

export type EngineOptions = { readonly ffmpegPath: string; readonly modelPath: string };

/** Finds objects in keyframes: the model, and a decoder for each codec, in a process that nothing else lives in. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #send: (message: FromEngine) => void;
  readonly #decoders = new Map<VideoCodec, FrameDecoder>();
  #model: Promise<Model | Error> | null = null;

  constructor(options: EngineOptions, send: (message: FromEngine) => void) {
    this.#options = options;
    this.#send = send;
  }

  async handle({ id, ...job }: ToEngine): Promise<void> {
    const outcome = await this.#outcomeOf(job).catch((fault) => this.#modelFault(fault));
    const decoderRestarts = [...this.#decoders.values()].reduce((sum, { restarts }) => sum + restarts, 0);
    this.#send({ id, ...outcome, decoderRestarts });
  }

  stop(): void {
    for (const decoder of this.#decoders.values()) decoder.kill();
  }

  async #outcomeOf({ codec, width, height, reorders, annexB }: DetectJob): Promise<DetectOutcome> {
    this.#model ??= Model.load(this.#options.modelPath).catch((fault) => new Error(messageOf(fault)));
    const model = await this.#model;
    if (model instanceof Error) {
      // Somebody may put another file there.
      this.#model = null;
      return this.#modelFault(model);
    }
    const startMs = performance.now();
    // What makes several pictures would have the rest of them taken for those of the camera that comes next.
    const pixels =
      reorders || picturesIn(codec, annexB) > 1
        ? await this.#newDecoder(codec, model).decodeAlone(annexB)
        : await this.#decoder(codec, model).decode(annexB);
    if (!Buffer.isBuffer(pixels)) return pixels;
    const decodedMs = performance.now();
    const objects = await model.run(pixels, { width, height });
    return { objects, decodeMs: decodedMs - startMs, inferMs: performance.now() - decodedMs };
  }

  /** Whoever may see a camera is shown it: where we keep models is nobody's business. */
  #modelFault(fault: unknown): DetectOutcome {
    const { modelPath } = this.#options;
    const detail = messageOf(fault).replaceAll(modelPath, basename(modelPath));
    return { fault: 'model', detail: detail.slice(0, MAX_DETAIL) };
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

/** How many pictures begin in it. */
const picturesIn = (codec: VideoCodec, annexB: Uint8Array): number => {
  const nals = new AnnexBCursor();
  nals.open(annexB, 0, annexB.length);
  let count = 0;
  while (nals.next()) {
    const { offset, length } = nals;
    const header = annexB[offset]!;
    const begins =
      codec === 'h264'
        ? isVclH264(nalTypeH264(header)) && isFirstSliceH264(annexB, offset, offset + length)
        : isVclH265(nalTypeH265(header)) && isFirstSliceH265(annexB, offset, offset + length);
    if (begins) count += 1;
  }
  return count;
};
