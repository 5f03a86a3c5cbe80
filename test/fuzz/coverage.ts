import { type Profiler, Session } from 'node:inspector';

/** A place in the code, by the function around it. */
export type Place = { readonly code: string; readonly offset: number };

/**
 * Which places of the product's own code this thread has run, as V8 counts blocks. Where a block lies depends on what
 * else was run how often, so it is places that count: one that was ever in a block that ran.
 */
export class Coverage {
  readonly #session = new Session();
  readonly #root: string;
  /** By function: 1 for each of its characters that was run. */
  readonly #known = new Map<string, Uint8Array>();

  /** `root`: what the addresses of the modules that count begin with. */
  constructor(root: string) {
    this.#root = root;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** Of what was run since the last call: the beginning of each stretch that had never been run before. */
  takeNew(): Place[] {
    const news: Place[] = [];
    for (const [code, ran] of this.#take()) {
      const known = this.#known.get(code);
      if (known === undefined) {
        this.#known.set(code, ran);
        news.push({ code, offset: ran.indexOf(1) });
        continue;
      }
      let isInNews = false;
      for (const [offset, value] of ran.entries()) {
        const isNew = value === 1 && known[offset] === 0;
        if (isNew && !isInNews) news.push({ code, offset });
        if (isNew) known[offset] = 1;
        isInNews = isNew;
      }
    }
    return news;
  }

  /** Which of these places were run since the last call. */
  takeSome(places: readonly Place[]): Place[] {
    const all = new Map(this.#take());
    return places.filter(({ code, offset }) => all.get(code)?.[offset] === 1);
  }

  stop(): void {
    this.#session.disconnect();
  }

  *#take(): Generator<[code: string, ran: Uint8Array]> {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    // On a thread's own session the answer comes before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (fault, taken) => {
      if (fault !== null) throw fault;
      scripts = taken.result;
    });
    for (const { scriptId, url, functions } of scripts) {
      if (!url.startsWith(this.#root)) continue;
      for (const { ranges } of functions) {
        const { startOffset, endOffset, count } = ranges[0]!;
        if (count === 0) continue;
        const ran = new Uint8Array(endOffset - startOffset);
        // Inner ones come after those around them.
        for (const range of ranges)
          ran.fill(range.count > 0 ? 1 : 0, range.startOffset - startOffset, range.endOffset - startOffset);
        yield [`${scriptId}:${startOffset}:${endOffset}`, ran];
      }
    }
  }
}
