import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type Database from 'better-sqlite3';
import { storeError } from './store-error.js';
import { inTransaction } from './transaction.js';

/** All roles there are; what each may do is written in auth/permissions.ts alone. */
export const ROLES = ['viewer', 'operator', 'admin', 'service'] as const;
export type Role = (typeof ROLES)[number];

/** What may be shown of a user. */
export type User = {
  readonly username: string;
  readonly role: Role;
  /** Sees what is in these alone; absent: everything. */
  readonly folders?: readonly string[];
};

/** A user as a backup holds it. */
export type UserRecord = User & { readonly password_hash: string };

/** A user as it is stored. Tokens carry the epoch they were made in; one of an earlier epoch is revoked. */
export type StoredUser = UserRecord & { readonly token_epoch: string };

/** What an update may change: the fields that are present. Of folders null takes the limit away. */
export type UserChanges = Partial<Omit<UserRecord, 'username' | 'folders'>> & {
  readonly folders?: readonly string[] | null;
};

type UserRow = Omit<StoredUser, 'folders'> & { readonly folders: string };

const userOf = ({ folders: text, ...user }: UserRow): StoredUser => {
  const folders = JSON.parse(text) as readonly string[] | null;
  return folders === null ? user : { ...user, folders };
};

const rowOf = (user: StoredUser): UserRow => ({ ...user, folders: JSON.stringify(user.folders ?? null) });

// Random, not a counter: a user that is deleted and made again must not come back to an epoch of the past.
const newEpoch = (): string => randomBytes(9).toString('base64url');

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], UserRow>('SELECT * FROM users ORDER BY username'),
  one: db.prepare<[string], UserRow>('SELECT * FROM users WHERE username = ?'),
  admins: db.prepare<[], number>("SELECT count(*) FROM users WHERE role = 'admin'").pluck(),
  add: db.prepare<[UserRow]>(
    `INSERT INTO users (username, password_hash, role, token_epoch, folders)
     VALUES (@username, @password_hash, @role, @token_epoch, @folders)`,
  ),
  change: db.prepare<[UserRow]>(
    `UPDATE users SET password_hash = @password_hash, role = @role, token_epoch = @token_epoch, folders = @folders
     WHERE username = @username`,
  ),
  renewHash: db.prepare<[{ username: string; before: string; after: string }]>(
    'UPDATE users SET password_hash = @after WHERE username = @username AND password_hash = @before',
  ),
  endSessions: db.prepare<[{ username: string; kept: string | null }]>(
    'DELETE FROM sessions WHERE username = @username AND id IS NOT @kept',
  ),
  remove: db.prepare<[string]>('DELETE FROM users WHERE username = ?'),
  /** What goes with a user, and what is nobody's from now on. */
  forgetGone: [
    'DELETE FROM preferences WHERE username NOT IN (SELECT username FROM users)',
    'DELETE FROM layouts WHERE shared = 0 AND owner NOT IN (SELECT username FROM users)',
    "UPDATE layouts SET owner = '' WHERE owner NOT IN (SELECT username FROM users)",
  ].map((sql) => db.prepare<[]>(sql)),
  removeAll: db.prepare<[]>('DELETE FROM users'),
});

/** The accounts, with at least one admin once there was one. */
export class UserTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** All of them, sorted by name, with their hashes: for a backup, never for an answer. */
  records(): UserRecord[] {
    return this.#all().map(({ token_epoch: _, ...record }) => record);
  }

  /** All of them, sorted by name. */
  list(): User[] {
    return this.records().map(({ password_hash: _, ...user }) => user);
  }

  find(username: string): StoredUser | null {
    const row = this.#sql.one.get(username);
    return row === undefined ? null : userOf(row);
  }

  hasAdmin(): boolean {
    return this.#adminCount() > 0;
  }

  /** Throws `exists`. */
  create(user: UserRecord): StoredUser {
    return inTransaction(this.#db, () => {
      if (this.find(user.username) !== null)
        throw storeError('exists', `there is a user ${user.username} already`);
      const stored = { ...user, token_epoch: newEpoch() };
      this.#sql.add.run(rowOf(stored));
      return stored;
    });
  }

  /**
   * A new epoch begins if the role, the password hash or the folders are others; then the user's sessions end, but the one that
   * is kept. Throws `not_found` or `last_admin`.
   */
  update(username: string, changes: UserChanges, keptSessionId: string | null = null): StoredUser {
    return inTransaction(this.#db, () => {
      const before = this.#get(username);
      const { folders: _, ...others } = { ...before, ...changes, username };
      const folders = changes.folders === undefined ? (before.folders ?? null) : changes.folders;
      const wanted: StoredUser = folders === null ? others : { ...others, folders };
      if (wanted.role !== 'admin') this.#keepAnAdmin(before, 'demoted');
      const changed = { ...wanted, token_epoch: epochAfter(before, wanted) };
      this.#sql.change.run(rowOf(changed));
      if (changed.token_epoch !== before.token_epoch)
        this.#sql.endSessions.run({ username, kept: keptSessionId });
      return changed;
    });
  }

  /** Another hash of the same password: the epoch stays, and so do the tokens. */
  renewHash(username: string, before: string, after: string): void {
    inTransaction(this.#db, () => void this.#sql.renewHash.run({ username, before, after }));
  }

  /** Throws `not_found` or `last_admin`. */
  remove(username: string): void {
    inTransaction(this.#db, () => {
      this.#keepAnAdmin(this.#get(username), 'deleted');
      this.#sql.remove.run(username);
      for (const forget of this.#sql.forgetGone) forget.run();
    });
  }

  /** Makes `users` the whole set, as part of an import; who stays the same keeps the epoch, and so the tokens. */
  replaceAll(users: readonly UserRecord[]): void {
    inTransaction(this.#db, () => {
      const before = new Map(this.#all().map((user) => [user.username, user]));
      this.#sql.removeAll.run();
      for (const user of users) {
        const old = before.get(user.username);
        const token_epoch = old === undefined ? newEpoch() : epochAfter(old, user);
        this.#sql.add.run(rowOf({ ...user, token_epoch }));
      }
      for (const forget of this.#sql.forgetGone) forget.run();
    });
  }

  #all(): StoredUser[] {
    return this.#sql.all.all().map(userOf);
  }

  #get(username: string): StoredUser {
    const user = this.find(username);
    if (user === null) throw storeError('not_found', `there is no user ${username}`);
    return user;
  }

  #adminCount(): number {
    return this.#sql.admins.get() ?? 0;
  }

  #keepAnAdmin(user: StoredUser, fate: string): void {
    if (user.role === 'admin' && this.#adminCount() === 1)
      throw storeError('last_admin', `${user.username} is the last admin and can't be ${fate}`);
  }
}

/** The epoch of a user that becomes `after`. */
const epochAfter = (before: StoredUser, after: UserRecord): string =>
  before.role === after.role &&
  before.password_hash === after.password_hash &&
  isDeepStrictEqual(before.folders, after.folders)
    ? before.token_epoch
    : newEpoch();
