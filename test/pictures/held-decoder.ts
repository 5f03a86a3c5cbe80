import type { DecodeJob, DecodeOutcome } from '../../src/pictures/messages.js';

/** Stands where ffmpeg would: makes pictures when it is told to. */
export class HeldDecoder {
  readonly jobs: DecodeJob[] = [];
  readonly #ends: ((outcome: DecodeOutcome) => void)[] = [];

  decode(job: DecodeJob): Promise<DecodeOutcome> {
    this.jobs.push(job);
    return new Promise((resolve) => this.#ends.push(resolve));
  }

  /** Those that it works on. */
  get running(): number {
    return this.#ends.length;
  }

  /** The one that it has worked on for longest is done; `jpeg` tells pictures apart. */
  end(outcome: DecodeOutcome = { jpeg: Buffer.from(`picture ${this.jobs.length}`) }): void {
    this.#ends.shift()!(outcome);
  }
}
