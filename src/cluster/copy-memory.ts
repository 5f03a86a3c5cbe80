import type { FactTable } from '../store/facts.js';
import { type ClusterMark, markOf } from './cluster-mark.js';
import type { UnsureKeys } from './foreign-keys.js';

/** What this box's settings are a copy of. */
export type CopyState = {
  readonly sequence: number;
  readonly mark: ClusterMark;
  readonly unsure: UnsureKeys;
};

/** Remembers it beside the settings; it is forgotten by a box that is alone, and changes them (`Store.change`). */
export class CopyMemory {
  readonly #facts: FactTable;
  readonly #keyCheck: string;

  /** `keyCheck` is another one for each key, and tells nothing of it. */
  constructor(facts: FactTable, keyCheck: string) {
    this.#facts = facts;
    this.#keyCheck = keyCheck;
  }

  /** Null: the settings are this box's own. */
  read(): CopyState | null {
    const { sequence, mark, unsure } = this.#stored();
    const known = markOf(mark);
    if (known === null || typeof sequence !== 'number') return null;
    if (unsure !== 'many' && !Array.isArray(unsure)) return null;
    return { sequence, mark: known, unsure };
  }

  write(state: CopyState): void {
    this.#facts.setText('cluster_copy', JSON.stringify({ ...state, key: this.#keyCheck }));
  }

  /** Whether it was this key that they could be read by. */
  get isOfThisKey(): boolean {
    return this.#stored()['key'] === this.#keyCheck;
  }

  #stored(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.#facts.text('cluster_copy') ?? '{}') as Record<string, unknown>;
  }
}
