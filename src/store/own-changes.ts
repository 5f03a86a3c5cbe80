import type Database from 'better-sqlite3';

const USUAL_BUSY_MS = 2_000;
/** Of what nobody waits for, and what is tried again. */
const SHORT_BUSY_MS = 20;

/** Writes that are no configuration: nobody is to look at that anew for them. */
export class OwnChanges {
  /** Rows, also of what was undone. */
  count = 0;
  readonly #db: Database.Database;
  readonly #total: Database.Statement<[], number>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#total = db.prepare<[], number>('SELECT total_changes()').pluck();
  }

  /** Makes changes that count as these. */
  make<Result>(work: () => Result): Result {
    const before = this.#total.get()!;
    try {
      return work();
    } finally {
      this.count += this.#total.get()! - before;
    }
  }

  /** The same, without waiting for another program that has the database locked. */
  makeSoon<Result>(work: () => Result): Result {
    this.#db.pragma(`busy_timeout = ${SHORT_BUSY_MS}`);
    try {
      return this.make(work);
    } finally {
      this.#db.pragma(`busy_timeout = ${USUAL_BUSY_MS}`);
    }
  }
}
