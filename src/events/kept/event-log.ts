import type Database from 'better-sqlite3';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Signal } from '../../base/signal.js';
import { isBrokenFile, isEnvironmental, storeError } from '../../store/store-error.js';
import { fileNumberOf, openEventDatabase, reopenEventDatabase, replaceEventDatabase } from './database.js';
import type { EventChanges, EventType, KeptEvent, NewEvent } from './event.js';
import { type EventFilter, EventPages, type PageOf } from './event-pages.js';
import { EventTables, type Place } from './event-tables.js';
import { type Buckets, labelBuckets } from './label-buckets.js';
import { motionBuckets } from './motion-buckets.js';
import { protectedIn } from './protected-copy.js';
import { type PruneRules, Pruning } from './pruning.js';
import { WaitingEvents } from './waiting-events.js';

/** Where protected events are kept a second time, in case their database is lost; null: nowhere yet. */
export type ProtectedMemory = { stored(): string | null; store(text: string): void };

export type EventLogDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly protectedMemory?: ProtectedMemory;
};

/** An event, and whether whoever asked has reviewed it. */
export type SeenEvent = { readonly event: KeptEvent; readonly isReviewed: boolean };

/** A time of a camera of which recordings are to be left alone. */
export type ProtectedSpan = { readonly cameraId: string; readonly fromMs: number; readonly toMs: number };

/** Events of a camera that have some of a time. */
export type EventTimes = {
  /** In no order; null: it goes on. */
  readonly events: readonly { readonly fromMs: number; readonly toMs: number | null }[];
  /** What began before may be missing. */
  readonly sinceMs: number;
};

/** For which a camera's picture is recorded. */
const recordedTypes: ReadonlySet<string> = new Set<EventType>(['detection', 'motion', 'rule']);
const WRITE_AFTER_MS = 500;
/** An event whose beginning is forgotten is over by then, or has begun anew. */
const MAX_LEFT_MS = 60_000;
/** More within one recording are as good as one all the time. */
const MAX_TIMES = 5_000;
/** What waits for a disk that takes nothing; the oldest are given up. */
const MAX_WAITING = 10_000;
/** A file that was deleted or replaced is noticed this soon. */
const LOOK_EVERY_MS = 5_000;
const MAX_PROTECTED = 10_000;
/** Around what is protected: somebody walks into the picture. */
const MARGIN_MS = 10_000;
const MAX_OPEN_MS = 3_600_000;
/** What a text may have that comes from a camera, or a model. */
const MAX_TEXT = 256;

const SCORE_DIGITS = 1e4;
const rounded = (score: number | null): number | null =>
  score === null ? null : Math.round(score * SCORE_DIGITS) / SCORE_DIGITS;

const cut = (text: string): string => text.slice(0, MAX_TEXT);

/**
 * What happened, kept in a database of its own. Events are told of at once and written together, twice a second at most;
 * whoever asks sees them all. Without a working disk they wait, and in the end are given up: nobody is held up by them.
 */
export class EventLog {
  /** An event began, or is another: null where it is new, else what changed. */
  readonly changed = new Signal<
    [event: KeptEvent, changes: EventChanges | { isProtected: boolean } | null]
  >();
  /** Until when the service before this one is known to have run while an event went on; 0: it isn't. */
  readonly aliveMs: number;
  readonly #path: string;
  readonly #deps: EventLogDeps;
  readonly #waiting = new WaitingEvents(MAX_WAITING);
  #db: Database.Database;
  #tables: EventTables;
  #pages: EventPages;
  #pruning: Pruning;
  #fileNumber: number | null;
  #lastId: number;
  /** As they were read last; null: they never could be. */
  #protected: readonly ProtectedSpan[] | null = null;
  #isProtectedStale = true;
  #writing: Timer | null = null;
  #looking: Timer;
  #isFailing = false;
  /** When an event was given up last: what happened until then isn't all known. */
  #lostMs = Number.NEGATIVE_INFINITY;

