import { commonLabels } from './common-labels.js';
import type { Size } from './picture-fit.js';
import { type OutputKind, outputKinds } from './read-output.js';

/** What is known of a model before it runs; null: it is found out. */
export type ModelDescription = {
  readonly labels: readonly string[] | null;
  readonly input: Size | null;
  readonly color: 'rgb' | 'bgr' | null;
  /** What each byte of the picture is multiplied with. */
  readonly scale: number | null;
  readonly output: OutputKind | null;
  readonly minScore: number;
  readonly maxOverlap: number;
};

export const MAX_DESCRIPTION_BYTES = 1_000_000;
const MAX_LABELS = 10_000;
const MAX_SIDE = 2_048;
const DEFAULT_MIN_SCORE = 0.4;
const DEFAULT_MAX_OVERLAP = 0.45;

/** Of a model that has no description beside it. */
export const undescribed: ModelDescription = {
  ...{ labels: null, input: null, color: null, scale: null, output: null },
  ...{ minScore: DEFAULT_MIN_SCORE, maxOverlap: DEFAULT_MAX_OVERLAP },
};

class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Error('it must be an object');
    this.#fields = value as Record<string, unknown>;
  }

  #checked<Value>(name: string, isFine: (value: unknown) => value is Value, what: string): Value | null {
    const value = this.#fields[name];
    if (value === undefined || value === null) return null;
    if (!isFine(value)) throw new Error(`"${name}" must be ${what}`);
    return value;
  }

  number(name: string, least: number, most: number): number | null {
    const isFine = (value: unknown): value is number =>
      typeof value === 'number' && value >= least && value <= most;
    return this.#checked(name, isFine, `a number from ${least} to ${most}`);
  }

  oneOf<Name extends string>(name: string, names: readonly Name[]): Name | null {
    const isFine = (value: unknown): value is Name => (names as readonly unknown[]).includes(value);
    return this.#checked(name, isFine, `one of ${names.join(', ')}`);
  }

  texts(name: string): readonly string[] | null {
    const isText = (value: unknown): boolean =>
      typeof value === 'string' && value !== '' && value.length <= 64;
    const isFine = (value: unknown): value is string[] =>
      Array.isArray(value) && value.length > 0 && value.length <= MAX_LABELS && value.every(isText);
    return this.#checked(name, isFine, 'an array of names');
  }
}

const describedBy = (text: string): ModelDescription => {
  if (text.length > MAX_DESCRIPTION_BYTES) throw new Error('it is too large');
  const fields = new Fields(JSON.parse(text));
  const width = fields.number('width', 32, MAX_SIDE);
  const height = fields.number('height', 32, MAX_SIDE) ?? width;
  return {
    labels: fields.texts('labels'),
    input:
      width === null || height === null ? null : { width: Math.round(width), height: Math.round(height) },
    color: fields.oneOf('color', ['rgb', 'bgr']),
    scale: fields.number('scale', 1e-6, 1),
    output: fields.oneOf('output', outputKinds),
    minScore: fields.number('min_score', 0.01, 1) ?? DEFAULT_MIN_SCORE,
    maxOverlap: fields.number('max_overlap', 0, 1) ?? DEFAULT_MAX_OVERLAP,
  };
};

/** The description beside a model. Throws where it is none. */
export const parseDescription = (text: string): ModelDescription => {
  try {
    return describedBy(text);
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    throw new Error(`the description beside the model can't be used: ${why}`);
  }
};

/** What a class is called: as it is described, else as is common where there are as many, else by its number. */
export const labelOf = (classIndex: number, labels: readonly string[] | null, classCount: number): string =>
  (labels ?? (classCount === commonLabels.length || classCount === 0 ? commonLabels : []))[classIndex] ??
  `class ${classIndex}`;
