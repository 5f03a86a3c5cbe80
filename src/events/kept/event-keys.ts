import type Database from 'better-sqlite3';
import type { EventType, KeptEvent } from './event.js';

/** The events of one camera that are of one type and label: they lie in a row in the index. */
export type ListKey = { readonly camera: number; readonly kind: number };

/** What lists are wanted; null: of all. */
export type ListFilter = {
  readonly cameraIds: ReadonlySet<string> | null;
  readonly types: ReadonlySet<string> | null;
  readonly labels: ReadonlySet<string> | null;
};

/** Labels come from cameras: of one that calls things otherwise each time, more are one. Each list costs every question a look. */
const MAX_LISTS_OF_CAMERA = 200;
const OTHER = 'other';

type KindRow = { key: number; type: string; label: string };
type CameraRow = { key: number; id: string };

const prepare = (db: Database.Database) => ({
  cameras: db.prepare<[], CameraRow>('SELECT key, id FROM cameras WHERE id IS NOT NULL'),
  kinds: db.prepare<[], KindRow>('SELECT key, type, label FROM kinds'),
  // One seek for each list, however long the lists are.
  nextList: db.prepare<[number, number], ListKey>(
    'SELECT camera, kind FROM events WHERE (camera, kind) > (?, ?) ORDER BY camera, kind LIMIT 1',
  ),
  addCamera: db.prepare<[string]>('INSERT INTO cameras (id) VALUES (?)'),
  addKind: db.prepare<[string, string]>('INSERT INTO kinds (type, label) VALUES (?, ?)'),
  orphan: db.prepare<[string]>('UPDATE cameras SET id = NULL WHERE id = ?'),
  orphans: db.prepare<[], number>('SELECT key FROM cameras WHERE id IS NULL').pluck(),
  removeKind: db.prepare<[number]>('DELETE FROM kinds WHERE key = ?'),
  removeCamera: db.prepare<[number]>('DELETE FROM cameras WHERE key = ?'),
});

const kindText = (type: string, label: string): string => `${type} ${label}`;

/** Numbers in the place of names, which are short in the index; and which lists there are. All of it is in memory. */
export class EventKeys {
  readonly #sql: ReturnType<typeof prepare>;
  readonly #cameras = new Map<string, number>();
  readonly #kinds = new Map<string, KindRow>();
  /** By camera. */
  readonly #lists = new Map<number, Set<number>>();

  constructor(db: Database.Database) {
    this.#sql = prepare(db);
    for (const { key, id } of this.#sql.cameras.all()) this.#cameras.set(id, key);
    for (const row of this.#sql.kinds.all()) this.#kinds.set(kindText(row.type, row.label), row);
    let list: ListKey | undefined = { camera: -1, kind: -1 };
    while (list !== undefined) {
      list = this.#sql.nextList.get(list.camera, list.kind);
      if (list !== undefined) this.#note(list);
    }
  }

  /** Kinds of which there is no event any more: to be called in a transaction, before any is added. */
  forgetUnused(): void {
    const used = new Set([...this.#lists.values()].flatMap((kinds) => [...kinds]));
    for (const [text, { key }] of this.#kinds) {
      if (used.has(key)) continue;
      this.#sql.removeKind.run(key);
      this.#kinds.delete(text);
    }
  }

  /** Whether there may be events of deleted cameras among the others. */
  get hasOrphans(): boolean {
    return this.orphans.length > 0;
  }

  /** Keys of cameras that are deleted. */
  get orphans(): readonly number[] {
    return this.#sql.orphans.all();
  }

  /** The cameras that have had events. */
  get cameraIds(): readonly string[] {
    return [...this.#cameras.keys()];
  }

  cameraKey(cameraId: string): number | null {
    return this.#cameras.get(cameraId) ?? null;
  }

  /** Made where there is none yet: to be called in a transaction that succeeds, or `reset` after it. */
  keyOf({ cameraId, type, label }: Pick<KeptEvent, 'cameraId' | 'label'> & { type: EventType }): ListKey {
    let camera = this.#cameras.get(cameraId);
    if (camera === undefined) {
      camera = Number(this.#sql.addCamera.run(cameraId).lastInsertRowid);
      this.#cameras.set(cameraId, camera);
    }
    let kind = this.#kinds.get(kindText(type, label));
    const kinds = this.#lists.get(camera);
    const isNew = kind === undefined || !kinds?.has(kind.key);
    if (isNew && label !== OTHER && (kinds?.size ?? 0) >= MAX_LISTS_OF_CAMERA)
      return this.keyOf({ cameraId, type, label: OTHER });
    if (kind === undefined) {
      kind = { key: Number(this.#sql.addKind.run(type, label).lastInsertRowid), type, label };
      this.#kinds.set(kindText(type, label), kind);
    }
    const list = { camera, kind: kind.key };
    this.#note(list);
    return list;
  }

  /** What the kind of a list is of; "" where nothing was seen. */
  labelOf(kind: number): string {
    for (const { key, label } of this.#kinds.values()) if (key === kind) return label;
    return '';
  }

  /** The lists that fit. */
  lists({ cameraIds, types, labels }: ListFilter): ListKey[] {
    const kinds = new Set(
      [...this.#kinds.values()]
        .filter(({ type, label }) => (types?.has(type) ?? true) && (labels?.has(label) ?? true))
        .map(({ key }) => key),
    );
    const lists: ListKey[] = [];
    for (const [id, camera] of this.#cameras) {
      if (cameraIds !== null && !cameraIds.has(id)) continue;
      for (const kind of this.#lists.get(camera) ?? []) if (kinds.has(kind)) lists.push({ camera, kind });
    }
    return lists;
  }

  /** The camera is deleted: its events are nobody's at once, and go bit by bit. */
  orphan(cameraId: string): void {
    this.#sql.orphan.run(cameraId);
    const key = this.#cameras.get(cameraId);
    if (key !== undefined) this.#lists.delete(key);
    this.#cameras.delete(cameraId);
  }

  /** Nothing of it is left. */
  removeOrphan(camera: number): void {
    this.#sql.removeCamera.run(camera);
  }

  #note({ camera, kind }: ListKey): void {
    const kinds = this.#lists.get(camera);
    if (kinds === undefined) this.#lists.set(camera, new Set([kind]));
    else kinds.add(kind);
  }
}
