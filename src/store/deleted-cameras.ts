import type Database from 'better-sqlite3';

/** A camera that is no more, but whose recordings may be there. */
export type DeletedCamera = {
  readonly cameraId: string;
  /** How long its recordings are kept, as the camera had it; 0: for ever. */
  readonly retentionDays: number;
  /** All of its recordings are to go. */
  readonly isPurged: boolean;
};

type Row = { camera_id: string; retention_days: number; is_purged: number };

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], Row>('SELECT * FROM deleted_cameras ORDER BY camera_id'),
  one: db.prepare<[string], Row>('SELECT * FROM deleted_cameras WHERE camera_id = ?'),
  add: db.prepare<[{ id: string; is_purged: number }]>(
    `INSERT INTO deleted_cameras (camera_id, retention_days, is_purged)
     SELECT id, retention_days, @is_purged FROM cameras WHERE id = @id`,
  ),
  forget: db.prepare<[string]>('DELETE FROM deleted_cameras WHERE camera_id = ?'),
});

const fromRow = ({ camera_id, retention_days, is_purged }: Row): DeletedCamera => ({
  cameraId: camera_id,
  retentionDays: retention_days,
  isPurged: is_purged === 1,
});

/** What deleted cameras leave behind; a row goes when its recordings are gone, or the camera is made again. */
export class DeletedCameraTable {
  readonly #sql: ReturnType<typeof prepare>;

  constructor(db: Database.Database) {
    this.#sql = prepare(db);
  }

  /** Sorted by id. */
  list(): DeletedCamera[] {
    return this.#sql.all.all().map(fromRow);
  }

  find(cameraId: string): DeletedCamera | null {
    const row = this.#sql.one.get(cameraId);
    return row === undefined ? null : fromRow(row);
  }

  /** Notes a camera that is about to be removed. */
  add(id: string, { isPurged }: { readonly isPurged: boolean }): void {
    this.#sql.add.run({ id, is_purged: Number(isPurged) });
  }

  forget(cameraId: string): void {
    this.#sql.forget.run(cameraId);
  }
}
