import type Database from 'better-sqlite3';
import { storeError } from './store-error.js';
import { inTransaction } from './transaction.js';

/** A label for cameras. */
export type Tag = {
  readonly id: string;
  readonly name: string;
  /** `#RRGGBB` */
  readonly color: string;
};

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], Tag>('SELECT id, name, color FROM tags ORDER BY id'),
  one: db.prepare<[string], Tag>('SELECT id, name, color FROM tags WHERE id = ?'),
  add: db.prepare<[Tag]>('INSERT INTO tags (id, name, color) VALUES (@id, @name, @color)'),
  change: db.prepare<[Tag]>('UPDATE tags SET name = @name, color = @color WHERE id = @id'),
  remove: db.prepare<[string]>('DELETE FROM tags WHERE id = ?'),
  removeAll: db.prepare<[]>('DELETE FROM tags'),
  takeOffCameras: db.prepare<[string]>('DELETE FROM camera_tags WHERE tag_id = ?'),
});

/** The tags that cameras may carry. */
export class TagTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** All of them, sorted by id. */
  list(): Tag[] {
    return this.#sql.all.all();
  }

  /** Throws `exists`. */
  create(tag: Tag): Tag {
    return inTransaction(this.#db, () => {
      if (this.#sql.one.get(tag.id) !== undefined)
        throw storeError('exists', `there is a tag ${tag.id} already`);
      this.#sql.add.run(tag);
      return tag;
    });
  }

  /** Throws `not_found`. */
  update(id: string, changes: Partial<Omit<Tag, 'id'>>): Tag {
    return inTransaction(this.#db, () => {
      const tag = this.#sql.one.get(id);
      if (tag === undefined) throw storeError('not_found', `there is no tag ${id}`);
      const changed = { ...tag, ...changes };
      this.#sql.change.run(changed);
      return changed;
    });
  }

  /** Takes the tag off all cameras too; throws `not_found`. */
  remove(id: string): void {
    inTransaction(this.#db, () => {
      if (this.#sql.remove.run(id).changes === 0) throw storeError('not_found', `there is no tag ${id}`);
      this.#sql.takeOffCameras.run(id);
    });
  }

  /** Makes `tags` the whole set, as part of an import. */
  replaceAll(tags: readonly Tag[]): void {
    inTransaction(this.#db, () => {
      this.#sql.removeAll.run();
      for (const tag of tags) this.#sql.add.run(tag);
    });
  }
}
