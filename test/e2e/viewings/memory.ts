import { type Census, censusOf, sumOf } from './process-figures.js';
import type { SoakScene } from './soak-scene.js';
import { pause } from './wall.js';

type Reading = { readonly residentBytes: number; readonly threads: ReadonlyMap<string, number> };

const READ_EVERY_MS = 1_000;

/** Heap and buffers. */
export const heldBytes = ({ heapBytes, externalBytes }: Census): number => heapBytes + externalBytes;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const residentOf = (readings: readonly Reading[]): number =>
  median(readings.map(({ residentBytes }) => residentBytes));

/** The least of some readings: what visitors of this moment take is no leak. */
const floorOf = (readings: readonly Reading[], thread: string): number =>
  Math.min(...readings.flatMap(({ threads }) => threads.get(thread) ?? []));

/** The memory of the service while visitors come and go. */
export class Memory {
  readonly #scene: SoakScene;
  readonly #readings: Reading[] = [];
  #isReading = true;

  constructor(scene: SoakScene) {
    this.#scene = scene;
  }

  /** Reads once a second until it is stopped. */
  async run(): Promise<void> {
    while (this.#isReading) {
      const metrics = await this.#scene.metrics();
      this.#readings.push({
        residentBytes: sumOf(metrics, /^process_resident_memory_bytes/),
        threads: new Map(
          [...censusOf(this.#scene.censusDir)].map(([name, census]) => [name, heldBytes(census)]),
        ),
      });
      await pause(READ_EVERY_MS);
    }
  }

  stop(): void {
    this.#isReading = false;
  }

  /** From the first half, without its first two thirds, in which threads grow to their size, to the last third. */
  growth(): { readonly residentBytes: number; readonly threads: ReadonlyMap<string, number> } {
    const count = this.#readings.length;
    const first = this.#readings.slice(Math.floor(count / 3), Math.floor(count / 2));
    const last = this.#readings.slice(Math.floor((count * 2) / 3));
    const lasting = [...(last.at(-1)?.threads.keys() ?? [])].filter((name) => first[0]?.threads.has(name));
    return {
      residentBytes: residentOf(last) - residentOf(first),
      threads: new Map(lasting.map((name) => [name, floorOf(last, name) - floorOf(first, name)])),
    };
  }

  /** Twelve points of the whole, for whoever reads the result. */
  get summary(): string {
    const step = Math.max(1, Math.floor(this.#readings.length / 12));
    const points = this.#readings.filter((_, index) => index % step === 0);
    return points
      .map(({ residentBytes, threads }) => {
        const heldMb = [...threads.values()].reduce((sum, bytes) => sum + bytes, 0) / 1e6;
        return `${(residentBytes / 1e6).toFixed(0)}/${heldMb.toFixed(1)}`;
      })
      .join(' ');
  }
}
