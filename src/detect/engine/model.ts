import type { InferenceSession, Tensor } from 'onnxruntime-node';
import type { SeenObject } from '../messages.js';
import { labelOf, type ModelDescription, readDescription } from './model-description.js';
import { fitInto, type Size } from './picture-fit.js';
import { classCountOf, type OutputKind, readOutput, recognizeOutput } from './read-output.js';
import { withoutDoubles } from './suppress.js';

type Runtime = typeof import('onnxruntime-node');

const DEFAULT_SIDE = 640;
/** What a picture takes twelve times as many bytes of as it has pixels; the largest that are of use have 1,280. */
const MAX_SIDE = 4_096;

/** The size that the graph asks for; where it leaves that open, what most are made for. */
const inputOf = ({ inputMetadata }: InferenceSession, described: Size | null): Size => {
  const [first] = inputMetadata;
  if (first?.isTensor !== true || first.type !== 'float32' || first.shape.length !== 4)
    throw new Error('its input must be one picture of floats');
  const [, planes, height, width] = first.shape;
  if (typeof planes === 'number' && planes > 0 && planes !== 3)
    throw new Error('its input must have three planes');
  const side = (asked: unknown, said: number | undefined): number =>
    typeof asked === 'number' && asked > 0 ? asked : (said ?? DEFAULT_SIDE);
  const size = { width: side(width, described?.width), height: side(height, described?.height) };
  if (Math.max(size.width, size.height) > MAX_SIDE)
    throw new Error(`its input must be ${MAX_SIDE} pixels wide and high at most`);
  return size;
};

/** A network that finds objects in pictures. `run` keeps its thread busy for as long as it takes. */
export class Model {
  readonly input: Size;
  readonly #runtime: Runtime;
  readonly #session: InferenceSession;
  readonly #description: ModelDescription;
  readonly #planes: Float32Array;
  #kind: OutputKind | null;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(runtime: Runtime, session: InferenceSession, description: ModelDescription) {
    this.#runtime = runtime;
    this.#session = session;
    this.#description = description;
    this.#kind = description.output ?? this.#recognized();
    this.input = inputOf(session, description.input);
    this.#planes = new Float32Array(this.input.width * this.input.height * 3);
  }

  /** Throws where the file is no such network. */
  static async load(path: string): Promise<Model> {
    // What has no library for this machine must not end the process that would say so.
    const runtime = await import('onnxruntime-node');
    const session = await runtime.InferenceSession.create(path, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
    });
    return new Model(runtime, session, readDescription(path));
  }

  /** In which order the bytes of a pixel are to come. YOLOX was taught with pictures that had blue first. */
  get color(): 'rgb' | 'bgr' {
    return this.#description.color ?? (this.#kind === 'yolox' ? 'bgr' : 'rgb');
  }

  /** What is in a picture of the input's size, of which another picture fills the top left. One after the other. */
  run(pixels: Buffer, picture: Size): Promise<SeenObject[]> {
    const seen = this.#turn.then(() => this.#run(pixels, picture));
    this.#turn = seen.catch(() => {});
    return seen;
  }

  async #run(pixels: Buffer, picture: Size): Promise<SeenObject[]> {
    const { width, height } = this.input;
    this.#fill(pixels, this.#description.scale ?? (this.#kind === 'yolox' ? 1 : 1 / 255));
    const tensor = new this.#runtime.Tensor('float32', this.#planes, [1, 3, height, width]);
    const answers = await this.#session.run({ [this.#session.inputNames[0]!]: tensor });
    const output = answers[this.#session.outputNames[0]!] as Tensor | undefined;
    if (output?.type !== 'float32') throw new Error('its output must be floats');
    const { dims } = output;
    this.#kind ??= recognizeOutput(dims, this.input);
    const kind = this.#kind;
    if (kind === null) throw new Error(`its output [${dims.join(', ')}] is none that we know: describe it`);
    const { labels, minScore, maxOverlap } = this.#description;
    const read = { kind, input: this.input, fit: fitInto(picture, this.input), minScore };
    const proposals = readOutput({ data: output.data as Float32Array, dims }, read);
    const classCount = classCountOf(kind, dims);
    return withoutDoubles(proposals, maxOverlap).map(({ classIndex, score, box }) => ({
      label: labelOf(classIndex, labels, classCount),
      score,
      box,
    }));
  }

  /** By the graph alone; a shape that it leaves open is seen when it runs. */
  #recognized(): OutputKind | null {
    const [output] = this.#session.outputMetadata;
    if (output?.isTensor !== true || !output.shape.every((side) => typeof side === 'number')) return null;
    return recognizeOutput(output.shape as number[], inputOf(this.#session, null));
  }

  /** Pixel by pixel becomes plane by plane. */
  #fill(pixels: Buffer, scale: number): void {
    const planes = this.#planes;
    const count = planes.length / 3;
    for (let pixel = 0, at = 0; pixel < count; pixel++, at += 3) {
      planes[pixel] = pixels[at]! * scale;
      planes[pixel + count] = pixels[at + 1]! * scale;
      planes[pixel + 2 * count] = pixels[at + 2]! * scale;
    }
  }
}