  constructor(path: string, deps: EventLogDeps) {
    this.#path = path;
    this.#deps = deps;
    const { db, tables, lastId } = openEventDatabase(path, { log: deps.log, nowMs: deps.clock.wallMs() });
    this.#db = db;
    this.#tables = tables;
    this.#pages = new EventPages(tables);
    this.#pruning = new Pruning(db, tables);
    this.#fileNumber = fileNumberOf(path, null);
    this.#lastId = lastId;
    // From the first look on it is this one's.
    this.aliveMs = this.#try(() => tables.known().aliveMs, 0);
    this.#putBack();
    this.#looking = deps.clock.every(LOOK_EVERY_MS, () => this.#look());
  }

  /** Events that were given up. */
  get lostCount(): number {
    return this.#waiting.lostCount;
  }

  /** Adds what happened; it counts from now on, and is on the disk soon. */
  add(event: NewEvent): KeptEvent {
    this.#lastId = Math.max(this.#lastId + 1, Math.round(this.#deps.clock.wallMs() * 1000));
    const kept: KeptEvent = {
      ...{ id: this.#lastId, cameraId: event.cameraId, type: event.type },
      ...{
        label: cut(event.label ?? ''),
        detail: cut(event.detail ?? ''),
        score: rounded(event.score ?? null),
      },
      ...{ fromMs: Math.round(event.fromMs), toMs: event.toMs ?? null, isProtected: false },
    };
    this.#put(kept);
    this.changed.emit(kept, null);
    return kept;
  }

  /** An event goes on, or ends. One that is gone stays gone. */
  change(id: number, changes: EventChanges): void {
    const before = this.#waiting.changes.has(id) ? undefined : this.#read(id);
    if (before === undefined) this.#writeSoon(this.#waiting.putChange(id, changes));
    else if (before !== null) this.#apply(before, changes);
  }

  /** Those that go on, be it since before the service began. */
  open(): readonly KeptEvent[] {
    this.#write();
    return this.#try(() => this.#tables.open(), []);
  }

  /** What is wanted, and where to go on; null: that was all. Throws `database_unavailable`. */
  page(
    filter: EventFilter,
    page: PageOf,
    username: string,
  ): { readonly seen: readonly SeenEvent[]; readonly next: Place | null } {
    this.#write();
    return this.#ask(() => {
      const { places, next } = this.#pages.page(filter, page, username);
      const seen = places.flatMap((place) => {
        const event = this.#tables.find(place.id);
        return event === null ? [] : { event, isReviewed: this.#tables.isReviewed(username, place) };
      });
      return { seen, next };
    });
  }

