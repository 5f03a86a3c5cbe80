/* ONNX files are protocol buffers (onnx.proto3): just what a small network takes. */

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
};

const whole = (field: number, value: number): Buffer =>
  Buffer.from([...varint(field << 3), ...varint(value)]);

const bytes = (field: number, value: string | Buffer): Buffer => {
  const content = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint((field << 3) | 2), ...varint(content.length)]), content]);
};

const message = (field: number, parts: readonly Buffer[]): Buffer => bytes(field, Buffer.concat(parts));

const elementTypes = { float: 1, int64: 7 } as const;
type ElementType = keyof typeof elementTypes;

export type OnnxNode = {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly attributes?: Readonly<Record<string, number | readonly number[]>>;
};

export type OnnxConstant = {
  readonly name: string;
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly values: readonly number[];
};

export type OnnxValue = { readonly name: string; readonly dims: readonly number[] };

const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;

const attributeOf = ([name, value]: [string, number | readonly number[]]): Buffer =>
  typeof value === 'number'
    ? message(5, [bytes(1, name), whole(3, value), whole(20, ATTRIBUTE_INT)])
    : message(5, [bytes(1, name), ...value.map((one) => whole(8, one)), whole(20, ATTRIBUTE_INTS)]);

const nodeOf = ({ op, inputs, output, attributes = {} }: OnnxNode): Buffer =>
  message(1, [
    ...inputs.map((input) => bytes(1, input)),
    ...[bytes(2, output), bytes(4, op)],
    ...Object.entries(attributes).map(attributeOf),
  ]);

const constantOf = ({ name, type, dims, values }: OnnxConstant): Buffer => {
  const content =
    type === 'float'
      ? Buffer.from(Float32Array.from(values).buffer)
      : Buffer.from(BigInt64Array.from(values.map(BigInt)).buffer);
  return message(5, [
    ...dims.map((side) => whole(1, side)),
    ...[whole(2, elementTypes[type]), bytes(8, name), bytes(9, content)],
  ]);
};

const portOf = (field: number, { name, dims }: OnnxValue): Buffer => {
  const shape = message(
    2,
    dims.map((side) => message(1, [whole(1, side)])),
  );
  return message(field, [bytes(1, name), message(2, [message(1, [whole(1, elementTypes.float), shape])])]);
};

const IR_VERSION = 8;
const OPSET = 13;

/** A network of one picture and one answer, both of floats. */
export const onnxFile = (graph: {
  readonly nodes: readonly OnnxNode[];
  readonly constants: readonly OnnxConstant[];
  readonly input: OnnxValue;
  readonly output: OnnxValue;
}): Buffer => {
  const { nodes, constants, input, output } = graph;
  const parts = [...nodes.map(nodeOf), bytes(2, 'graph'), ...constants.map(constantOf)];
  const content = message(7, [...parts, portOf(11, input), portOf(12, output)]);
  return Buffer.concat([whole(1, IR_VERSION), content, message(8, [bytes(1, ''), whole(2, OPSET)])]);
};
