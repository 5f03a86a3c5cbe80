const MAX_ID_CHARS = 64;

/** What of a text can stand in an id; "" where nothing can. */
export const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|[-.]+$/g, '')
    .slice(0, MAX_ID_CHARS);

/** Gives out ids that nobody has, in turn. */
export class IdSuggestions {
  readonly #taken: Set<string>;
  /** Where counting goes on, by what it is counted for: else a thousand equal ones would be a million looks. */
  readonly #next = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** Nobody else gets it; false: somebody has it. */
  take(id: string): boolean {
    if (this.#taken.has(id)) return false;
    this.#taken.add(id);
    return true;
  }

  /** The wish itself, or with the first number behind it that is free. */
  suggest(wish: string): string {
    const base = slugOf(wish) || 'camera';
    if (this.take(base)) return base;
    for (let count = this.#next.get(base) ?? 2; ; count++) {
      const suffix = `-${count}`;
      const id = base.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
      if (!this.take(id)) continue;
      this.#next.set(base, count + 1);
      return id;
    }
  }
}
