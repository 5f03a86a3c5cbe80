/** A recorder asks a few things a minute. */
const MAX_MARKS = 1_000;

type Marks = { readonly stampsMs: Map<string, number>; floorMs: number };

/**
 * What was shown already by each name. Digests can be read on the way over http: whoever shows one again must not be
 * taken for its maker. Only what was right is remembered, so nobody else fills this.
 */
export class ReplayMemory {
  readonly #lifetimeMs: number;
  /** What is older came to a service that ran before, which alone knew what it had been shown. */
  readonly #startMs: number;
  readonly #byName = new Map<string, Marks>();

  constructor(lifetimeMs: number, startMs: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#startMs = startMs;
  }

  /** Whether `mark`, made at `stampMs`, is shown for the first time; false, too, where nobody can know any more. */
  isFirst(name: string, mark: string, stampMs: number, nowMs: number): boolean {
    const marks = this.#byName.get(name) ?? { stampsMs: new Map<string, number>(), floorMs: this.#startMs };
    this.#byName.set(name, marks);
    if (stampMs < marks.floorMs || marks.stampsMs.has(mark)) return false;
    marks.stampsMs.set(mark, stampMs);
    for (const [oldest, ms] of marks.stampsMs) {
      if (ms >= nowMs - this.#lifetimeMs && marks.stampsMs.size <= MAX_MARKS) break;
      marks.stampsMs.delete(oldest);
      // Whatever is forgotten before its time is taken for shown.
      marks.floorMs = Math.max(marks.floorMs, Math.min(ms + 1, nowMs));
    }
    return true;
  }
}
