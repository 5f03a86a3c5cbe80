import runtimeAddress from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import { env, InferenceSession, Tensor } from 'onnxruntime-web/wasm';
import { parseDescription, undescribed } from '../../objects/model-description.js';
import { ObjectNetwork } from '../../objects/object-network.js';
import { fitInto, PADDING } from '../../objects/picture-fit.js';
import type { SeenObject } from '../../objects/seen-object.js';
import type { ModelFault, ModelToLoad } from './model-messages.js';
import { readBytes } from './read-bytes.js';

export class ModelError extends Error {
  readonly fault: ModelFault;

  constructor(fault: ModelFault, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause));
    this.fault = fault;
  }
}

const or = async <Value>(fault: ModelFault, work: Promise<Value>): Promise<Value> => {
  try {
    return await work;
  } catch (cause) {
    throw new ModelError(fault, cause);
  }
};

/** A model in this browser. `look` keeps its thread busy for as long as it takes. */
export class BrowserModel {
  readonly #session: InferenceSession;
  readonly #network: ObjectNetwork;
  readonly #context: OffscreenCanvasRenderingContext2D;

  private constructor(session: InferenceSession, network: ObjectNetwork) {
    this.#session = session;
    this.#network = network;
    const { width, height } = network.input;
    const context = new OffscreenCanvas(width, height).getContext('2d', {
      ...{ alpha: false, willReadFrequently: true },
    });
    if (context === null) throw new Error('this browser gives no canvas');
    // Shrunk without, fine patterns become others.
    context.imageSmoothingQuality = 'medium';
    this.#context = context;
  }

  /** Throws a ModelError. */
  static async load(
    { address, sizeBytes, description }: ModelToLoad,
    onLoading: (runtimeBytes: number, modelBytes: number) => void,
  ): Promise<BrowserModel> {
    const loaded = { runtime: 0, model: 0 };
    const tell = (part: 'runtime' | 'model') => (bytes: number) => {
      loaded[part] = bytes;
      onLoading(loaded.runtime, loaded.model);
    };
    const [runtime, model] = await Promise.all([
      or('runtime', readBytes(runtimeAddress, tell('runtime'))),
      or('model', readBytes(address, tell('model'), sizeBytes)),
    ]);
    env.logLevel = 'fatal';
    env.wasm.wasmBinary = runtime;
    // Several threads share memory, which only pages may that hold nothing of others.
    env.wasm.numThreads = 1;
    const session = await or('model', InferenceSession.create(model, { logSeverityLevel: 4 }));
    try {
      const graph = { inputs: session.inputMetadata, outputs: session.outputMetadata };
      const described = description === null ? undescribed : parseDescription(description);
      return new BrowserModel(session, new ObjectNetwork(graph, described));
    } catch (cause) {
      throw new ModelError('kind', cause);
    }
  }

  /** What is in the picture, which is closed. Throws a ModelError. */
  async look(picture: ImageBitmap): Promise<readonly SeenObject[]> {
    const size = { width: picture.width, height: picture.height };
    const { input, planes, color } = this.#network;
    const fit = fitInto(size, input);
    this.#context.fillStyle = `rgb(${PADDING} ${PADDING} ${PADDING})`;
    this.#context.fillRect(0, 0, input.width, input.height);
    this.#context.drawImage(picture, 0, 0, fit.width, fit.height);
    picture.close();
    const { data } = this.#context.getImageData(0, 0, input.width, input.height);
    this.#network.fill(data, 4, color === 'bgr');
    const tensor = new Tensor('float32', planes, [1, 3, input.height, input.width]);
    const answers = await or('model', this.#session.run({ [this.#session.inputNames[0] ?? '']: tensor }));
    try {
      return this.#network.read(answers[this.#session.outputNames[0] ?? ''], size);
    } catch (cause) {
      throw new ModelError('kind', cause);
    }
  }
}
