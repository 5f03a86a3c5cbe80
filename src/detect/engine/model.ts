import { readFileSync } from 'node:fs';
import type { InferenceSession } from 'onnxruntime-node';
import { type ModelDescription, parseDescription, undescribed } from '../../objects/model-description.js';
import { ObjectNetwork } from '../../objects/object-network.js';
import type { Size } from '../../objects/picture-fit.js';
import type { SeenObject } from '../../objects/seen-object.js';

type Runtime = typeof import('onnxruntime-node');

/** What stands beside a model: of `x.onnx` that is `x.json`. */
const readDescription = (modelPath: string): ModelDescription => {
  let text: string;
  try {
    text = readFileSync(modelPath.replace(/\.onnx$/, '.json'), 'utf8');
  } catch {
    return undescribed;
  }
  return parseDescription(text);
};

/** What has no library for this machine must not end the process that would say so. */
const loadRuntime = (): Promise<Runtime> =>
  import('onnxruntime-node').catch((fault: unknown) => {
    // Optional, and left out where its installer could not fetch what GPUs need.
    const isMissing = (fault as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND';
    throw isMissing ? new Error("the package onnxruntime-node isn't installed") : fault;
  });

/** A network that finds objects in pictures. `run` keeps its thread busy for as long as it takes. */
export class Model {
  readonly #runtime: Runtime;
  readonly #session: InferenceSession;
  readonly #network: ObjectNetwork;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(runtime: Runtime, session: InferenceSession, network: ObjectNetwork) {
    this.#runtime = runtime;
    this.#session = session;
    this.#network = network;
  }

  /** Throws where the file is no such network. */
  static async load(path: string): Promise<Model> {
    const runtime = await loadRuntime();
    const session = await runtime.InferenceSession.create(path, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
    });
    const graph = { inputs: session.inputMetadata, outputs: session.outputMetadata };
    return new Model(runtime, session, new ObjectNetwork(graph, readDescription(path)));
  }

  get input(): Size {
    return this.#network.input;
  }

  /** In which order the bytes of a pixel are to come. */
  get color(): 'rgb' | 'bgr' {
    return this.#network.color;
  }

  /** What is in a picture of the input's size, of which another picture fills the top left. One after the other. */
  run(pixels: Buffer, picture: Size): Promise<SeenObject[]> {
    const seen = this.#turn.then(() => this.#run(pixels, picture));
    this.#turn = seen.catch(() => {});
    return seen;
  }

  async #run(pixels: Buffer, picture: Size): Promise<SeenObject[]> {
    const { width, height } = this.input;
    this.#network.fill(pixels, 3, false);
    const tensor = new this.#runtime.Tensor('float32', this.#network.planes, [1, 3, height, width]);
    const answers = await this.#session.run({ [this.#session.inputNames[0]!]: tensor });
    return this.#network.read(answers[this.#session.outputNames[0]!], picture);
  }
}
