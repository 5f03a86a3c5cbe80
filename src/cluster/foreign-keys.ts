/** How long it is left to a box that surely has what stood there. */
const PATIENCE_MS = 60_000;
const MAX_NAMED = 3;

type Seen = { readonly sinceMs: number; readonly isSure: boolean };

/** Which settings somebody without the cluster's key has written over in the log. */
export class ForeignKeys {
  readonly #seen = new Map<string, Seen>();

  /** `isSureOf`: this box has what stood there before. Answers those that are news. */
  see(keys: readonly string[], isSureOf: (key: string) => boolean, nowMs: number): string[] {
    const news = keys.filter((key) => !this.#seen.has(key));
    for (const key of keys) {
      const before = this.#seen.get(key);
      const isSure = isSureOf(key) && before?.isSure !== false;
      this.#seen.set(key, { sinceMs: before?.sinceMs ?? nowMs, isSure });
    }
    return news;
  }

  /** What stands there is the cluster's again. */
  heal(keys: Iterable<string>): void {
    for (const key of keys) this.#seen.delete(key);
  }

  /** Nothing else is foreign any more. */
  keepOnly(keys: readonly string[]): void {
    this.heal([...this.#seen.keys()].filter((key) => !keys.includes(key)));
  }

  isOld(key: string, nowMs: number): boolean {
    return nowMs - (this.#seen.get(key)?.sinceMs ?? nowMs) >= PATIENCE_MS;
  }

  /** Those that this box is to write over by what it has; what it isn't sure of only after a while, and never by nothing. */
  due(nowMs: number, isHere: (key: string) => boolean): string[] {
    return [...this.#seen]
      .filter(([key, { isSure }]) => isSure || (this.isOld(key, nowMs) && isHere(key)))
      .map(([key]) => key);
  }

  get unsure(): string[] {
    return [...this.#seen].filter(([, { isSure }]) => !isSure).map(([key]) => key);
  }

  get fault(): string | null {
    const keys = [...this.#seen.keys()];
    if (keys.length === 0) return null;
    const more = keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : '';
    const named = keys.slice(0, MAX_NAMED).join(', ');
    return `somebody without CLUSTER_KEY has written over what the cluster keeps as ${named}${more}`;
  }
}
