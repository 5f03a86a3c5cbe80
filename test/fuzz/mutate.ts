import type { seededRandom } from '../support/seeded-random.js';

/** What two bytes can tell, and most parsers take: what grows with the square of the length shows there. */
export const MAX_INPUT_BYTES = 65_535;
const SPECIAL_BYTES = [0, 1, 2, 9, 10, 13, 32, 0x2f, 0x3a, 0x3c, 0x7f, 0x80, 0xc0, 0xfe, 0xff];
const SPECIAL_NUMBERS = [0, 1, 2, 255, 256, 32_767, 65_535, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const SPECIAL_TEXTS = [
  '0',
  '-1',
  '1e9',
  '99999999999999999999',
  '4294967296',
  '0x10',
  'NaN',
  '',
  '%00',
  '\u{1f600}',
];

type Random = ReturnType<typeof seededRandom>;
type Mutation = (input: Buffer, random: Random, others: Others) => Buffer;
/** What may be put into an input: words of its language, and other inputs. */
export type Others = { readonly words: readonly Buffer[]; readonly inputs: readonly Buffer[] };

const below = (random: Random, limit: number): number => Math.floor(random() * limit);
const pick = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)]!;

const put = (input: Buffer, at: number, removed: number, added: Uint8Array): Buffer =>
  Buffer.concat([input.subarray(0, at), added, input.subarray(Math.min(at + removed, input.length))]);

/** A stretch of it, short ones more often than long ones. */
const stretch = (input: Buffer, random: Random): [at: number, length: number] => {
  const at = below(random, input.length + 1);
  return [at, Math.min(input.length - at, Math.floor(2 ** (random() * 10)))];
};

const withByte = (input: Buffer, random: Random, value: (old: number) => number): Buffer => {
  const copy = Buffer.from(input);
  const at = below(random, copy.length);
  if (copy.length > 0) copy[at] = value(copy[at]!);
  return copy;
};

const mutations: readonly Mutation[] = [
  (input, random) => withByte(input, random, (old) => old ^ (1 << below(random, 8))),
  (input, random) => withByte(input, random, () => pick(random, SPECIAL_BYTES)),
  (input, random) => withByte(input, random, () => below(random, 256)),
  (input, random) => withByte(input, random, (old) => old + below(random, 33) - 16),
  (input, random) => put(input, ...stretch(input, random), Buffer.alloc(0)),
  (input, random) => {
    const [at, length] = stretch(input, random);
    return put(input, below(random, input.length + 1), 0, input.subarray(at, at + length));
  },
  (input, random) =>
    put(input, below(random, input.length + 1), 0, Buffer.alloc(1 + below(random, 40), below(random, 256))),
  (input, random) => {
    const [at, length] = stretch(input, random);
    const room = MAX_INPUT_BYTES - input.length;
    // Rarely: the longest input costs as much as a hundred others.
    if (length === 0 || room <= 0 || random() > 0.05) return input;
    return put(input, at, 0, Buffer.alloc(room, input.subarray(at, at + length)));
  },
  (input, random) => {
    const bytes = pick(random, [1, 2, 4]);
    const field = Buffer.alloc(bytes);
    const value = pick(random, SPECIAL_NUMBERS) % 2 ** (8 * bytes);
    if (random() < 0.7) field.writeUIntBE(value, 0, bytes);
    else field.writeUIntLE(value, 0, bytes);
    return put(input, below(random, input.length + 1), bytes, field);
  },
  (input, random) => {
    const numbers = [...input.toString('latin1').matchAll(/\d+/g)];
    if (numbers.length === 0) return input;
    const { index, 0: digits } = pick(random, numbers);
    const other = random() < 0.5 ? pick(random, SPECIAL_TEXTS) : String(below(random, 70_000));
    return put(input, index, digits.length, Buffer.from(other));
  },
  (input, random, { words }) =>
    words.length === 0
      ? input
      : put(input, below(random, input.length + 1), pick(random, [0, 0, 1, 4]), pick(random, words)),
  (input, random, { inputs }) => {
    const other = pick(random, inputs);
    return Buffer.concat([
      input.subarray(0, below(random, input.length + 1)),
      other.subarray(below(random, other.length + 1)),
    ]);
  },
  (input, random, { inputs }) => {
    const other = pick(random, inputs);
    const [at, length] = stretch(other, random);
    return put(input, below(random, input.length + 1), 0, other.subarray(at, at + length));
  },
];

/** Another input, made of one that led somewhere by a few changes. */
export const mutate = (input: Buffer, random: Random, others: Others): Buffer => {
  let made = input;
  const changes = Math.floor(2 ** (random() * 3));
  for (let count = 0; count < changes; count++)
    made = pick(random, mutations)(made, random, others).subarray(0, MAX_INPUT_BYTES);
  return made;
};
