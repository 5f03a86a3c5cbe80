import type Database from 'better-sqlite3';
import type { EventType, KeptEvent } from './event.js';
import { EventKeys, type ListKey } from './event-keys.js';

/** An event's place among all: newest first, by when it began. */
export type Place = { readonly fromMs: number; readonly id: number };

type Row = {
  id: number;
  camera_id: string | null;
  type: EventType;
  label: string;
  score: number | null;
  begin_ms: number;
  end_ms: number | null;
  protected: number;
  detail: string;
};

type PlaceRow = { id: number; begin_ms: number };
type SeenRow = PlaceRow & { seen: number };

/** Which way events are listed. */
export type Order = 'newest_first' | 'oldest_first';

/** What a list is asked for: what comes behind the place, as far as that began in [fromMs, toMs). */
export type ListBounds = {
  readonly order: Order;
  readonly behind: Place;
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
};

/** A place, and whether a user has reviewed what is there. */
export type SeenPlace = Place & { readonly isSeen: boolean };

const select = `SELECT e.id, c.id AS camera_id, k.type, k.label, e.score, e.begin_ms, e.end_ms, e.protected, e.detail
  FROM events e JOIN cameras c ON c.key = e.camera JOIN kinds k ON k.key = e.kind`;
/** The place alone bounds what is read. */
const sides = {
  newest_first: {
    behind: 'begin_ms <= @behindMs AND (begin_ms < @behindMs OR id < @behindId)',
    order: 'ORDER BY begin_ms DESC, id DESC LIMIT @count',
  },
  oldest_first: {
    behind: 'begin_ms >= @behindMs AND (begin_ms > @behindMs OR id > @behindId)',
    order: 'ORDER BY begin_ms, id LIMIT @count',
  },
} as const satisfies Record<Order, object>;
const seen = `EXISTS (SELECT 1 FROM reviews r
  WHERE r.username = @username AND r.begin_ms = e.begin_ms AND r.event = e.id) AS seen`;

/** One list, or all of them with the list of each. */
const statementsOf = (db: Database.Database, order: Order) => {
  const side = sides[order];
  const within = `${side.behind} AND begin_ms >= @fromMs AND begin_ms < @toMs ${side.order}`;
  const list = `SELECT id, begin_ms FROM events INDEXED BY events_by_list
    WHERE camera = @camera AND kind = @kind AND ${within}`;
  const all = `SELECT id, begin_ms, camera, kind FROM events INDEXED BY events_by_begin WHERE ${within}`;
  return {
    list: db.prepare<[object], PlaceRow>(list),
    listSeen: db.prepare<[object], SeenRow>(`SELECT e.*, ${seen} FROM (${list}) e`),
    all: db.prepare<[object], PlaceRow & ListKey>(all),
    allSeen: db.prepare<[object], SeenRow & ListKey>(`SELECT e.*, ${seen} FROM (${all}) e`),
    reviewed: db.prepare<[object], PlaceRow & ListKey>(
      `SELECT e.id, e.begin_ms, e.camera, e.kind
       FROM (SELECT event AS id, begin_ms, username FROM reviews) r JOIN events e ON e.id = r.id
       WHERE r.username = @username AND r.begin_ms >= @fromMs AND r.begin_ms < @toMs
         AND ${side.behind.replaceAll(/\b(begin_ms|id)\b/g, 'r.$1')}
       ${side.order.replaceAll(/\b(begin_ms|id)\b/g, 'r.$1').replace('LIMIT @count', '')}`,
    ),
  };
};

/** As the index of those that last has it. */
const LASTING_MS = 3_600_000;

