import type Database from 'better-sqlite3';
import type { OwnChanges } from './own-changes.js';
import { storeError } from './store-error.js';
import { inTransaction } from './transaction.js';
import type { Role } from './users.js';

/** More are hardly anybody's programs, and all of them are kept in memory. */
const MAX_KEYS = 1_000;

/** What a backup holds of a key. Of the key itself nobody knows more than the hash. */
export type ApiKeyRecord = {
  readonly id: string;
  readonly name: string;
  readonly secret_hash: string;
  readonly role: Role;
  /** It sees what is in these folders, and these cameras, alone; both null: everything. */
  readonly folders: readonly string[] | null;
  readonly cameras: readonly string[] | null;
  readonly created_ms: number;
  /** Null: never. */
  readonly expires_ms: number | null;
};

/** A key as it is stored. */
export type StoredApiKey = ApiKeyRecord & {
  /** To within a minute; null: not yet. */
  readonly used_ms: number | null;
};

type Row = Omit<StoredApiKey, 'folders' | 'cameras'> & { readonly folders: string; readonly cameras: string };

const keyOf = (row: Row): StoredApiKey => ({
  ...row,
  folders: JSON.parse(row.folders) as StoredApiKey['folders'],
  cameras: JSON.parse(row.cameras) as StoredApiKey['cameras'],
});

const rowOf = (key: StoredApiKey): Row => ({
  ...key,
  folders: JSON.stringify(key.folders),
  cameras: JSON.stringify(key.cameras),
});

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], Row>('SELECT * FROM api_keys ORDER BY name'),
  named: db.prepare<[string], number>('SELECT count(*) FROM api_keys WHERE name = ?').pluck(),
  count: db.prepare<[], number>('SELECT count(*) FROM api_keys').pluck(),
  add: db.prepare<[Row]>(
    `INSERT INTO api_keys (id, name, secret_hash, role, folders, cameras, created_ms, expires_ms, used_ms)
     VALUES (@id, @name, @secret_hash, @role, @folders, @cameras, @created_ms, @expires_ms, @used_ms)`,
  ),
  touch: db.prepare<[number, string]>('UPDATE api_keys SET used_ms = ? WHERE id = ?'),
  remove: db.prepare<[string]>('DELETE FROM api_keys WHERE id = ?'),
  removeAll: db.prepare<[]>('DELETE FROM api_keys'),
});

/** The keys of programs. */
export class ApiKeyTable {
  readonly #db: Database.Database;
  readonly #own: OwnChanges;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database, own: OwnChanges) {
    this.#db = db;
    this.#own = own;
    this.#sql = prepare(db);
  }

  /** All of them, sorted by name. */
  list(): StoredApiKey[] {
    return this.#sql.all.all().map(keyOf);
  }

  /** The same for a backup. */
  records(): ApiKeyRecord[] {
    return this.list().map(({ used_ms: _, ...record }) => record);
  }

  /** Throws `exists` or `too_many_keys`. */
  create(key: ApiKeyRecord): void {
    inTransaction(this.#db, () => {
      if (this.#sql.named.get(key.name) !== 0)
        throw storeError('exists', `there is a key ${key.name} already`);
      if ((this.#sql.count.get() ?? 0) >= MAX_KEYS)
        throw storeError('too_many_keys', `there are no more than ${MAX_KEYS} keys: delete one first`);
      this.#sql.add.run(rowOf({ ...key, used_ms: null }));
    });
  }

  /** When keys were used last, by their ids. Nothing that was configured changes by it, and nobody waits for a lock. */
  touch(usedMs: ReadonlyMap<string, number>): void {
    this.#own.makeSoon(() =>
      inTransaction(this.#db, () => {
        for (const [id, wallMs] of usedMs) this.#sql.touch.run(wallMs, id);
      }),
    );
  }

  /** Throws `not_found`. */
  remove(id: string): void {
    inTransaction(this.#db, () => {
      if (this.#sql.remove.run(id).changes === 0) throw storeError('not_found', `there is no key ${id}`);
    });
  }

  /** Makes `keys` the whole set, as part of an import; those that stay keep when they were used last. */
  replaceAll(keys: readonly ApiKeyRecord[]): void {
    inTransaction(this.#db, () => {
      const usedMs = new Map(this.list().map(({ id, used_ms }) => [id, used_ms]));
      this.#sql.removeAll.run();
      for (const key of keys) this.#sql.add.run(rowOf({ ...key, used_ms: usedMs.get(key.id) ?? null }));
    });
  }
}
