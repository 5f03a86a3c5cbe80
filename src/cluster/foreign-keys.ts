/** How long it is left to a box that surely has what stood there. */
const PATIENCE_MS = 60_000;
const MAX_NAMED = 3;
/** It is written down with each change. */
const MAX_UNSURE = 1_000;

type Seen = {
  readonly sinceMs: number;
  readonly isSure: boolean;
  /** After a while this box has nothing to write over it by, and that stays so until it heals. */
  isHopeless: boolean;
};

/** Keys of which the log had something foreign instead, so that the copy may lack what stood there; `many`: of any. */
export type UnsureKeys = readonly string[] | 'many';

/** Which settings somebody without the cluster's key has written over in the log. */
export class ForeignKeys {
  readonly #seen = new Map<string, Seen>();

  /** `isSureOf`: this box has what stood there before. Answers those that are news. */
  see(keys: readonly string[], isSureOf: (key: string) => boolean, nowMs: number): string[] {
    const news = keys.filter((key) => !this.#seen.has(key));
    for (const key of keys) {
      const before = this.#seen.get(key);
      const isSure = isSureOf(key) && before?.isSure !== false;
      const isHopeless = before?.isHopeless ?? false;
      this.#seen.set(key, { sinceMs: before?.sinceMs ?? nowMs, isSure, isHopeless });
    }
    return news;
  }

  /** What stands there is the cluster's again. */
  heal(keys: Iterable<string>): void {
    for (const key of keys) this.#seen.delete(key);
  }

  /** Nothing else is foreign any more. */
  keepOnly(keys: readonly string[]): void {
    const kept = new Set(keys);
    this.heal([...this.#seen.keys()].filter((key) => !kept.has(key)));
  }

  isOld(key: string, nowMs: number): boolean {
    return nowMs - (this.#seen.get(key)?.sinceMs ?? nowMs) >= PATIENCE_MS;
  }

  /** Those that this box is to write over by what it has; what it isn't sure of only after a while, and never by nothing. */
  due(nowMs: number, max: number, isHere: (key: string) => boolean): string[] {
    const due: string[] = [];
    for (const [key, seen] of this.#seen) {
      if (due.length >= max) break;
      if (seen.isSure) due.push(key);
      else if (!seen.isHopeless && this.isOld(key, nowMs)) {
        seen.isHopeless = !isHere(key);
        if (!seen.isHopeless) due.push(key);
      }
    }
    return due;
  }

  get unsure(): UnsureKeys {
    const unsure: string[] = [];
    for (const [key, { isSure }] of this.#seen) {
      if (!isSure) unsure.push(key);
      if (unsure.length > MAX_UNSURE) return 'many';
    }
    return unsure;
  }

  get fault(): string | null {
    const { size } = this.#seen;
    if (size === 0) return null;
    const more = size > MAX_NAMED ? ` and ${size - MAX_NAMED} more` : '';
    const named = [...this.#seen.keys()].slice(0, MAX_NAMED).join(', ');
    return `somebody without CLUSTER_KEY has written over what the cluster keeps as ${named}${more}`;
  }
}