const prepare = (db: Database.Database) => ({
  one: db.prepare<[number], Row>(`${select} WHERE e.id = ?`),
  open: db.prepare<[], Row>(`${select} WHERE e.end_ms IS NULL`),
  kept: db.prepare<[], Row>(`${select} WHERE e.protected = 1`),
  told: db.prepare<[number], Row>(`${select} ORDER BY e.id DESC LIMIT ?`),
  lastId: db.prepare<[], number | null>('SELECT max(id) FROM events').pluck(),
  put: db.prepare(
    `INSERT INTO events (id, camera, kind, begin_ms, end_ms, score, protected, detail)
     VALUES (@id, @camera, @kind, @fromMs, @toMs, @score, @isProtected, @detail)`,
  ),
  change: db.prepare('UPDATE events SET end_ms = @toMs, score = @score, detail = @detail WHERE id = @id'),
  count: db.prepare<[], number>('SELECT count(*) FROM events').pluck(),
  remove: db.prepare<[number]>('DELETE FROM events WHERE id = ?'),
  removeReviews: db.prepare<[number]>('DELETE FROM reviews WHERE event = ?'),
  protect: db.prepare<[number, number]>('UPDATE events SET protected = ? WHERE id = ?'),
  newest_first: statementsOf(db, 'newest_first'),
  oldest_first: statementsOf(db, 'oldest_first'),
  spans: db
    .prepare<[object], [number, number | null]>(
      `SELECT begin_ms, end_ms FROM events INDEXED BY events_by_list
       WHERE camera = @camera AND kind = @kind AND begin_ms >= @fromMs AND begin_ms < @toMs ${sides.newest_first.order}`,
    )
    .raw(),
  times: db.prepare<[object], { begin_ms: number; end_ms: number | null }>(
    `SELECT begin_ms, end_ms FROM events INDEXED BY events_by_list
     WHERE camera = @camera AND kind = @kind AND begin_ms > @earliestMs AND begin_ms <= @toMs
       AND (end_ms IS NULL OR end_ms >= @fromMs)
     UNION ALL
     SELECT begin_ms, end_ms FROM events INDEXED BY events_lasting
     WHERE camera = @camera AND kind = @kind AND begin_ms <= @earliestMs AND (end_ms IS NULL OR end_ms >= @fromMs)
       AND (end_ms IS NULL OR end_ms - begin_ms > ${LASTING_MS})
     LIMIT @count`,
  ),
  known: db.prepare<[], { since_ms: number; alive_ms: number }>('SELECT since_ms, alive_ms FROM known'),
  raiseSince: db.prepare<[number]>('UPDATE known SET since_ms = max(since_ms, ?)'),
  setAlive: db.prepare<[number]>(
    `UPDATE known SET alive_ms = ? WHERE EXISTS (SELECT 1 FROM events WHERE end_ms IS NULL)`,
  ),
  countReviewed: db
    .prepare<[string, number], number>(
      'SELECT count(*) FROM (SELECT 1 FROM reviews WHERE username = ? LIMIT ?)',
    )
    .pluck(),
  isReviewed: db
    .prepare<[string, number, number], number>(
      'SELECT 1 FROM reviews WHERE username = ? AND begin_ms = ? AND event = ?',
    )
    .pluck(),
  review: db.prepare<[string, number, number]>('INSERT OR IGNORE INTO reviews VALUES (?, ?, ?)'),
  unreview: db.prepare<[string, number, number]>(
    'DELETE FROM reviews WHERE username = ? AND begin_ms = ? AND event = ?',
  ),
  // One seek for each user, however much they have reviewed.
  nextReviewer: db
    .prepare<[string], string>('SELECT username FROM reviews WHERE username > ? ORDER BY username LIMIT 1')
    .pluck(),
  forgetReviewer: db.prepare<[string, number]>(
    `DELETE FROM reviews WHERE (username, begin_ms, event) IN
     (SELECT username, begin_ms, event FROM reviews WHERE username = ? LIMIT ?)`,
  ),
});

const eventOf = (row: Row): KeptEvent => ({
  id: row.id,
  cameraId: row.camera_id ?? '',
  type: row.type,
  label: row.label,
  score: row.score,
  fromMs: row.begin_ms,
  toMs: row.end_ms,
  isProtected: row.protected === 1,
  detail: row.detail,
});

const placeOf = ({ id, begin_ms }: PlaceRow): Place => ({ id, fromMs: begin_ms });

const seenPlaceOf = (row: SeenRow): SeenPlace => ({ ...placeOf(row), isSeen: row.seen === 1 });

const inputOf = ({ behind, fromMs, toMs, count }: ListBounds) => ({
  ...{ behindMs: behind.fromMs, behindId: behind.id },
  ...{ fromMs, toMs, count },
});

