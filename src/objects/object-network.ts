import { labelOf, type ModelDescription } from './model-description.js';
import { fitInto, type Size } from './picture-fit.js';
import { classCountOf, type OutputKind, readOutput, recognizeOutput } from './read-output.js';
import type { SeenObject } from './seen-object.js';
import { withoutDoubles } from './suppress.js';

/** What a runtime tells of an input or output of a graph; a side that the graph leaves open has a name. */
export type ValueForm =
  | { readonly isTensor: false }
  | { readonly isTensor: true; readonly type: string; readonly shape: readonly (number | string)[] };

export type Graph = { readonly inputs: readonly ValueForm[]; readonly outputs: readonly ValueForm[] };

/** What a network answered. */
export type Answer = { readonly type: string; readonly data: unknown; readonly dims: readonly number[] };

const DEFAULT_SIDE = 640;
/** What a picture takes twelve times as many bytes of as it has pixels; the largest that are of use have 1,280. */
const MAX_SIDE = 4_096;

/** The size that the graph asks for; where it leaves that open, what most are made for. */
const inputOf = ([first]: readonly ValueForm[], described: Size | null): Size => {
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

/** By the graph alone; a shape that it leaves open is seen when it runs. */
const recognizedIn = ({ inputs, outputs: [first] }: Graph): OutputKind | null => {
  if (first?.isTensor !== true || !first.shape.every((side) => typeof side === 'number')) return null;
  return recognizeOutput(first.shape as number[], inputOf(inputs, null));
};

/** A network that finds objects, whatever runs it: how a picture becomes its input, and what its output says. */
export class ObjectNetwork {
  readonly input: Size;
  /** The input's floats, plane by plane. */
  readonly planes: Float32Array;
  readonly #description: ModelDescription;
  #kind: OutputKind | null;

  /** Throws where it is no such network. */
  constructor(graph: Graph, description: ModelDescription) {
    this.#description = description;
    this.#kind = description.output ?? recognizedIn(graph);
    this.input = inputOf(graph.inputs, description.input);
    this.planes = new Float32Array(this.input.width * this.input.height * 3);
  }

  /** In which order the colours of a pixel are to come. YOLOX was taught with pictures that had blue first. */
  get color(): 'rgb' | 'bgr' {
    return this.#description.color ?? (this.#kind === 'yolox' ? 'bgr' : 'rgb');
  }

  /** Takes a picture of the input's size, pixel by pixel; `isTurned`: its first colour is to come last. */
  fill(pixels: Uint8Array | Uint8ClampedArray, bytesPerPixel: 3 | 4, isTurned: boolean): void {
    const { planes } = this;
    const count = planes.length / 3;
    const scale = this.#description.scale ?? (this.#kind === 'yolox' ? 1 : 1 / 255);
    const [first, last] = isTurned ? [2 * count, 0] : [0, 2 * count];
    for (let pixel = 0, at = 0; pixel < count; pixel++, at += bytesPerPixel) {
      planes[pixel + first] = pixels[at]! * scale;
      planes[pixel + count] = pixels[at + 1]! * scale;
      planes[pixel + last] = pixels[at + 2]! * scale;
    }
  }

  /** What is in a picture of that size, which filled the input's top left. */
  read(answer: Answer | undefined, picture: Size): SeenObject[] {
    if (answer?.type !== 'float32') throw new Error('its output must be floats');
    const { dims } = answer;
    this.#kind ??= recognizeOutput(dims, this.input);
    const kind = this.#kind;
    if (kind === null) throw new Error(`its output [${dims.join(', ')}] is none that we know: describe it`);
    const { labels, minScore, maxOverlap } = this.#description;
    const read = { kind, input: this.input, fit: fitInto(picture, this.input), minScore };
    const proposals = readOutput({ data: answer.data as Float32Array, dims }, read);
    const classCount = classCountOf(kind, dims);
    return withoutDoubles(proposals, maxOverlap).map(({ classIndex, score, box }) => ({
      label: labelOf(classIndex, labels, classCount),
      score,
      box,
    }));
  }
}
