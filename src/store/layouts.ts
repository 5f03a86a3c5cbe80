import type Database from 'better-sqlite3';
import { storeError } from './store-error.js';
import { inTransaction } from './transaction.js';

/** A wall of cameras. */
export type Layout = {
  readonly id: string;
  /** "" where the user is gone: shared layouts outlive theirs. */
  readonly owner: string;
  readonly name: string;
  readonly shared: boolean;
  /** Rows and columns, or a large picture and small ones around it. */
  readonly grid: '1x1' | '2x2' | '3x3' | '4x4' | '5x5' | '6x6' | '1+5' | '1+7';
  /** Chosen by hand, or all cameras of a folder or tag. */
  readonly source: { readonly kind: 'hand' } | { readonly kind: 'folder' | 'tag'; readonly id: string };
  /** In the order of the wall, page by page; a camera may be gone, and "" is an empty tile. */
  readonly tiles: readonly { readonly camera_id: string }[];
  /** How long each page is shown; 0: until somebody turns it. */
  readonly tour_sec: number;
  readonly enlarge_on_event: boolean;
};

/** More would be a list that nobody finds anything in. */
const MAX_PER_OWNER = 100;

type LayoutRow = Omit<Layout, 'shared' | 'source' | 'tiles' | 'enlarge_on_event'> & {
  readonly shared: number;
  readonly source: string;
  readonly tiles: string;
  readonly enlarge_on_event: number;
};

const rowOf = (layout: Layout): LayoutRow => ({
  ...layout,
  shared: layout.shared ? 1 : 0,
  source: JSON.stringify(layout.source),
  tiles: JSON.stringify(layout.tiles),
  enlarge_on_event: layout.enlarge_on_event ? 1 : 0,
});

const layoutOf = (row: LayoutRow): Layout => ({
  ...row,
  shared: row.shared === 1,
  source: JSON.parse(row.source) as Layout['source'],
  tiles: JSON.parse(row.tiles) as Layout['tiles'],
  enlarge_on_event: row.enlarge_on_event === 1,
});

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], LayoutRow>('SELECT * FROM layouts ORDER BY id'),
  seen: db.prepare<[string], LayoutRow>('SELECT * FROM layouts WHERE owner = ? OR shared = 1 ORDER BY id'),
  one: db.prepare<[string], LayoutRow>('SELECT * FROM layouts WHERE id = ?'),
  count: db.prepare<[string], number>('SELECT count(*) FROM layouts WHERE owner = ?').pluck(),
  put: db.prepare<[LayoutRow]>(
    `INSERT OR REPLACE INTO layouts (id, owner, name, shared, grid, source, tiles, tour_sec, enlarge_on_event)
     VALUES (@id, @owner, @name, @shared, @grid, @source, @tiles, @tour_sec, @enlarge_on_event)`,
  ),
  remove: db.prepare<[string]>('DELETE FROM layouts WHERE id = ?'),
  removeAll: db.prepare<[]>('DELETE FROM layouts'),
});

/** The walls. Cameras, folders and tags that they name may be gone: they are shown again once those are back. */
export class LayoutTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
  }

  /** All of everybody, sorted by id: for a backup. */
  records(): Layout[] {
    return this.#sql.all.all().map(layoutOf);
  }

  /** A user's own ones, and those that are shared, sorted by id. */
  seenBy(username: string): Layout[] {
    return this.#sql.seen.all(username).map(layoutOf);
  }

  find(id: string): Layout | null {
    const row = this.#sql.one.get(id);
    return row === undefined ? null : layoutOf(row);
  }

  /** Throws `too_many_layouts`. */
  create(layout: Layout): void {
    inTransaction(this.#db, () => {
      if ((this.#sql.count.get(layout.owner) ?? 0) >= MAX_PER_OWNER)
        throw storeError(
          'too_many_layouts',
          `nobody has more than ${MAX_PER_OWNER} layouts: delete one first`,
        );
      this.#sql.put.run(rowOf(layout));
    });
  }

  /** Another state of one that is there. */
  replace(layout: Layout): void {
    inTransaction(this.#db, () => void this.#sql.put.run(rowOf(layout)));
  }

  remove(id: string): void {
    inTransaction(this.#db, () => void this.#sql.remove.run(id));
  }

  /** Makes `layouts` the whole set, as part of an import. */
  replaceAll(layouts: readonly Layout[]): void {
    inTransaction(this.#db, () => {
      this.#sql.removeAll.run();
      for (const layout of layouts) this.#sql.put.run(rowOf(layout));
    });
  }
}
