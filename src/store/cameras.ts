import type Database from 'better-sqlite3';
import { CameraList } from './camera-list.js';
import { DeletedCameraTable } from './deleted-cameras.js';
import { storeError } from './store-error.js';
import { inTransaction } from './transaction.js';

/** In what a camera is to be treated otherwise than others; what isn't there is as it is for all (rtsp/quirks.ts). */
export type CameraQuirks = {
  readonly certificate?: 'any' | 'verify' | undefined;
  readonly user_agent?: string | undefined;
  readonly keepalive?: 'auto' | 'options' | 'get_parameter' | 'set_parameter' | 'none' | undefined;
  readonly teardown?: 'always' | 'never' | undefined;
  readonly refused_transport?: 'try_other' | 'give_up' | undefined;
  readonly silent_udp?: 'switch_to_tcp' | 'give_up' | undefined;
  readonly packetization_mode_0?: 'force_tcp' | 'keep_transport' | undefined;
  readonly interleaved_ids?: 'from_reply' | 'as_requested' | undefined;
  readonly session_id?: 'take_last' | 'keep_first' | undefined;
};

export type QuirkName = keyof CameraQuirks;

/** What of a camera's picture counts: corners as fractions of it, from top left. */
export type DetectionZone = {
  readonly name: string;
  /** Objects count that stand in one of these, or, where there is none, anywhere; but none that stands in an excluded one. */
  readonly kind: 'include' | 'exclude';
  readonly points: readonly (readonly [x: number, y: number])[];
};

/** What counts as a detection; what isn't there is as the detector has it. */
export type DetectionSettings = {
  /** Empty: all that the model knows. */
  readonly labels?: readonly string[] | undefined;
  readonly min_score?: number | undefined;
  /** Of the picture's area. */
  readonly min_size?: number | undefined;
  readonly zones?: readonly DetectionZone[] | undefined;
  /** When, by the site's clocks; empty: always. */
  readonly schedule?: readonly DetectionHours[] | undefined;
};

