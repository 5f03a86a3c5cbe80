import type Database from 'better-sqlite3';
import type { OwnChanges } from './own-changes.js';

/** What the service has to remember of itself. */
export type FactName =
  | 'archive_time_ms'
  | 'archive_clock_eras'
  | 'archive_id'
  | 'archive_dir'
  | 'archive_decided'
  | 'protected_events'
  | 'first_admin_epoch'
  | 'onvif_uuid'
  | 'cluster_copy'
  | 'cluster_boxes'
  | 'mqtt_client_id';

const prepare = (db: Database.Database) => ({
  forget: db.prepare<[FactName]>('DELETE FROM facts WHERE name = ?'),
  one: db.prepare<[FactName], string>('SELECT value FROM facts WHERE name = ?').pluck(),
  put: db.prepare<[FactName, string]>(
    'INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  ),
});

/** Single values that outlive the service; no part of a backup. */
export class FactTable {
  readonly #sql: ReturnType<typeof prepare>;

  readonly #own: OwnChanges;

  constructor(db: Database.Database, own: OwnChanges) {
    this.#sql = prepare(db);
    this.#own = own;
  }

  /** Null where it was never set. */
  text(name: FactName): string | null {
    return this.#sql.one.get(name) ?? null;
  }

  setText(name: FactName, value: string): void {
    this.#own.make(() => this.#sql.put.run(name, value));
  }

  forget(name: FactName): void {
    this.#own.make(() => this.#sql.forget.run(name));
  }

  /** Milliseconds since 1970; null where it was never set. */
  timeMs(name: FactName): number | null {
    const value = this.text(name);
    return value === null ? null : Number(value);
  }

  setTimeMs(name: FactName, timeMs: number): void {
    this.setText(name, String(Math.round(timeMs)));
  }
}
