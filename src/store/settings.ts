import type Database from 'better-sqlite3';
import { inTransaction } from './transaction.js';

/** What an admin sets of the service while it runs. */
export type Settings = {
  /** The zone that times are shown in, by its IANA name; "": the machine's own. */
  readonly time_zone: string;
};

const DEFAULTS: Settings = { time_zone: '' };

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], { name: keyof Settings; value: string }>('SELECT name, value FROM settings'),
  put: db.prepare<[string, string]>(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  ),
});

/** The settings of the service, as part of a backup. */
export class SettingTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  all(): Settings {
    return {
      ...DEFAULTS,
      ...Object.fromEntries(this.#sql.all.all().map(({ name, value }) => [name, value])),
    };
  }

  /** Changes the fields that are there. */
  update(changes: Partial<Settings>): Settings {
    return inTransaction(this.#db, () => {
      for (const [name, value] of Object.entries(changes)) this.#sql.put.run(name, value);
      return this.all();
    });
  }
}
