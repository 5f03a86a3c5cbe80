import { archiveError } from '../archive-error.js';

/** Where a recording's bytes are takes some 300 bytes of memory, a gap less: 15 MB in all. */
const FACT_BYTES = 300;
const MAX_FACTS = 50_000;
const MAX_FACTS_OF_USER = 10_000;

/** What one export holds. */
export type Holding = {
  add(facts: number): void;
  /** Text that may be done without: false where there is no room. */
  tryAddText(bytes: number): boolean;
  release(): void;
};

/** Counts the recordings and gaps that exports keep in memory for their hour, of each user and of all. */
export class HeldFacts {
  readonly #ofUser = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** `add` throws `archive_busy` where all hold too much, and what `tooMany` makes where this user does. */
  of(username: string, tooMany: () => Error): Holding {
    let mine = 0;
    const count = (facts: number): void => {
      mine += facts;
      this.#total += facts;
      const own = (this.#ofUser.get(username) ?? 0) + facts;
      if (own === 0) this.#ofUser.delete(username);
      else this.#ofUser.set(username, own);
    };
    return {
      tryAddText: (bytes) => {
        const facts = Math.ceil(bytes / FACT_BYTES);
        const isRoom =
          (this.#ofUser.get(username) ?? 0) + facts <= MAX_FACTS_OF_USER && this.#total + facts <= MAX_FACTS;
        if (isRoom) count(facts);
        return isRoom;
      },
      add: (facts) => {
        if ((this.#ofUser.get(username) ?? 0) + facts > MAX_FACTS_OF_USER) throw tooMany();
        if (this.#total + facts > MAX_FACTS)
          throw archiveError('archive_busy', 'the exports of all have too many recordings; try again');
        count(facts);
      },
      release: () => count(-mine),
    };
  }
}