/** The tables of events, as statements. */
export class EventTables {
  readonly keys: EventKeys;
  readonly #db: Database.Database;
  readonly #sql: ReturnType<typeof prepare>;
  /** Null: they were not counted yet, which takes longer than all else where there are a million. */
  #count: number | null = null;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#sql = prepare(db);
    this.keys = new EventKeys(db);
  }

  get lastId(): number {
    return this.#sql.lastId.get() ?? 0;
  }

  /** Null: there is none, or its camera is deleted. */
  find(id: number): KeptEvent | null {
    const row = this.#sql.one.get(id);
    return row === undefined || row.camera_id === null ? null : eventOf(row);
  }

  open(): KeptEvent[] {
    return this.#sql.open.all().flatMap((row) => (row.camera_id === null ? [] : eventOf(row)));
  }

  protected(): KeptEvent[] {
    return this.#sql.kept.all().flatMap((row) => (row.camera_id === null ? [] : eventOf(row)));
  }

  /** Those that were told of last, the latest first. */
  newestEvents(most: number): KeptEvent[] {
    return this.#sql.told.all(most).flatMap((row) => (row.camera_id === null ? [] : eventOf(row)));
  }

  /** All of them or none; those that are there already are changed. `sinceMs`: what happened before may be missing. */
  putAll(events: Iterable<KeptEvent>, sinceMs = Number.NEGATIVE_INFINITY): void {
    this.#db
      .transaction(() => {
        if (sinceMs > this.known().sinceMs) this.raiseSince(sinceMs);
        for (const { cameraId, type, label, isProtected, ...fields } of events) {
          const key = this.keys.keyOf({ cameraId, type, label });
          const row = { ...fields, ...key, isProtected: Number(isProtected) };
          if (this.#sql.change.run(row).changes > 0) continue;
          this.#sql.put.run(row);
          if (this.#count !== null) this.#count += 1;
        }
      })
      .immediate();
  }

  /** How many events there are. */
  get count(): number {
    this.#count ??= this.#sql.count.get() ?? 0;
    return this.#count;
  }

  /** They are gone, and who has reviewed them. */
  removeAll(ids: readonly number[]): void {
    this.#db
      .transaction(() => {
        for (const id of ids) {
          const { changes } = this.#sql.remove.run(id);
          if (this.#count !== null) this.#count -= changes;
          this.#sql.removeReviews.run(id);
        }
      })
      .immediate();
  }

  protect(id: number, isProtected: boolean): void {
    this.#sql.protect.run(Number(isProtected), id);
  }

  /** Places in one list. */
  places(list: ListKey, bounds: ListBounds): Place[] {
    return this.#sql[bounds.order].list.all({ ...list, ...inputOf(bounds) }).map(placeOf);
  }

  /** The same, with what a user has reviewed of them. */
  seenPlaces(list: ListKey, bounds: ListBounds, username: string): SeenPlace[] {
    return this.#sql[bounds.order].listSeen.all({ ...list, ...inputOf(bounds), username }).map(seenPlaceOf);
  }

  /** From when to when the events of a list lasted that began in [fromMs, toMs); what goes on lasts until then. */
  spans(
    list: ListKey,
    bounds: { readonly fromMs: number; readonly toMs: number; readonly count: number },
  ): [beginMs: number, endMs: number][] {
    return this.#sql.spans
      .all({ ...list, ...bounds })
      .map(([beginMs, endMs]) => [beginMs, endMs ?? bounds.toMs]);
  }

  /** From when to when the events of a list lasted that have some of [fromMs, toMs]; null: it goes on. */
  times(
    list: ListKey,
    bounds: { readonly fromMs: number; readonly toMs: number; readonly count: number },
  ): { readonly fromMs: number; readonly toMs: number | null }[] {
    return this.#sql.times
      .all({ ...list, ...bounds, earliestMs: bounds.fromMs - LASTING_MS })
      .map(({ begin_ms, end_ms }) => ({ fromMs: begin_ms, toMs: end_ms }));
  }

  /** Since when all that happened is here, and when the service was last seen to run while an event went on. */
  known(): { readonly sinceMs: number; readonly aliveMs: number } {
    const row = this.#sql.known.get();
    return { sinceMs: row?.since_ms ?? Number.POSITIVE_INFINITY, aliveMs: row?.alive_ms ?? 0 };
  }

  /** What happened before may be missing from now on. */
  raiseSince(wallMs: number): void {
    this.#sql.raiseSince.run(wallMs);
  }

  /** The service runs, and if an event goes on that is to be known. */
  setAlive(wallMs: number): void {
    this.#sql.setAlive.run(Math.round(wallMs));
  }

  /** Of all lists together, with the list of each. */
  allPlaces(bounds: ListBounds): (Place & ListKey)[] {
    return this.#sql[bounds.order].all
      .all(inputOf(bounds))
      .map((row) => ({ ...placeOf(row), camera: row.camera, kind: row.kind }));
  }

  /** The same, with what a user has reviewed of them. */
  allSeenPlaces(bounds: ListBounds, username: string): (SeenPlace & ListKey)[] {
    return this.#sql[bounds.order].allSeen
      .all({ ...inputOf(bounds), username })
      .map((row) => ({ ...seenPlaceOf(row), camera: row.camera, kind: row.kind }));
  }

  /** Of what a user has reviewed; `isWanted` is asked of each. */
  reviewedPlaces(username: string, bounds: ListBounds, isWanted: (list: ListKey) => boolean): Place[] {
    const places: Place[] = [];
    for (const row of this.#sql[bounds.order].reviewed.iterate({ ...inputOf(bounds), username })) {
      if (isWanted(row)) places.push(placeOf(row));
      if (places.length >= bounds.count) break;
    }
    return places;
  }

  /** No more than `most` are counted. */
  countReviewed(username: string, most: number): number {
    return this.#sql.countReviewed.get(username, most) ?? 0;
  }

  isReviewed(username: string, { id, fromMs }: Place): boolean {
    return this.#sql.isReviewed.get(username, fromMs, id) !== undefined;
  }

  /** Those of them that are there; how many these are. */
  review(username: string, ids: readonly number[], isReviewed: boolean): number {
    return this.#db
      .transaction(() => {
        const events = ids.map((id) => this.find(id)).filter((event) => event !== null);
        const statement = isReviewed ? this.#sql.review : this.#sql.unreview;
        for (const { id, fromMs } of events) statement.run(username, fromMs, id);
        return events.length;
      })
      .immediate();
  }

  /** What users had reviewed who are gone, so much of it at most; whether there may be more. */
  forgetReviewersBut(usernames: ReadonlySet<string>, most: number): boolean {
    let left = most;
    let username = this.#sql.nextReviewer.get('');
    while (username !== undefined && left > 0) {
      if (!usernames.has(username)) left -= this.#sql.forgetReviewer.run(username, left).changes;
      username = this.#sql.nextReviewer.get(username);
    }
    return left <= 0;
  }
}