/** Some hours of some days (detect/schedule.ts). */
export type DetectionHours = {
  readonly days: readonly ('sun' | 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat')[];
  readonly from: string;
  readonly to: string;
};

/** Where a camera is asked by ONVIF (src/onvif); without an address it isn't. `password` is a secret: never log it. */
export type CameraOnvif = {
  readonly address?: string | undefined;
  /** Token of its profile; "" or nothing: the first that does. */
  readonly profile?: string | undefined;
  /** Nothing: as in `url`. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
};

/** The stored settings of a camera, spelled as in the JSON interface. `url` and `sub_url` may hold credentials: never log them. */
export type Camera = {
  readonly id: string;
  readonly url: string;
  readonly record: boolean;
  /** 0 keeps for ever. */
  readonly retention_days: number;
  /** Ids, each once; they may name tags that don't exist. */
  readonly tags: readonly string[];
  /** "" for none; it may name a folder that doesn't exist. */
  readonly folder_id: string;
  readonly comment: string;
  readonly sim_phone: string;
  readonly sim_iccid: string;
  readonly lazy_hls: boolean;
  readonly transport: 'tcp' | 'udp';
  readonly token_auth: boolean;
  /** Megabytes (10^6 bytes) in a calendar month, UTC; 0 is no cap. */
  readonly traffic_limit: number;
  readonly disabled: boolean;
  readonly detect: boolean;
  readonly quirks: CameraQuirks;
  readonly detection: DetectionSettings;
  /** A smaller stream of the same camera; "" for none. */
  readonly sub_url: string;
  /** Connected only while somebody wants its frames. */
  readonly on_demand: boolean;
  /** `events`: of what is recorded only what lies around events stays. */
  readonly record_mode: 'continuous' | 'events';
  /** What lies around events stays so long; where that is not longer, as long as all else. */
  readonly event_retention_days: number;
  readonly onvif: CameraOnvif;
  /** The box of a cluster that is to have it while that is there; null: whichever does by its hash. */
  readonly box: string | null;
};

/** What an update may change: the fields that are present. */
export type CameraChanges = Partial<Omit<Camera, 'id'>>;

/** Changes that are made together. */
export type CameraBatch = {
  readonly create: readonly Camera[];
  readonly update: readonly { readonly id: string; readonly changes: CameraChanges }[];
  readonly remove: readonly string[];
  /** Whether all that those recorded which are removed goes with them. */
  readonly isPurged: boolean;
};

type Flag = 'record' | 'lazy_hls' | 'token_auth' | 'disabled' | 'detect' | 'on_demand';
type Objects = 'quirks' | 'detection' | 'onvif';
type CameraRow = Omit<Camera, 'tags' | Objects | Flag> & Record<Flag, number> & Record<Objects, string>;
type TagRow = { camera_id: string; tag_id: string };

const columns: readonly (keyof CameraRow)[] = [
  'id',
  'url',
  'record',
  'retention_days',
  'folder_id',
  'comment',
  'sim_phone',
  'sim_iccid',
  'lazy_hls',
  'transport',
  'token_auth',
  'traffic_limit',
  'disabled',
  'detect',
  'quirks',
  'sub_url',
  'on_demand',
  'detection',
  'record_mode',
  'event_retention_days',
  'onvif',
  'box',
];

const toRow = (camera: Camera): CameraRow => {
  const { tags: _, ...fields } = camera;
  return {
    ...fields,
    record: Number(camera.record),
    lazy_hls: Number(camera.lazy_hls),
    token_auth: Number(camera.token_auth),
    disabled: Number(camera.disabled),
    detect: Number(camera.detect),
    quirks: JSON.stringify(camera.quirks),
    on_demand: Number(camera.on_demand),
    detection: JSON.stringify(camera.detection),
    onvif: JSON.stringify(camera.onvif),
  };
};

/** As most cameras have them: of thousands it is one. */
const NOTHING = Object.freeze({});
const NO_TAGS: readonly string[] = Object.freeze([]);
const parsed = (text: string): object => (text === '{}' ? NOTHING : Object.freeze(JSON.parse(text)));

/** Nobody can change what is listed for all. */
const fromRow = (row: CameraRow, tags: readonly string[]): Camera =>
  Object.freeze({
    id: row.id,
    url: row.url,
    record: row.record === 1,
    retention_days: row.retention_days,
    tags: Object.freeze(tags),
    folder_id: row.folder_id,
    comment: row.comment,
    sim_phone: row.sim_phone,
    sim_iccid: row.sim_iccid,
    lazy_hls: row.lazy_hls === 1,
    // Text of the database is a new string in each row; these are one each.
    transport: row.transport === 'udp' ? 'udp' : 'tcp',
    token_auth: row.token_auth === 1,
    traffic_limit: row.traffic_limit,
    disabled: row.disabled === 1,
    detect: row.detect === 1,
    quirks: parsed(row.quirks) as CameraQuirks,
    sub_url: row.sub_url,
    on_demand: row.on_demand === 1,
    detection: parsed(row.detection) as DetectionSettings,
    record_mode: row.record_mode === 'events' ? 'events' : 'continuous',
    event_retention_days: row.event_retention_days,
    onvif: parsed(row.onvif) as CameraOnvif,
    box: row.box,
  });

const prepare = (db: Database.Database) => ({
  all: db.prepare<[], CameraRow>('SELECT * FROM cameras ORDER BY id'),
  one: db.prepare<[string], CameraRow>('SELECT * FROM cameras WHERE id = ?'),
  folderOf: db.prepare<[string], string>('SELECT folder_id FROM cameras WHERE id = ?').pluck(),
  withTag: db.prepare<[string], string>('SELECT camera_id FROM camera_tags WHERE tag_id = ?').pluck(),
  allTags: db.prepare<[], TagRow>('SELECT camera_id, tag_id FROM camera_tags ORDER BY camera_id, position'),
  tagsOf: db
    .prepare<[string], string>('SELECT tag_id FROM camera_tags WHERE camera_id = ? ORDER BY position')
    .pluck(),
  // An upsert, not REPLACE: that would delete the row first, and its traffic with it.
  put: db.prepare<[CameraRow]>(
    `INSERT INTO cameras (${columns.join(', ')}) VALUES (${columns.map((name) => `@${name}`).join(', ')})
     ON CONFLICT (id) DO UPDATE SET ${columns
       .slice(1)
       .map((name) => `${name} = @${name}`)
       .join(', ')}`,
  ),
  remove: db.prepare<[string]>('DELETE FROM cameras WHERE id = ?'),
  addTag: db.prepare<[string, string, number]>(
    'INSERT INTO camera_tags (camera_id, tag_id, position) VALUES (?, ?, ?)',
  ),
  clearTags: db.prepare<[string]>('DELETE FROM camera_tags WHERE camera_id = ?'),
});

const unknown = (id: string) => storeError('not_found', `there is no camera ${id}`);

/** The cameras that were configured. */
export class CameraTable {
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;
  /** Those that are no more. */
  readonly deleted: DeletedCameraTable;
  readonly #list: CameraList<Camera>;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
    this.deleted = new DeletedCameraTable(db);
    this.#list = new CameraList(db, { all: () => this.#readAll(), one: (id) => this.find(id) });
  }

  /** All of them, sorted by id. */
  list(): readonly Camera[] {
    return this.#list.now();
  }

  #readAll(): Camera[] {
    const tags = new Map<string, string[]>();
    for (const { camera_id, tag_id } of this.#sql.allTags.iterate()) {
      const ofCamera = tags.get(camera_id);
      if (ofCamera === undefined) tags.set(camera_id, [tag_id]);
      else ofCamera.push(tag_id);
    }
    const cameras: Camera[] = [];
    for (const row of this.#sql.all.iterate()) cameras.push(fromRow(row, tags.get(row.id) ?? NO_TAGS));
    return cameras;
  }

  /** Null where there is no such camera. */
  folderOf(id: string): string | null {
    return this.#sql.folderOf.get(id) ?? null;
  }

  /** Their ids. */
  withTag(tagId: string): readonly string[] {
    return this.#sql.withTag.all(tagId);
  }

  find(id: string): Camera | null {
    const row = this.#sql.one.get(id);
    return row === undefined ? null : fromRow(row, this.#sql.tagsOf.all(id));
  }

  /** Throws `not_found`. */
  get(id: string): Camera {
    const camera = this.find(id);
    if (camera === null) throw unknown(id);
    return camera;
  }

  /** Throws `exists`. Answers what is stored: a tag that is named twice is kept once. */
  create(camera: Camera): Camera {
    return inTransaction(this.#db, () => {
      if (this.#sql.one.get(camera.id) !== undefined)
        throw storeError('exists', `there is a camera ${camera.id} already`);
      if (this.deleted.find(camera.id)?.isPurged === true)
        throw storeError(
          'exists',
          `the recordings of the deleted camera ${camera.id} are going; try again soon`,
        );
      this.#put(camera);
      return this.get(camera.id);
    });
  }

  /** Changes the fields that are present and answers the whole camera; throws `not_found`. */
  update(id: string, changes: CameraChanges): Camera {
    return inTransaction(this.#db, () => {
      this.#put({ ...this.get(id), ...changes, id });
      return this.get(id);
    });
  }

  /** Its tags and its traffic counts go with it, and if asked all that was recorded; throws `not_found`. */
  remove(id: string, { isPurged }: { readonly isPurged: boolean } = { isPurged: false }): void {
    inTransaction(this.#db, () => {
      this.deleted.add(id, { isPurged });
      if (this.#sql.remove.run(id).changes === 0) throw unknown(id);
    });
  }

  /** All of these changes or, if one of them throws, none. */
  changeMany({ create, update, remove, isPurged }: CameraBatch): void {
    inTransaction(this.#db, () => {
      for (const camera of create) this.create(camera);
      for (const { id, changes } of update) this.update(id, changes);
      for (const id of remove) this.remove(id, { isPurged });
    });
  }

  /** Makes `cameras` the whole set, as part of an import; a camera that stays keeps its traffic counts. */
  replaceAll(cameras: readonly Camera[]): void {
    inTransaction(this.#db, () => {
      const wanted = new Set(cameras.map(({ id }) => id));
      for (const { id } of this.#sql.all.all()) if (!wanted.has(id)) this.remove(id);
      for (const camera of cameras) this.#put(camera);
    });
  }

  /** One that is made again takes over what it had recorded. */
  #put(camera: Camera): void {
    this.deleted.forget(camera.id);
    this.#sql.put.run(toRow(camera));
    this.#sql.clearTags.run(camera.id);
    let position = 0;
    for (const tag of new Set(camera.tags)) this.#sql.addTag.run(camera.id, tag, position++);
  }
}
