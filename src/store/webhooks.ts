import type Database from 'better-sqlite3';
import { storeError } from './store-error.js';
import { inTransaction } from './transaction.js';

/** Somebody else's program that is told of what happens. */
export type Webhook = {
  readonly id: string;
  readonly name: string;
  /** May hold a password: it leaves only masked, but for a backup. */
  readonly url: string;
  /** What messages are signed with; it leaves once, when it is made, and in a backup. */
  readonly secret: string;
  readonly enabled: boolean;
  /** Of events; empty: all of them. */
  readonly types: readonly string[];
  readonly camera_ids: readonly string[];
  readonly labels: readonly string[];
};

/** Each of them gets its own copy of each message. */
export const MAX_WEBHOOKS = 32;

type Row = Omit<Webhook, 'enabled' | 'types' | 'camera_ids' | 'labels'> & {
  readonly enabled: number;
  readonly types: string;
  readonly camera_ids: string;
  readonly labels: string;
};

const rowOf = (webhook: Webhook): Row => ({
  ...webhook,
  enabled: webhook.enabled ? 1 : 0,
  types: JSON.stringify(webhook.types),
  camera_ids: JSON.stringify(webhook.camera_ids),
  labels: JSON.stringify(webhook.labels),
});

const webhookOf = (row: Row): Webhook => ({
  ...row,
  enabled: row.enabled === 1,
  types: JSON.parse(row.types) as string[],
  camera_ids: JSON.parse(row.camera_ids) as string[],
  labels: JSON.parse(row.labels) as string[],
});

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], Row>('SELECT * FROM webhooks ORDER BY id'),
  one: db.prepare<[string], Row>('SELECT * FROM webhooks WHERE id = ?'),
  count: db.prepare<[], number>('SELECT count(*) FROM webhooks').pluck(),
  put: db.prepare<[Row]>(
    `INSERT OR REPLACE INTO webhooks (id, name, url, secret, enabled, types, camera_ids, labels)
     VALUES (@id, @name, @url, @secret, @enabled, @types, @camera_ids, @labels)`,
  ),
  remove: db.prepare<[string]>('DELETE FROM webhooks WHERE id = ?'),
  removeAll: db.prepare<[]>('DELETE FROM webhooks'),
});

/** The webhooks, with their secrets. */
export class WebhookTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** All of them, sorted by id. */
  list(): Webhook[] {
    return this.#sql.all.all().map(webhookOf);
  }

  find(id: string): Webhook | null {
    const row = this.#sql.one.get(id);
    return row === undefined ? null : webhookOf(row);
  }

  /** Throws `too_many_webhooks`. */
  create(webhook: Webhook): void {
    inTransaction(this.#db, () => {
      if (this.#sql.count.get()! >= MAX_WEBHOOKS)
        throw storeError(
          'too_many_webhooks',
          `there are no more than ${MAX_WEBHOOKS} webhooks: delete one first`,
        );
      this.#sql.put.run(rowOf(webhook));
    });
  }

  /** Another state of one that is there. */
  replace(webhook: Webhook): void {
    inTransaction(this.#db, () => void this.#sql.put.run(rowOf(webhook)));
  }

  /** Whether there was one. */
  remove(id: string): boolean {
    return inTransaction(this.#db, () => this.#sql.remove.run(id).changes > 0);
  }

  /** Makes `webhooks` the whole set, as part of an import. */
  replaceAll(webhooks: readonly Webhook[]): void {
    inTransaction(this.#db, () => {
      this.#sql.removeAll.run();
      for (const webhook of webhooks) this.#sql.put.run(rowOf(webhook));
    });
  }
}
