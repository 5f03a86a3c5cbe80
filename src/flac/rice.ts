import type { BitWriter } from './bit-writer.js';

/** Partitions of a block, as a power of two (RFC 9639 §9.2.7.1): of 32 samples where a block has 512. */
const MAX_PARTITION_ORDER = 4;
/** 15 would mean that a partition isn't Rice coded (§9.2.7.2). */
const MAX_PARAMETER = 14;
const PARAMETER_BITS = 4;
const HEAD_BITS = 6;

/** Signed to unsigned: 0, -1, 1, -2 … */
const folded = (value: number): number => (value << 1) ^ (value >> 31);

/** The parameter for values of which so many add up to `sum`: about the logarithm of their mean. */
const parameterFor = (sum: number, count: number): number => {
  let parameter = 0;
  while (parameter < MAX_PARAMETER && count * (2 << parameter) <= sum) parameter += 1;
  return parameter;
};

/** Codes the residual of a block, the first `order` samples of which a predictor has no use for (RFC 9639 §9.2.7). */
export class RiceCoder {
  readonly #sums = new Float64Array(1 << MAX_PARTITION_ORDER);
  #parameters = new Uint8Array(1 << MAX_PARTITION_ORDER);
  #tried = new Uint8Array(1 << MAX_PARTITION_ORDER);
  #partitionOrder = 0;
  #count = 0;
  #order = 0;

  /** Chooses partitions for `residual[order, count)`. Returns how many bits it takes at most. */
  plan(residual: Int32Array, order: number, count: number): number {
    this.#order = order;
    this.#count = count;
    let partitionOrder = MAX_PARTITION_ORDER;
    while (partitionOrder > 0 && (count % (1 << partitionOrder) !== 0 || count >> partitionOrder <= order))
      partitionOrder -= 1;
    this.#sum(residual, partitionOrder);
    let least = Number.POSITIVE_INFINITY;
    for (; partitionOrder >= 0; partitionOrder -= 1) {
      const bits = this.#try(partitionOrder);
      if (bits < least) {
        least = bits;
        this.#partitionOrder = partitionOrder;
        [this.#parameters, this.#tried] = [this.#tried, this.#parameters];
      }
      // Partitions twice as large have the sums of two each.
      for (let at = 0; at < (1 << partitionOrder) >> 1; at += 1)
        this.#sums[at] = this.#sums[2 * at]! + this.#sums[2 * at + 1]!;
    }
    return HEAD_BITS + least;
  }

  /** Writes what was planned last. */
  write(residual: Int32Array, out: BitWriter): void {
    const partitionOrder = this.#partitionOrder;
    out.write(0, 2); // parameters of 4 bits
    out.write(partitionOrder, 4);
    const length = this.#count >> partitionOrder;
    for (let partition = 0; partition < 1 << partitionOrder; partition += 1) {
      const parameter = this.#parameters[partition]!;
      out.write(parameter, PARAMETER_BITS);
      const end = (partition + 1) * length;
      for (let at = this.#startOf(partition, length); at < end; at += 1)
        out.rice(folded(residual[at]!), parameter);
    }
  }

  #startOf(partition: number, length: number): number {
    return partition === 0 ? this.#order : partition * length;
  }

  #sum(residual: Int32Array, partitionOrder: number): void {
    const length = this.#count >> partitionOrder;
    for (let partition = 0; partition < 1 << partitionOrder; partition += 1) {
      let sum = 0;
      const end = (partition + 1) * length;
      for (let at = this.#startOf(partition, length); at < end; at += 1) sum += folded(residual[at]!);
      this.#sums[partition] = sum;
    }
  }

  /** Bits at most: for each value its parameter's and a one, and the rest in zeros. */
  #try(partitionOrder: number): number {
    const length = this.#count >> partitionOrder;
    let bits = 0;
    for (let partition = 0; partition < 1 << partitionOrder; partition += 1) {
      const count = partition === 0 ? length - this.#order : length;
      const sum = this.#sums[partition]!;
      const parameter = parameterFor(sum, count);
      this.#tried[partition] = parameter;
      bits += PARAMETER_BITS + count * (parameter + 1) + Math.floor(sum / (1 << parameter));
    }
    return bits;
  }
}
