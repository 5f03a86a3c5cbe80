import type { Coverage, Place } from './coverage.js';
import { mutate, type Others } from './mutate.js';
import type { Target } from './target.js';

/** So many inputs are run between two looks at what they reached. */
const BATCH = 100;
/** A run of this length is looked at again: a machine that was busy isn't slow three times. */
const SLOW_MS = 500;
const SLOW_RUNS = 3;
const MAX_SHRINK_RUNS = 2_000;

export type Finding = { readonly input: Buffer; readonly fault: string };

export type FuzzerDeps = {
  readonly coverage: Coverage;
  readonly random: () => number;
  /** Before each input: whoever watches knows what hangs. */
  readonly onInput: (input: Buffer) => void;
  /** An input that led where none had been. */
  readonly onKept: (input: Buffer) => void;
};

/** Tries inputs, keeps those that lead to new places in the code, and makes the next ones of them. */
export class Fuzzer {
  runs = 0;
  places = 0;
  readonly corpus: Buffer[] = [];
  readonly #target: Target;
  readonly #deps: FuzzerDeps;
  readonly #words: readonly Buffer[];

  constructor(target: Target, deps: FuzzerDeps) {
    this.#target = target;
    this.#deps = deps;
    this.#words = (target.words ?? []).map((word) => Buffer.from(word));
  }

  /** First those that there are: the target's own, and what earlier runs kept. Null: nothing was found. */
  begin(inputs: readonly Buffer[]): Finding | null {
    for (const input of inputs) {
      const found = this.#try([input]);
      if (found !== null) return found;
      // Also those that lead nowhere new: they are what the parser is for.
      if (!this.corpus.includes(input)) this.corpus.push(input);
    }
    return null;
  }

  batch(): Finding | null {
    const others: Others = { words: this.#words, inputs: this.corpus };
    const inputs = Array.from({ length: BATCH }, () => {
      const base = this.corpus[Math.floor(this.#deps.random() * this.corpus.length)]!;
      return mutate(base, this.#deps.random, others);
    });
    return this.#try(inputs);
  }

  #try(inputs: readonly Buffer[]): Finding | null {
    const found = this.#runAll(inputs);
    if (found !== null) return { ...found, input: this.#shrink(found) };
    const news = this.#deps.coverage.takeNew();
    this.places += news.length;
    if (news.length > 0) this.#keep(inputs, news);
    return null;
  }

  /** Which of them led there is found by running halves again. */
  #keep(inputs: readonly Buffer[], news: readonly Place[]): void {
    const [first] = inputs;
    if (news.length === 0 || first === undefined) return;
    if (inputs.length === 1) {
      this.corpus.push(first);
      this.#deps.onKept(first);
      return;
    }
    const half = inputs.slice(0, inputs.length >> 1);
    this.#runAll(half);
    const reached = this.#deps.coverage.takeSome(news);
    this.#keep(half, reached);
    this.#keep(
      inputs.slice(half.length),
      news.filter((place) => !reached.includes(place)),
    );
  }

  #runAll(inputs: readonly Buffer[]): Finding | null {
    for (const input of inputs) {
      const fault = this.#fault(input);
      if (fault !== null) return { input, fault };
    }
    return null;
  }

  #fault(input: Buffer): string | null {
    let leastMs = Number.POSITIVE_INFINITY;
    for (let count = 0; count < SLOW_RUNS; count++) {
      this.#deps.onInput(input);
      this.runs += 1;
      const startMs = performance.now();
      try {
        // A copy: whoever writes into what it reads is caught by the next run of it.
        this.#target.run(Buffer.from(input));
      } catch (thrown) {
        return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
      }
      leastMs = Math.min(leastMs, performance.now() - startMs);
      if (leastMs < SLOW_MS) return null;
    }
    return `takes ${Math.round(leastMs)} ms`;
  }

  /** The shortest input found with a fault that begins the same. */
  #shrink({ input, fault }: Finding): Buffer {
    const sameAs = fault.split('\n')[0]!;
    if (sameAs.startsWith('takes')) return input;
    let least = input;
    let left = MAX_SHRINK_RUNS;
    for (let length = input.length >> 1; length > 0; length >>= 1)
      for (let at = 0; at < least.length && left > 0; left--) {
        const shorter = Buffer.concat([least.subarray(0, at), least.subarray(at + length)]);
        if (this.#fault(shorter)?.split('\n')[0] === sameAs) least = shorter;
        else at += length;
      }
    return least;
  }
}
