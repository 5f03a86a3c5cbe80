import type { MonotonicMs } from '../../base/clock.js';
import type { ThreadLoad } from './packing.js';

/** A thread that starts is busy with itself. */
const STARTING_ROUNDS = 15;
const WINDOW_ROUNDS = 10;

type Sample = { readonly atMs: MonotonicMs; readonly cpuSeconds: number };

/** Which share of a core a thread takes, over the last ten seconds. */
export class LoadMeter {
  measured: ThreadLoad['measured'] = null;
  #rounds = 0;
  readonly #samples: Sample[] = [];

  /** Once a second: the thread's CPU time since its start, NaN where the system doesn't tell, and its cameras. */
  round(cpuSeconds: number, cameras: number, atMs: MonotonicMs): void {
    this.#rounds += 1;
    if (this.#rounds <= STARTING_ROUNDS || Number.isNaN(cpuSeconds)) return;
    this.#samples.push({ atMs, cpuSeconds });
    if (this.#samples.length <= WINDOW_ROUNDS) return;
    const first = this.#samples.shift();
    if (first === undefined || atMs <= first.atMs) return;
    this.measured = { cpuShare: (cpuSeconds - first.cpuSeconds) / ((atMs - first.atMs) / 1000), cameras };
  }
}
