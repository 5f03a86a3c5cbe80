import type Database from 'better-sqlite3';
import { messageOf } from '../../base/errors.js';
import { isEnvironmental } from '../store-error.js';
import { inTransaction } from '../transaction.js';
import { type RecordFields, RecordRows } from './record-rows.js';
import { sharedKey, sharedTables, watchSharedTables } from './shared-tables.js';

/** One record as all boxes have it; null: there is none. */
export type SharedRecord = { readonly key: string; readonly text: string | null };

/** What a change would do, had it been made. */
export type Rehearsal<T> = {
  readonly result: T;
  readonly records: readonly SharedRecord[];
  /** Sessions of users who are changed that outlast it. */
  readonly keptSessionIds: readonly string[];
};

/** What became of records that were taken over, for whoever holds something of them in memory. */
export type SharedEffects = {
  readonly kinds: ReadonlySet<string>;
  /** Cameras that are another than before, new, or gone. */
  readonly cameraIds: readonly string[];
  readonly removedCameraIds: readonly string[];
  /** Cameras whose `token_auth` was switched on. */
  readonly lockedCameraIds: readonly string[];
  /** Users who are gone or have another role, password or folders. */
  readonly revokedUsernames: readonly string[];
  /** What this version's tables don't take. */
  readonly refused: readonly { readonly key: string; readonly reason: string }[];
};

export type ApplyOptions = {
  /** Sessions of users who are changed that outlast it. */
  readonly keptSessionIds?: readonly string[];
  readonly alongside?: () => void;
};

/** A record that wasn't taken, maybe since another has its name yet. */
type NamedRefusal = {
  readonly rows: RecordRows;
  readonly id: string;
  readonly key: string;
  readonly text: string | null;
  readonly before: RecordFields | null;
};

/** Undoes a transaction that went well. */
class Undone extends Error {}

/** Null: it is no object. */
const fieldsIn = (text: string): RecordFields | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value !== 'object' || Array.isArray(value) ? null : (value as RecordFields | null);
  } catch {
    return null;
  }
};

/**
 * What was configured as records that all boxes of a cluster have alike. A change is rehearsed first: then it is known
 * what it would write, and nothing is written. Once the cluster has that, it is applied, here as everywhere.
 */
export class SharedRecords {
  readonly #db: Database.Database;
  readonly #rows = new Map<string, RecordRows>();
  /** As the cluster has them, with fields that this version doesn't know. */
  readonly #known = new Map<string, string>();
  readonly #touched: Database.Statement<[], { kind: string; id: string }>;
  readonly #forgetTouched: Database.Statement<[]>;
  readonly #sessionsOf: Database.Statement<[string], string>;
  readonly #endSessions: Database.Statement<[{ username: string; kept: string }]>;
  readonly #mendFolders: Database.Statement<[]>;

