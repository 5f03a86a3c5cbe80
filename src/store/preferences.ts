import type Database from 'better-sqlite3';
import { inTransaction } from './transaction.js';

const prepare = (db: Database.Database) => ({
  one: db.prepare<[string], string>('SELECT content FROM preferences WHERE username = ?').pluck(),
  put: db.prepare<[string, string]>(
    `INSERT INTO preferences (username, content) VALUES (?, ?)
     ON CONFLICT (username) DO UPDATE SET content = excluded.content`,
  ),
});

/** What pages keep for each user, as JSON text; it goes with the user. No part of a backup. */
export class PreferenceTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** An empty object where nothing was kept. */
  textOf(username: string): string {
    return this.#sql.one.get(username) ?? '{}';
  }

  put(username: string, text: string): void {
    inTransaction(this.#db, () => void this.#sql.put.run(username, text));
  }
}
