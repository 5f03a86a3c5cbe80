import { accessSync, closeSync, constants, openSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import type { Change } from '../base/change.js';
import { messageOf } from '../base/errors.js';
import { type ApiKeyRecord, ApiKeyTable } from './api-keys.js';
import { AuditTable } from './audit.js';
import { type Camera, CameraTable } from './cameras.js';
import { FactTable } from './facts.js';
import { type Folder, FolderTable } from './folders.js';
import { HoldingTable } from './holdings.js';
import { type Layout, LayoutTable } from './layouts.js';
import { LoginTable } from './logins.js';
import { openDatabase } from './open-database.js';
import { OwnChanges } from './own-changes.js';
import { PreferenceTable } from './preferences.js';
import { SessionTable } from './sessions.js';
import { type Settings, SettingTable } from './settings.js';
import { storeError } from './store-error.js';
import { type Tag, TagTable } from './tags.js';
import { TrafficTable } from './traffic.js';
import { inTransaction } from './transaction.js';
import { type UserRecord, UserTable } from './users.js';
import { type Webhook, WebhookTable } from './webhooks.js';

/** Everything that was configured: what a backup holds. */
export type Configuration = {
  readonly cameras: readonly Camera[];
  readonly tags: readonly Tag[];
  readonly folders: readonly Folder[];
  readonly users: readonly UserRecord[];
  readonly layouts: readonly Layout[];
  readonly settings: Settings;
  readonly webhooks: readonly Webhook[];
  readonly keys: readonly ApiKeyRecord[];
};

/** What not all backups of former days know of: then those that are there stay. */
type LaterPart = 'layouts' | 'settings' | 'webhooks' | 'keys';

/** What an import brings. */
export type ImportedConfiguration = Omit<Configuration, LaterPart> & Partial<Pick<Configuration, LaterPart>>;

/** Whose rights to watch an import took away; the caller ends what they have open. */
export type ImportEffects = {
  readonly removedCameraIds: readonly string[];
  /** Cameras whose `token_auth` was switched on. */
  readonly lockedCameraIds: readonly string[];
  /** Users who are gone or have another role, password or folders. */
  readonly revokedUsernames: readonly string[];
};

/** A commit needs a few pages of WAL; below this the disk counts as full. */
const MIN_FREE_BYTES = 1_000_000;

/** In words that anybody may read, as a probe is: what the system says names the path. */
const shownFault = (thrown: unknown): string => {
  const { code, syscall } = thrown as NodeJS.ErrnoException;
  if (syscall === undefined) return messageOf(thrown);
  return code === 'ENOENT' ? 'the database file is missing' : `the database file can't be used (${code})`;
};

/**
 * Everything that was configured, in one SQLite file. All calls are synchronous; a write has reached the disk when
 * it returns. A write that the disk refuses throws `database_unavailable` and changes nothing.
 */
export class Store {
  readonly cameras: CameraTable;
  readonly tags: TagTable;
  readonly folders: FolderTable;
  readonly users: UserTable;
  readonly traffic: TrafficTable;
  readonly facts: FactTable;
  /** Which cameras this box of a cluster had. */
  readonly holdings: HoldingTable;
  readonly logins: LoginTable;
  readonly sessions: SessionTable;
  readonly preferences: PreferenceTable;
  readonly layouts: LayoutTable;
  readonly settings: SettingTable;
  readonly webhooks: WebhookTable;
  readonly audit: AuditTable;
  readonly keys: ApiKeyTable;
  readonly #path: string;
  readonly #db: Database.Database;
  readonly #own: OwnChanges;
  readonly #totalChanges: Database.Statement<[], number>;
  /** Of the file that is open: one that was moved away or deleted takes writes, but loses them. */
  readonly #inode: number;

  /** Opens or makes the database; throws an AppError `database_*` whose message tells a person what to do. */
  constructor(path: string) {
    this.#path = path;
    this.#db = openDatabase(path);
    this.#inode = statSync(path).ino;
    this.#totalChanges = this.#db.prepare<[], number>('SELECT total_changes()').pluck();
    this.cameras = new CameraTable(this.#db);
    this.tags = new TagTable(this.#db);
    this.folders = new FolderTable(this.#db);
    this.users = new UserTable(this.#db);
    this.traffic = new TrafficTable(this.#db);
    this.#own = new OwnChanges(this.#db);
    this.facts = new FactTable(this.#db, this.#own);
    this.holdings = new HoldingTable(this.#db, this.#own);
    this.logins = new LoginTable(this.#db);
    this.sessions = new SessionTable(this.#db);
    this.preferences = new PreferenceTable(this.#db);
    this.layouts = new LayoutTable(this.#db);
    this.settings = new SettingTable(this.#db);
    this.webhooks = new WebhookTable(this.#db);
    this.audit = new AuditTable(this.#db, this.#own);
    this.keys = new ApiKeyTable(this.#db, this.#own);
  }

  /** Another number after each write, but of what the service remembers for itself. */
  get revision(): number {
    return this.#totalChanges.get()! - this.#own.count;
  }

  /**
   * Changes what was configured: all that `work` does with these tables at once, or nothing of it. `work` is on the store
   * alone, and may be done again if it turns out that others changed something meanwhile.
   */
  readonly change: Change = (work) => this.#change(work);
  #change: Change = async (work) => inTransaction(this.#db, () => this.#changeAlone(work));

  /** From now on what was configured is changed by what `join` makes of these tables: their records are those of a cluster. */
  share<Sharer extends { readonly change: Change }>(join: (db: Database.Database) => Sharer): Sharer {
    const sharer = join(this.#db);
    this.#change = sharer.change;
    return sharer;
  }

  /** A copy of the whole file, for a person; throws where there is one already. */
  copyTo(path: string): void {
    // It holds secrets: SQLite would make it with the rights of any file, but takes an empty one.
    closeSync(openSync(path, 'wx', 0o600));
    try {
      this.#db.prepare('VACUUM INTO ?').run(path);
    } catch (thrown) {
      rmSync(path, { force: true });
      throw thrown;
    }
  }

  /** All that was configured, as of one moment. */
  exportAll(): Configuration {
    return this.#db.transaction(() => ({
      cameras: this.cameras.list(),
      tags: this.tags.list(),
      folders: this.folders.list(),
      users: this.users.records(),
      layouts: this.layouts.records(),
      settings: this.settings.all(),
      webhooks: this.webhooks.list(),
      keys: this.keys.records(),
    }))();
  }

  /**
   * Replaces everything by records that hang together. Throws `bad_snapshot`, with all faults in `details.errors`, where
   * a camera can't come back yet; whatever it throws, nothing has changed.
   */
  importAll(wanted: ImportedConfiguration): ImportEffects {
    this.#refusePurged(wanted);
    return inTransaction(this.#db, () => {
      const cameras = this.cameras.list();
      const users = this.users.list().map(({ username }) => this.users.find(username));
      this.cameras.replaceAll(wanted.cameras);
      this.tags.replaceAll(wanted.tags);
      this.folders.replaceAll(wanted.folders);
      this.users.replaceAll(wanted.users);
      if (wanted.layouts !== undefined) this.layouts.replaceAll(wanted.layouts);
      if (wanted.settings !== undefined) this.settings.update(wanted.settings);
      if (wanted.webhooks !== undefined) this.webhooks.replaceAll(wanted.webhooks);
      if (wanted.keys !== undefined) this.keys.replaceAll(wanted.keys);
      const nowOf = new Map(this.cameras.list().map((camera) => [camera.id, camera]));
      return {
        removedCameraIds: cameras.filter(({ id }) => !nowOf.has(id)).map(({ id }) => id),
        lockedCameraIds: cameras
          .filter(({ id, token_auth }) => !token_auth && nowOf.get(id)?.token_auth === true)
          .map(({ id }) => id),
        revokedUsernames: users.flatMap((user) =>
          user === null || this.users.find(user.username)?.token_epoch === user.token_epoch
            ? []
            : [user.username],
        ),
      };
    });
  }

  /** Recordings that somebody ordered to be deleted don't come back with their camera. */
  #refusePurged({ cameras }: ImportedConfiguration): void {
    const errors = cameras.flatMap(({ id }, index) =>
      this.cameras.deleted.find(id)?.isPurged === true
        ? [{ path: `cameras[${index}].id`, message: 'its recordings are being deleted; try again soon' }]
        : [],
    );
    if (errors.length > 0)
      throw storeError('bad_snapshot', "the snapshot can't be imported", { details: { errors } });
  }

  /** Why a write would fail now, or null. Takes the write lock for a moment, but writes nothing. */
  writeFault(): string | null {
    try {
      if (statSync(this.#path).ino !== this.#inode)
        return 'the database file was replaced while it is in use';
      // A disk that was remounted read-only still grants locks.
      accessSync(this.#path, constants.W_OK);
      const { bavail, bsize } = statfsSync(dirname(this.#path));
      if (bavail * bsize < MIN_FREE_BYTES) return 'the disk of the database is full';
      this.#takeWriteLock();
      return null;
    } catch (thrown) {
      return shownFault(thrown);
    }
  }

  /** Whether a write would succeed now: cheap enough for each probe. */
  isWritable(): boolean {
    return this.writeFault() === null;
  }

  /** Folds the WAL into the file and closes it; a second call does nothing. */
  close(): void {
    if (!this.#db.open) return;
    try {
      this.#db.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      this.#db.close();
    }
  }

  /** What was set is no copy of what a cluster has any more: who joins it again doesn't lose that without a word. */
  #changeAlone<Result>(work: () => Result): Result {
    const before = this.revision;
    const result = work();
    if (this.revision !== before) this.facts.forget('cluster_copy');
    return result;
  }

  #takeWriteLock(): void {
    // A probe must not wait for another program's lock: the whole service would wait with it.
    this.#db.pragma('busy_timeout = 0');
    try {
      this.#db.transaction(() => undefined).immediate();
    } finally {
      this.#db.pragma('busy_timeout = 2000');
    }
  }
}
