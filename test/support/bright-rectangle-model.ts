import { onnxFile } from './onnx-writer.js';

/**
 * A network that finds the bright part of a picture: one box around all pixels above half of white, as a row of corners,
 * score and class. The score is 0.9, or 0 where nothing is bright; the class is 0.
 */
export const brightRectangleModel = (side: number): Buffer => {
  const picture = [1, 3, side, side];
  const axis = (name: string, source: string, last: boolean) => ({
    ...{ op: 'ArgMax', inputs: [source], output: name },
    attributes: { axis: 1, keepdims: 1, select_last_index: Number(last) },
  });
  const float = (source: string) => ({
    ...{ op: 'Cast', inputs: [source], output: `${source}_float` },
    attributes: { to: 1 },
  });
  const plusOne = (source: string) => ({
    op: 'Add',
    inputs: [`${source}_float`, 'one'],
    output: `${source}_end`,
  });
  return onnxFile({
    input: { name: 'picture', dims: picture },
    output: { name: 'objects', dims: [1, 1, 6] },
    constants: [
      { name: 'half', type: 'float', dims: [1], values: [0.5] },
      { name: 'one', type: 'float', dims: [1], values: [1] },
      { name: 'sure', type: 'float', dims: [1], values: [0.9] },
      { name: 'nothing', type: 'float', dims: [1], values: [0] },
      { name: 'rows_of_six', type: 'int64', dims: [3], values: [1, 1, 6] },
    ],
    nodes: [
      { op: 'ReduceMean', inputs: ['picture'], output: 'grey', attributes: { axes: [1], keepdims: 1 } },
      { op: 'Greater', inputs: ['grey', 'half'], output: 'is_bright' },
      { op: 'Cast', inputs: ['is_bright'], output: 'bright', attributes: { to: 1 } },
      { op: 'ReduceMax', inputs: ['bright'], output: 'columns', attributes: { axes: [1, 2], keepdims: 0 } },
      { op: 'ReduceMax', inputs: ['bright'], output: 'rows', attributes: { axes: [1, 3], keepdims: 0 } },
      axis('left', 'columns', false),
      axis('right', 'columns', true),
      axis('top', 'rows', false),
      axis('bottom', 'rows', true),
      ...['left', 'right', 'top', 'bottom'].map(float),
      ...['right', 'bottom'].map(plusOne),
      { op: 'ReduceMax', inputs: ['rows'], output: 'any', attributes: { axes: [1], keepdims: 1 } },
      { op: 'Mul', inputs: ['any', 'sure'], output: 'score' },
      { op: 'Mul', inputs: ['any', 'nothing'], output: 'class' },
      {
        ...{ op: 'Concat', output: 'row', attributes: { axis: 1 } },
        inputs: ['left_float', 'top_float', 'right_end', 'bottom_end', 'score', 'class'],
      },
      { op: 'Reshape', inputs: ['row', 'rows_of_six'], output: 'objects' },
    ],
  });
};
