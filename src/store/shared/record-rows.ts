import type Database from 'better-sqlite3';
import { type SharedTable, sharedColumns, sharedKey } from './shared-tables.js';

/** A record as JSON has it: the columns of its row, and a camera's tags. */
export type RecordFields = Readonly<Record<string, unknown>>;

const TAGS = `(SELECT json_group_array(tag_id) FROM
  (SELECT tag_id FROM camera_tags WHERE camera_id = cameras.id ORDER BY position)) AS tags`;

type Row = Readonly<Record<string, string | number | null>>;

const isCell = (value: unknown): value is string | number | null =>
  value === null || typeof value === 'string' || typeof value === 'number';

/** The rows of one table as records, and back. */
export class RecordRows {
  readonly table: SharedTable;
  readonly #db: Database.Database;
  readonly #columns: ReadonlySet<string>;
  readonly #all: Database.Statement<[], Row>;
  readonly #one: Database.Statement<[string], Row>;
  readonly #remove: Database.Statement<[string]>;
  /** By the columns that a record has: boxes of other versions know of more or fewer. */
  readonly #puts = new Map<string, Database.Statement<[Row]>>();
  readonly #clearTags: Database.Statement<[string]> | null;
  readonly #addTag: Database.Statement<[string, string, number]> | null;

  constructor(db: Database.Database, table: SharedTable) {
    this.#db = db;
    this.table = table;
    const columns = sharedColumns(db, table);
    this.#columns = new Set(columns);
    const isCamera = table.kind === 'cam';
    const fields = [...columns, ...(isCamera ? [TAGS] : [])].join(', ');
    const only = table.only?.map((name) => `'${name}'`).join(', ');
    const where = only === undefined ? '' : `WHERE ${table.id} IN (${only})`;
    this.#all = db.prepare(`SELECT ${fields} FROM ${table.table} ${where}`);
    this.#one = db.prepare(`SELECT ${fields} FROM ${table.table} WHERE ${table.id} = ?`);
    this.#remove = db.prepare(`DELETE FROM ${table.table} WHERE ${table.id} = ?`);
    this.#clearTags = isCamera ? db.prepare('DELETE FROM camera_tags WHERE camera_id = ?') : null;
    this.#addTag = isCamera
      ? db.prepare('INSERT INTO camera_tags (camera_id, tag_id, position) VALUES (?, ?, ?)')
      : null;
  }

  *all(): Iterable<readonly [key: string, fields: RecordFields]> {
    for (const row of this.#all.all())
      yield [sharedKey(this.table.kind, String(row[this.table.id])), this.#fieldsOf(row)];
  }

  find(id: string): RecordFields | null {
    const row = this.#one.get(id);
    return row === undefined ? null : this.#fieldsOf(row);
  }

  remove(id: string): void {
    this.#remove.run(id);
  }

  /** Writes what is known here of a record; throws where the tables don't take it. */
  put(id: string, fields: RecordFields): void {
    const row: Record<string, string | number | null> = {};
    for (const [name, value] of Object.entries(fields))
      if (this.#columns.has(name) && isCell(value)) row[name] = value;
    row[this.table.id] = id;
    this.#putOf(Object.keys(row)).run(row);
    if (this.#clearTags === null) return;
    this.#clearTags.run(id);
    const tags = Array.isArray(fields['tags']) ? fields['tags'] : [];
    for (const [position, tag] of [...new Set(tags)].entries())
      if (typeof tag === 'string') this.#addTag?.run(id, tag, position);
  }

  #fieldsOf(row: Row): RecordFields {
    if (this.table.kind !== 'cam') return row;
    return { ...row, tags: JSON.parse(String(row['tags'])) as string[] };
  }

  #putOf(names: readonly string[]): Database.Statement<[Row]> {
    const known = this.#puts.get(names.join());
    if (known !== undefined) return known;
    const { table, id } = this.table;
    const changed = names.filter((name) => name !== id).map((name) => `${name} = @${name}`);
    // An upsert, not REPLACE: that would delete the row first, and what hangs on it.
    const statement = this.#db.prepare<[Row]>(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})
       ON CONFLICT (${id}) DO ${changed.length === 0 ? 'NOTHING' : `UPDATE SET ${changed.join(', ')}`}`,
    );
    this.#puts.set(names.join(), statement);
    return statement;
  }
}
