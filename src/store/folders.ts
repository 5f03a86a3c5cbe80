import type Database from 'better-sqlite3';
import { storeError } from './store-error.js';
import { inTransaction } from './transaction.js';

/** A place for cameras in a tree of folders. */
export type Folder = {
  readonly id: string;
  readonly name: string;
  /** "" for a root folder. */
  readonly parent_id: string;
};

const FIELDS = "id, name, coalesce(parent_id, '') AS parent_id";

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], Folder>(`SELECT ${FIELDS} FROM folders ORDER BY id`),
  one: db.prepare<[string], Folder>(`SELECT ${FIELDS} FROM folders WHERE id = ?`),
  add: db.prepare<[Folder]>(
    "INSERT INTO folders (id, name, parent_id) VALUES (@id, @name, nullif(@parent_id, ''))",
  ),
  change: db.prepare<[Folder]>(
    "UPDATE folders SET name = @name, parent_id = nullif(@parent_id, '') WHERE id = @id",
  ),
  remove: db.prepare<[string]>('DELETE FROM folders WHERE id = ?'),
  removeAll: db.prepare<[]>('DELETE FROM folders'),
  giveFolders: db.prepare<[Folder]>(
    "UPDATE folders SET parent_id = nullif(@parent_id, '') WHERE parent_id = @id",
  ),
  giveCameras: db.prepare<[Folder]>('UPDATE cameras SET folder_id = @parent_id WHERE folder_id = @id'),
});

/** The tree of folders. A parent must exist, and no folder is ever put below itself. */
export class FolderTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** All of them, sorted by id. */
  list(): Folder[] {
    return this.#sql.all.all();
  }

  /** "" of one at the root; null: there is no such folder. */
  parentOf(id: string): string | null {
    return this.#sql.one.get(id)?.parent_id ?? null;
  }

  /** Throws `exists`, `folder_cycle` (its own parent) or `unknown_parent`. */
  create(folder: Folder): Folder {
    return inTransaction(this.#db, () => {
      if (this.#sql.one.get(folder.id) !== undefined)
        throw storeError('exists', `there is a folder ${folder.id} already`);
      this.#checkParent(folder);
      this.#sql.add.run(folder);
      return folder;
    });
  }

  /** Throws `not_found`, `folder_cycle` (its own parent, however far up) or `unknown_parent`. */
  update(id: string, changes: Partial<Omit<Folder, 'id'>>): Folder {
    return inTransaction(this.#db, () => {
      const folder = this.#sql.one.get(id);
      if (folder === undefined) throw storeError('not_found', `there is no folder ${id}`);
      const changed = { ...folder, ...changes };
      this.#checkParent(changed);
      this.#sql.change.run(changed);
      return changed;
    });
  }

  /** Its cameras and sub-folders go to its parent; throws `not_found`. */
  remove(id: string): void {
    inTransaction(this.#db, () => {
      const folder = this.#sql.one.get(id);
      if (folder === undefined) throw storeError('not_found', `there is no folder ${id}`);
      this.#sql.giveFolders.run(folder);
      this.#sql.giveCameras.run(folder);
      this.#sql.remove.run(id);
    });
  }

  /** Makes `folders`, in any order, the whole set, as part of an import that has checked that they form a tree. */
  replaceAll(folders: readonly Folder[]): void {
    inTransaction(this.#db, () => {
      this.#sql.removeAll.run();
      for (const folder of folders) this.#sql.add.run(folder);
    });
  }

  #checkParent({ id, parent_id }: Folder): void {
    if (parent_id !== '' && parent_id !== id && this.#sql.one.get(parent_id) === undefined)
      throw storeError('unknown_parent', `there is no folder ${parent_id} to be the parent`);
    // A file that somebody else wrote to may have a circle already.
    const seen = new Set<string>();
    for (let above = parent_id; above !== '' && !seen.has(above); ) {
      if (above === id) throw storeError('folder_cycle', `the folder ${id} can't be its own parent`);
      seen.add(above);
      above = this.#sql.one.get(above)?.parent_id ?? '';
    }
  }
}
