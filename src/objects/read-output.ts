import { type Size, toPicture } from './picture-fit.js';
import type { Proposal } from './suppress.js';

/** How a model's output says where things are: README.md tells what each is. */
export const outputKinds = ['yolox', 'yolov8', 'end2end'] as const;
export type OutputKind = (typeof outputKinds)[number];

export type Output = { readonly data: Float32Array; readonly dims: readonly number[] };

export type ReadOptions = {
  readonly kind: OutputKind;
  readonly input: Size;
  /** The part of the input that the picture fills. */
  readonly fit: Size;
  readonly minScore: number;
};

const STRIDES = [8, 16, 32] as const;

/** How many cells YOLOX's grids have together. */
const gridCells = ({ width, height }: Size): number =>
  STRIDES.reduce((sum, stride) => sum + Math.floor(width / stride) * Math.floor(height / stride), 0);

/** What an output of this shape must be; null: none that we know. */
export const recognizeOutput = (dims: readonly number[], input: Size): OutputKind | null => {
  const [batch, rows = 0, columns = 0] = dims;
  if (dims.length !== 3 || batch !== 1) return null;
  if (columns > 5 && rows === gridCells(input)) return 'yolox';
  if (columns === 6) return 'end2end';
  return rows > 4 && columns > rows ? 'yolov8' : null;
};

/** How many classes a model tells apart, as far as its output says. */
export const classCountOf = (kind: OutputKind, [, rows = 0, columns = 0]: readonly number[]): number => {
  if (kind === 'yolox') return columns - 5;
  return kind === 'yolov8' ? rows - 4 : 0;
};

type Add = (classIndex: number, score: number, box: readonly [number, number, number, number]) => void;

const fromMiddle = (x: number, y: number, width: number, height: number) =>
  [x - width / 2, y - height / 2, x + width / 2, y + height / 2] as const;

/** A row for each cell of three grids: middle within the cell, logarithms of the size, certainty, scores. */
const readYolox = ({ data, dims }: Output, { input, minScore }: ReadOptions, add: Add): void => {
  const columns = dims[2]!;
  let at = 0;
  for (const stride of STRIDES) {
    for (let row = 0; row < Math.floor(input.height / stride); row++) {
      for (let column = 0; column < Math.floor(input.width / stride); column++, at += columns) {
        const certainty = data[at + 4]!;
        if (certainty < minScore) continue;
        let best = 5;
        for (let index = 6; index < columns; index++) if (data[at + index]! > data[at + best]!) best = index;
        const score = certainty * data[at + best]!;
        if (score < minScore) continue;
        const x = (data[at]! + column) * stride;
        const y = (data[at + 1]! + row) * stride;
        const size = [Math.exp(data[at + 2]!) * stride, Math.exp(data[at + 3]!) * stride] as const;
        add(best - 5, score, fromMiddle(x, y, ...size));
      }
    }
  }
};

/** A column for each proposal: middle and size in pixels of the input, then a score for each class. */
const readYolov8 = ({ data, dims }: Output, { minScore }: ReadOptions, add: Add): void => {
  const [, rows = 0, columns = 0] = dims;
  for (let column = 0; column < columns; column++) {
    const value = (row: number): number => data[row * columns + column]!;
    let best = 4;
    for (let row = 5; row < rows; row++) if (value(row) > value(best)) best = row;
    const score = value(best);
    if (score >= minScore) add(best - 4, score, fromMiddle(value(0), value(1), value(2), value(3)));
  }
};

/** A row for each object: corners in pixels of the input, score, class. */
const readEndToEnd = ({ data, dims }: Output, { minScore }: ReadOptions, add: Add): void => {
  for (let row = 0; row < dims[1]!; row++) {
    const [left = 0, top = 0, right = 0, bottom = 0, score = 0, classIndex = 0] = data.subarray(
      row * 6,
      row * 6 + 6,
    );
    if (score >= minScore) add(Math.round(classIndex), score, [left, top, right, bottom]);
  }
};

const readers: Readonly<Record<OutputKind, typeof readYolox>> = {
  yolox: readYolox,
  yolov8: readYolov8,
  end2end: readEndToEnd,
};

/** Nobody's model tells apart more; what an output has no place for would else be a name of its own each time. */
const MAX_CLASSES = 10_000;

/** The proposals in a model's output. */
export const readOutput = (output: Output, options: ReadOptions): Proposal[] => {
  const proposals: Proposal[] = [];
  readers[options.kind](output, options, (classIndex, score, corners) => {
    const box = toPicture(corners, options.fit);
    // A network that was given what it doesn't know may answer with anything.
    const isKnown = classIndex >= 0 && classIndex < MAX_CLASSES;
    if (box === null || !Number.isFinite(score) || !isKnown) return;
    proposals.push({ classIndex, score: Math.min(score, 1), box });
  });
  return proposals;
};
