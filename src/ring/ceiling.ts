import { defaultRingOptions, GUARANTEED_BYTES } from './capacity.js';
import { counterIndex } from './counters.js';
import { GRAIN_BYTES, RingMemory } from './layout.js';

/** How large the data area of any ring may be now: one word in shared memory, set by whoever holds the budget. */
export class RingCeiling {
  readonly memory: SharedArrayBuffer;
  readonly #grains: Int32Array;

  /** `memory` is that of the ceiling of another thread. */
  constructor(memory: SharedArrayBuffer | null = null) {
    this.memory = memory ?? new SharedArrayBuffer(4);
    this.#grains = new Int32Array(this.memory);
    if (memory === null) this.set(defaultRingOptions.maxDataBytes);
  }

  get bytes(): number {
    return Atomics.load(this.#grains, 0) * GRAIN_BYTES;
  }

  set(bytes: number): void {
    const bounded = Math.max(GUARANTEED_BYTES, Math.min(bytes, defaultRingOptions.maxDataBytes));
    Atomics.store(this.#grains, 0, Math.floor(bounded / GRAIN_BYTES));
  }
}

/** What a ring takes, in all and beside its data area, and how large that one is or wants to be. */
export type RingDemand = {
  readonly totalBytes: number;
  readonly fixedBytes: number;
  readonly demandBytes: number;
};

/** A ring's demand as it is now, from any thread. */
export const ringDemandOf = (ring: SharedArrayBuffer): RingDemand => {
  const { dataBytes, counters } = new RingMemory(ring);
  const totalBytes = ring.byteLength;
  const demandBytes = Math.max(dataBytes, counters[counterIndex.wantedBytes]!);
  return { totalBytes, fixedBytes: totalBytes - dataBytes, demandBytes };
};

/** What is left over may be taken by so many rings in one round of the budget. */
const GROWING_AT_ONCE = 4;

/**
 * The ceiling with which all rings stay within the budget: those that want less get what they want, the others the
 * same each. Where there is enough for all, one may grow into a part of what is left.
 */
export const fairCeiling = (demands: readonly number[], budgetBytes: number): number => {
  const sorted = demands.toSorted((a, b) => a - b);
  let leftBytes = budgetBytes;
  for (const [index, demandBytes] of sorted.entries()) {
    const shareBytes = leftBytes / (sorted.length - index);
    if (demandBytes > shareBytes) return shareBytes;
    leftBytes -= demandBytes;
  }
  return (sorted.at(-1) ?? 0) + leftBytes / GROWING_AT_ONCE;
};