  constructor(db: Database.Database) {
    this.#db = db;
    watchSharedTables(db);
    for (const table of sharedTables) this.#rows.set(table.kind, new RecordRows(db, table));
    this.#touched = db.prepare('SELECT kind, id FROM touched');
    this.#forgetTouched = db.prepare('DELETE FROM touched');
    this.#sessionsOf = db.prepare<[string], string>('SELECT id FROM sessions WHERE username = ?').pluck();
    this.#endSessions = db.prepare(
      'DELETE FROM sessions WHERE username = @username AND id NOT IN (SELECT value FROM json_each(@kept))',
    );
    this.#mendFolders = db.prepare(
      'UPDATE folders SET parent_id = NULL WHERE parent_id NOT IN (SELECT id FROM folders)',
    );
  }

  /** All records of this box. */
  all(): Map<string, string> {
    const all = new Map<string, string>();
    for (const rows of this.#rows.values())
      for (const [key, fields] of rows.all()) all.set(key, this.#merged(key, fields));
    return all;
  }

  /** One of them, also of a kind that this version doesn't know; null: there is none. */
  text(key: string): string | null {
    const [kind, id] = this.#partsOf(key);
    const rows = this.#rows.get(kind);
    if (rows === undefined) return this.#known.get(key) ?? null;
    const fields = rows.find(id);
    return fields === null ? null : this.#merged(key, fields);
  }

  /** What would have to be written where these are, so that all is there that is here. */
  missingIn(theirs: ReadonlyMap<string, string>): SharedRecord[] {
    this.#learn(theirs);
    const own = this.all();
    const isOurs = (key: string): boolean => {
      const [kind] = this.#partsOf(key);
      // What was ordered of one that is gone is forgotten here when it is done, and there it is not.
      return own.has(key) || !this.#rows.has(kind) || kind === 'gone';
    };
    return [
      ...[...theirs.keys()].filter((key) => !isOurs(key)).map((key) => ({ key, text: null })),
      ...[...own].filter(([key, text]) => theirs.get(key) !== text).map(([key, text]) => ({ key, text })),
    ];
  }

  /** Does `work` and undoes it, unless it changes no record. Throws what that throws. */
  rehearse<T>(work: () => T): Rehearsal<T> {
    let rehearsal: Rehearsal<T> | null = null;
    try {
      inTransaction(this.#db, () => {
        this.#forgetTouched.run();
        const result = work();
        const records = this.#changedRecords();
        const users = records.flatMap(({ key }) => (key.startsWith('user/') ? [key.slice(5)] : []));
        rehearsal = { result, records, keptSessionIds: users.flatMap((name) => this.#sessionsOf.all(name)) };
        if (records.length > 0) throw new Undone();
      });
    } catch (thrown) {
      if (!(thrown instanceof Undone)) throw thrown;
    }
    return rehearsal!;
  }

  /**
   * Writes what the cluster has, the last of each key: all of it that the tables take. What `alongside` writes is part of
   * the same transaction.
   */
  apply(
    records: readonly SharedRecord[],
    { keptSessionIds = [], alongside = () => {} }: ApplyOptions = {},
  ): SharedEffects {
    const effects = {
      kinds: new Set<string>(),
      cameraIds: [] as string[],
      removedCameraIds: [] as string[],
      lockedCameraIds: [] as string[],
      revokedUsernames: [] as string[],
      refused: [] as { key: string; reason: string }[],
    };
    const kept = JSON.stringify(keptSessionIds);
    const newest = new Map(records.map(({ key, text }) => [key, text]));
    // What is gone first: what comes may have its name.
    const sorted = [...newest].toSorted(([, a], [, b]) => Number(b === null) - Number(a === null));
    inTransaction(this.#db, () => {
      const named: NamedRefusal[] = [];
      for (const [key, text] of sorted) {
        const [kind, id] = this.#partsOf(key);
        const rows = this.#rows.get(kind);
        // Of a newer version.
        if (rows === undefined) continue;
        effects.kinds.add(kind);
        const before = rows.find(id);
        const reason = this.#refusal(rows, kind, id, text);
        if (reason !== null && rows.table.isNamed === true) named.push({ rows, id, key, text, before });
        else if (reason !== null) effects.refused.push({ key, reason });
        if (reason !== null) continue;
        if (kind === 'cam') effects.cameraIds.push(id);
        // Of what is new nothing was taken from anybody.
        if (before === null) continue;
        const after = rows.find(id);
        if (kind === 'cam' && after === null) effects.removedCameraIds.push(id);
        if (kind === 'cam' && before['token_auth'] === 0 && after?.['token_auth'] === 1)
          effects.lockedCameraIds.push(id);
        if (kind === 'user' && before['token_epoch'] !== after?.['token_epoch']) {
          this.#endSessions.run({ username: id, kept });
          effects.revokedUsernames.push(id);
        }
      }
      effects.refused.push(...this.#exchangeNames(named));
      this.#mendFolders.run();
      alongside();
    });
    for (const [key, text] of newest) {
      if (text === null) this.#known.delete(key);
      else this.#known.set(key, text);
    }
    return effects;
  }

  /** Makes these all that there is. */
  replaceBy(wanted: ReadonlyMap<string, string>, alongside?: () => void): SharedEffects {
    this.#learn(wanted);
    // With what this version doesn't know of them, so that only what differs is written.
    const own = this.all();
    const gone = [...own.keys()].filter((key) => !wanted.has(key));
    const changed = [...wanted].filter(([key, text]) => own.get(key) !== text);
    const records = [
      ...gone.map((key) => ({ key, text: null })),
      ...changed.map(([key, text]) => ({ key, text })),
    ];
    return this.apply(records, alongside && { alongside });
  }

  #learn(known: ReadonlyMap<string, string>): void {
    this.#known.clear();
    for (const [key, text] of known) this.#known.set(key, text);
  }

  /** Writes those whose names others of them have: none has one while the first is written. */
  #exchangeNames(named: readonly NamedRefusal[]): { key: string; reason: string }[] {
    for (const { rows, id } of named) rows.remove(id);
    return named.flatMap(({ rows, id, key, text, before }) => {
      const [kind] = this.#partsOf(key);
      const reason = this.#refusal(rows, kind, id, text);
      if (reason === null) return [];
      if (before !== null) this.#refusal(rows, kind, id, JSON.stringify(before));
      return [{ key, reason }];
    });
  }

  /** Writes one, and answers why the tables don't take it; null: they do. */
  #refusal(rows: RecordRows, kind: string, id: string, text: string | null): string | null {
    try {
      this.#db.transaction(() => this.#write(rows, kind, id, text))();
      return null;
    } catch (thrown) {
      if (isEnvironmental(thrown)) throw thrown;
      return messageOf(thrown);
    }
  }

  #write(rows: RecordRows, kind: string, id: string, text: string | null): void {
    const fields = text === null ? null : fieldsIn(text);
    if (text === null) rows.remove(id);
    else if (fields === null) throw new Error('it is no record');
    // Whatever was ordered of one that is gone: a camera that is there keeps its recordings.
    else if (kind !== 'gone' || this.#rows.get('cam')?.find(id) === null) rows.put(id, fields);
    if (kind === 'cam' && fields !== null) this.#rows.get('gone')?.remove(id);
  }

  #changedRecords(): SharedRecord[] {
    const changed = this.#touched.all().flatMap(({ kind, id }): SharedRecord[] => {
      const key = sharedKey(kind, id);
      const fields = this.#rows.get(kind)?.find(id) ?? null;
      const text = fields === null ? null : this.#merged(key, fields);
      const isChanged = text !== (this.#known.get(key) ?? null);
      return [...(isChanged ? [{ key, text }] : []), ...(kind === 'cam' ? this.#goneNoMore(id) : [])];
    });
    return [...new Map(changed.map((record) => [record.key, record])).values()];
  }

  /** This box may have forgotten already that the camera was deleted once: then no statement says that it is back. */
  #goneNoMore(id: string): SharedRecord[] {
    const key = sharedKey('gone', id);
    const isBack = this.#known.has(key) && this.#rows.get('cam')?.find(id) !== null;
    return isBack ? [{ key, text: null }] : [];
  }

  /** With fields of a newer version: whoever changes one of the others keeps them. */
  #merged(key: string, fields: RecordFields): string {
    return JSON.stringify({ ...fieldsIn(this.#known.get(key) ?? '{}'), ...fields });
  }

  #partsOf(key: string): readonly [kind: string, id: string] {
    const at = key.indexOf('/');
    return [key.slice(0, at), key.slice(at + 1)];
  }
}
