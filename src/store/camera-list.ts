import type Database from 'better-sqlite3';

/** Whatever changes them on this connection, records of a cluster and tags that go among it. */
const watch = `
  CREATE TEMP TRIGGER camera_made AFTER INSERT ON cameras BEGIN SELECT camera_changed(new.id); END;
  CREATE TEMP TRIGGER camera_changed AFTER UPDATE ON cameras BEGIN SELECT camera_changed(old.id), camera_changed(new.id); END;
  CREATE TEMP TRIGGER camera_removed AFTER DELETE ON cameras BEGIN SELECT camera_changed(old.id); END;
  CREATE TEMP TRIGGER tag_added AFTER INSERT ON camera_tags BEGIN SELECT camera_changed(new.camera_id); END;
  CREATE TEMP TRIGGER tag_moved AFTER UPDATE ON camera_tags BEGIN SELECT camera_changed(old.camera_id), camera_changed(new.camera_id); END;
  CREATE TEMP TRIGGER tag_removed AFTER DELETE ON camera_tags BEGIN SELECT camera_changed(old.camera_id); END;
`;
/** Beyond this share of them all are read at once. */
const MANY = 0.05;

/** Such ids JavaScript and SQLite sort alike. There should be no others. */
const isAscii = (id: string): boolean => Buffer.byteLength(id) === id.length;

type Read<Camera> = {
  readonly all: () => readonly Camera[];
  readonly one: (id: string) => Camera | null;
};

/** The cameras as they were read last: thousands are asked for several times a second. What didn't change is the same object. */
export class CameraList<Camera extends { readonly id: string }> {
  readonly #db: Database.Database;
  readonly #read: Read<Camera>;
  readonly #othersChanges: Database.Statement<[], number>;
  #cameras: readonly Camera[] | null = null;
  #asOf = 0;
  /** Those that have, or would have, had it not been undone. */
  readonly #changed = new Set<string>();

  constructor(db: Database.Database, read: Read<Camera>) {
    this.#db = db;
    this.#read = read;
    this.#othersChanges = db.prepare<[], number>('PRAGMA data_version').pluck();
    db.function('camera_changed', (id) => {
      this.#changed.add(String(id));
      return null;
    });
    db.exec(watch);
  }

  /** Sorted by id. */
  now(): readonly Camera[] {
    // What a transaction does may be undone, which is no change.
    if (this.#db.inTransaction) return this.#read.all();
    const asOf = this.#othersChanges.get()!;
    const before = asOf === this.#asOf ? this.#cameras : null;
    const isMuch =
      before === null || this.#changed.size > MANY * before.length || ![...this.#changed].every(isAscii);
    if (!isMuch && this.#changed.size === 0) return before;
    this.#cameras = isMuch ? this.#read.all() : this.#withChanged(before);
    this.#asOf = asOf;
    this.#changed.clear();
    return this.#cameras;
  }

  #withChanged(before: readonly Camera[]): readonly Camera[] {
    const ids = [...this.#changed].sort();
    const now: Camera[] = [];
    let at = 0;
    const read = (id: string): void => {
      const camera = this.#read.one(id);
      if (camera !== null) now.push(camera);
      at += 1;
    };
    for (const camera of before) {
      while (at < ids.length && ids[at]! < camera.id) read(ids[at]!);
      if (ids[at] === camera.id) read(camera.id);
      else now.push(camera);
    }
    while (at < ids.length) read(ids[at]!);
    return now;
  }
}