  /** Null: there is none. Throws `database_unavailable`. */
  find(id: number, username: string): SeenEvent | null {
    this.#write();
    return this.#ask(() => {
      const event = this.#tables.find(id);
      return event === null ? null : { event, isReviewed: this.#tables.isReviewed(username, event) };
    });
  }

  /** By label, how many detections of a camera there were in each bucket; nothing where the disk doesn't answer. */
  labelBuckets(cameraId: string, buckets: Buckets): Record<string, number[]> {
    this.#write();
    return this.#try(() => labelBuckets(this.#tables, cameraId, buckets), {});
  }

  /** What was seen at a camera, of all that is kept. */
  labelsOf(cameraId: string): readonly string[] {
    const { keys } = this.#tables;
    const filter = { cameraIds: new Set([cameraId]), types: new Set(['detection']), labels: null };
    return keys.lists(filter).map(({ kind }) => keys.labelOf(kind));
  }

  /** For how much of each bucket a camera saw motion, from 0 to 255; nothing where it saw none at all. */
  motionBuckets(cameraId: string, buckets: Buckets): number[] {
    this.#write();
    return this.#try(() => motionBuckets(this.#tables, cameraId, buckets), []);
  }

  /** False where it is certain that it isn't there. */
  has(id: number): boolean {
    if (this.#waiting.events.has(id) || this.#db.memory) return true;
    return this.#try(() => this.#tables.find(id) !== null, true);
  }

  /** Those of them that are there; how many. Throws `database_unavailable`. */
  review(username: string, ids: readonly number[], isReviewed: boolean): number {
    this.#write();
    return this.#ask(() => this.#tables.review(username, ids, isReviewed));
  }

  /** Throws `database_unavailable`, and `too_many_protected`. */
  protect(id: number, isProtected: boolean): void {
    this.#write();
    const before = this.#ask(() => this.#tables.find(id));
    if (before === null || before.isProtected === isProtected) return;
    if (isProtected && (this.protectedSpans()?.length ?? 0) >= MAX_PROTECTED)
      throw new AppError(
        'too_many_protected',
        `${MAX_PROTECTED} events are protected: take it from some of them`,
      );
    this.#ask(() => this.#tables.protect(id, isProtected));
    this.#isProtectedStale = true;
    this.#try(() => this.#copyProtected(), undefined);
    this.changed.emit({ ...before, isProtected }, { isProtected });
  }

  /**
   * Times whose recordings stay, however old they become. While the disk doesn't answer those that were known last; null:
   * none ever were, which doesn't mean that there are none.
   */
  protectedSpans(): readonly ProtectedSpan[] | null {
    if (this.#isProtectedStale && !this.#db.memory) this.#try(() => this.#readProtected(), undefined);
    return this.#protected;
  }

  /** Whether what is known outlives the service. */
  get isLasting(): boolean {
    return !this.#db.memory;
  }

  /** Of objects, motion and rules on a camera within [fromMs, toMs]; null: nobody knows now. */
  times(cameraId: string, fromMs: number, toMs: number): EventTimes | null {
    this.#write();
    if (this.#waiting.size > 0 || this.#db.memory) return null;
    return this.#try(() => {
      const filter = { cameraIds: new Set([cameraId]), types: recordedTypes, labels: null };
      const bounds = { fromMs, toMs, count: MAX_TIMES };
      const events = this.#tables.keys.lists(filter).flatMap((list) => this.#tables.times(list, bounds));
      const isTooMany = events.length >= MAX_TIMES;
      const sinceMs = Math.max(this.#tables.known().sinceMs, this.#lostMs);
      return { events: isTooMany ? [{ fromMs, toMs }] : events, sinceMs };
    }, null);
  }

  /** The camera is deleted: its events are nobody's at once. */
  forgetCamera(cameraId: string): void {
    this.#write();
    this.#try(() => {
      const hasProtected = this.#tables.protected().some((event) => event.cameraId === cameraId);
      this.#tables.keys.orphan(cameraId);
      if (hasProtected) this.#copyProtected();
    }, undefined);
    this.#isProtectedStale = true;
  }

  /** Takes a bounded step towards what is to be kept; whether there is more to do. */
  prune(rules: PruneRules): boolean {
    this.#write();
    return this.#try(() => this.#pruning.step(rules), false);
  }

  /** Writes what waits, for whoever is about to tell others of it. */
  flush(): void {
    this.#write();
  }

  /** Writes what waits and closes the file. */
  stop(): void {
    this.#looking.cancel();
    this.#write();
    if (this.#db.open) this.#db.close();
  }

  /** Null: there is none; undefined: the disk doesn't say. */
  #read(id: number): KeptEvent | null | undefined {
    return this.#waiting.events.get(id) ?? this.#try(() => this.#tables.find(id), undefined);
  }

  #apply(before: KeptEvent, changes: EventChanges): void {
    const { toMs = before.toMs } = changes;
    const event = {
      ...before,
      ...changes,
      score: rounded(changes.score ?? before.score),
      toMs: toMs === null ? null : Math.max(Math.round(toMs), before.fromMs),
    };
    this.#put(event);
    this.changed.emit(event, { ...changes, ...('toMs' in changes ? { toMs: event.toMs } : {}) });
  }

  #put(event: KeptEvent): void {
    if (event.isProtected) this.#isProtectedStale = true;
    this.#writeSoon(this.#waiting.put(event));
  }

  /** What waits is written soon; not all of it where there was too much. */
  #writeSoon(isAllKept: boolean): void {
    if (!isAllKept) this.#lostMs = Math.round(this.#deps.clock.wallMs());
    this.#writing ??= this.#deps.clock.after(WRITE_AFTER_MS, () => this.#write());
  }

  /** What became of events that could not be read then. */
  #changeLate(): void {
    for (const [id, changes] of [...this.#waiting.changes]) {
      const before = this.#read(id);
      if (before === undefined) return;
      this.#waiting.forgetChange(id);
      if (before !== null) this.#apply(before, changes);
    }
  }

  #copyProtected(): void {
    if (!this.#db.memory) this.#deps.protectedMemory?.store(JSON.stringify(this.#tables.protected()));
  }

  /** What was protected is there again, though the database that had it is lost. */
  #putBack(): void {
    const lost = protectedIn(this.#deps.protectedMemory?.stored() ?? null);
    this.#try(() => {
      const missing = lost.filter(({ id }) => this.#tables.find(id) === null);
      if (missing.length > 0) this.#tables.putAll(missing);
    }, undefined);
  }

  /** A file that could not be opened may be well again; what happened meanwhile is written to it. */
  #leaveMemory(): void {
    const { clock, log } = this.#deps;
    const file = reopenEventDatabase(this.#path, { log, nowMs: clock.wallMs() });
    if (file === null) return;
    log.info('the database of events can be used again');
    const kept = this.#tables.newestEvents(MAX_WAITING);
    this.#db.close();
    this.#db = file.db;
    this.#use(file.tables);
    this.#fileNumber = fileNumberOf(this.#path, null);
    this.#isProtectedStale = true;
    this.#putBack();
    for (const event of kept.reverse()) if (this.#tables.find(event.id) === null) this.#put(event);
    this.#write();
    this.#lastId = Math.max(this.#lastId, file.lastId);
  }

  #readProtected(): void {
    this.#protected = this.#tables.protected().map(({ cameraId, fromMs, toMs }) => ({
      cameraId,
      fromMs: fromMs - MARGIN_MS,
      // One that goes on isn't to keep all that is yet to be recorded.
      toMs: (toMs ?? fromMs + MAX_OPEN_MS) + MARGIN_MS,
    }));
    this.#isProtectedStale = false;
  }

  /** All that waits; what the disk refuses waits on. */
  #write(): void {
    this.#writing?.cancel();
    this.#writing = null;
    if (this.#waiting.size === 0) return;
    this.#changeLate();
    try {
      this.#tables.putAll(this.#waiting.events.values(), this.#lostMs);
      this.#waiting.clear();
      this.#isFailing = false;
    } catch (fault) {
      this.#onFault(fault);
    }
  }

  /** Looks whether the file is there still, and tries again what could not be written. */
  #look(): void {
    if (this.#db.memory) this.#try(() => this.#leaveMemory(), undefined);
    else if (fileNumberOf(this.#path, this.#fileNumber) !== this.#fileNumber)
      this.#reopen('the database of events is gone: it is begun anew', openEventDatabase);
    this.#write();
    this.#try(() => this.#tables.setAlive(this.#deps.clock.wallMs()), undefined);
  }

  #try<Value>(work: () => Value, otherwise: Value): Value {
    try {
      return work();
    } catch (fault) {
      this.#onFault(fault);
      return otherwise;
    }
  }

  #ask<Value>(work: () => Value): Value {
    try {
      return work();
    } catch (fault) {
      if (!isEnvironmental(fault)) throw fault;
      this.#onFault(fault);
      throw storeError('database_unavailable', `the database of events can't be used: ${fault.message}`, {
        cause: fault,
      });
    }
  }

  /** A file that is broken is begun anew at once; of all else the log tells once. */
  #onFault(fault: unknown): void {
    if (isBrokenFile(fault)) {
      const why = `the database of events is broken: it is moved aside, and begun anew: ${messageOf(fault)}`;
      this.#reopen(why, replaceEventDatabase);
      return;
    }
    if (!this.#isFailing) this.#deps.log.error('events could not be kept', { reason: messageOf(fault) });
    this.#isFailing = true;
    // What it knows of keys may not have come to be.
    try {
      this.#use(new EventTables(this.#db));
    } catch {
      // It is tried again with the next one.
    }
  }

  #use(tables: EventTables): void {
    this.#tables = tables;
    this.#pages = new EventPages(tables);
    this.#pruning = new Pruning(this.#db, tables);
  }

  #reopen(why: string, open: typeof openEventDatabase): void {
    this.#deps.log.warn(why);
    try {
      this.#db.close();
      const { db, tables, lastId } = open(this.#path, {
        log: this.#deps.log,
        // What went on is told of no more.
        nowMs: this.#deps.clock.wallMs() + MAX_LEFT_MS,
      });
      this.#db = db;
      this.#use(tables);
      this.#lastId = Math.max(this.#lastId, lastId);
      this.#fileNumber = fileNumberOf(this.#path, null);
      this.#isProtectedStale = true;
      this.#putBack();
    } catch (fault) {
      this.#deps.log.error('events could not be kept', { reason: messageOf(fault) });
    }
  }
}
