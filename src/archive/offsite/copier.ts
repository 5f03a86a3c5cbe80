import { join } from 'node:path';
import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { S3Client } from '../../s3/s3-client.js';
import { closedName } from '../files/file-name.js';
import { KnownNames } from '../files/known-names.js';
import { EraOrder } from '../keep/clock-eras.js';
import { Absences } from './absences.js';
import { Backlog, type Due, dueKey } from './backlog.js';
import { RecordingCopier } from './copy-recording.js';
import { CopyTable } from './copy-table.js';
import { Departures } from './departures.js';
import { DiskLeaver } from './disk-leaver.js';
import { faultWords, isOfNotes } from './fault-words.js';
import type { CopyExpiry, CopyState, Held, Partly, Unwanted } from './messages.js';
import { Notes } from './notes.js';
import { parseObjectName } from './object-name.js';
import { OtherCopies } from './other-copies.js';
import { OtherLists } from './other-lists.js';
import { Outbox } from './outbox.js';
import type { Pacer } from './pacer.js';
import { Patience } from './patience.js';
import { Rest } from './rest.js';
import { FileSender } from './send-file.js';
import { isOfStore, judged, mayBeItsOwn, StoreHealth } from './store-health.js';
import { StoreLists } from './store-lists.js';

export type CopierOptions = {
  readonly archiveDir: string;
  readonly copiesDir: string;
  readonly box: string;
  /** Other boxes of a cluster put recordings there, too. */
  readonly isShared?: boolean;
  readonly partBytes?: number;
};

export type CopierDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly client: S3Client;
  readonly pacer: Pacer;
  /** Whether the folder of all recordings is there. */
  readonly isThere: () => Promise<boolean>;
  readonly onState: (state: CopyState) => void;
  /** By which claim its camera was held when a recording began; unless it is given this box is alone. */
  readonly epochOf?: (cameraId: string, startMs: number) => Promise<number>;
};

const PART_BYTES = 16 << 20;
const LOOK_MS = 15_000;
const STATE_MS = 1_000;
/** What can't be copied now is left alone for so long, and longer each time. */
const FIRST_SKIP_MS = 60_000;
const LONGEST_SKIP_MS = 6 * 3_600_000;
/** What is deleted on the disk goes there first: else it would be copied once more. */
const LEAVE_MS = 60_000;
/** What no object's name begins with, since no camera's id does. A list, since of one object a store says the same where there is no such bucket. */
const PROBE = '.probe/';
/** No camera's id, and no recording's key. */
const LEAVING = '';

/** Copies closed recordings into the store, the oldest first, and deletes there what is to be deleted. */
export class Copier {
  readonly #deps: CopierDeps;
  readonly #copiesDir: string;
  readonly #names: KnownNames;
  readonly #backlog = new Backlog();
  readonly #sender: FileSender;
  readonly #outbox: Outbox;
  readonly #notes: Notes;
  readonly #departures: Departures;
  readonly #leaver: DiskLeaver;
  readonly #lists: StoreLists;
  readonly #others: OtherCopies;
  /** Null: this box is alone. */
  readonly #otherLists: OtherLists | null;
  readonly #recordings: RecordingCopier;
  readonly #health: StoreHealth;
  readonly #patience = new Patience(FIRST_SKIP_MS, LONGEST_SKIP_MS);
  readonly #ending = new AbortController();
  readonly #rest: Rest;
  readonly #counts = { copied: 0, copiedBytes: 0 };
  #skipped = 0;
  #isHeldKnown = false;
  /** Of the last one that couldn't be copied for reasons of its own, until one was; null: none. */
  #fileFault: string | null = null;
  /** Before the first look there is nothing to tell. */
  #isDirty = false;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;

  constructor(options: CopierOptions, deps: CopierDeps) {
    this.#deps = deps;
    const { archiveDir, copiesDir } = options;
    this.#copiesDir = copiesDir;
    const { client, log, clock } = deps;
    const nowMs = (): number => clock.monotonicMs();
    this.#rest = new Rest(clock);
    this.#names = new KnownNames(archiveDir);
    this.#notes = new Notes(copiesDir, { nowMs, leaveMs: LEAVE_MS });
    this.#outbox = new Outbox(join(copiesDir, 'outbox.json'), () => {
      log.error('what was on its way to the store can not be told any more: it is asked what it has');
      this.#notes.doubtAll();
    });
    this.#others = new OtherCopies(copiesDir, { nowMs, leaveMs: LEAVE_MS });
    const others = this.#others;
    const isOwn = (cameraId: string, box: string): boolean => this.#isOwn(options, cameraId, box);
    const [names, notes, outbox] = [this.#names, this.#notes, this.#outbox];
    this.#health = new StoreHealth(log, () => {
      this.#departures.lookForOrphans();
      this.#isDirty = true;
      this.#tellState();
    });
    this.#departures = new Departures(options, {
      ...{ client, log, nowMs, notes, outbox, others },
      absences: new Absences(join(copiesDir, 'absences.json'), nowMs),
      wallMs: () => clock.wallMs(),
      onChange: (cameraId) => this.#backlog.forget(cameraId),
    });
    const [departures, patience] = [this.#departures, this.#patience];
    this.#leaver = new DiskLeaver(archiveDir, {
      ...{ client, log, nowMs, names, notes, isThere: deps.isThere, backlog: this.#backlog },
      judge: (fault, signal) => this.#judge(fault, signal),
    });
    this.#lists = new StoreLists({
      ...{ client, nowMs, notes, outbox, departures, patience, others, isOwn },
    });
    const wallMs = (): number => clock.wallMs();
    this.#otherLists =
      options.isShared === true ? new OtherLists({ client, nowMs, wallMs, others, departures, isOwn }) : null;
    this.#sender = new FileSender({
      ...{ client, outbox },
      partBytes: options.partBytes ?? PART_BYTES,
      onSent: () => this.#health.recover(),
      pace: async (bytes, signal) => {
        await deps.pacer.pace(bytes, signal);
        this.#counts.copiedBytes += bytes;
        this.#isDirty = true;
      },
    });
    const sender = this.#sender;
    this.#recordings = new RecordingCopier(options, {
      ...{ client, clock, sender, notes, outbox, departures },
      epochOf: deps.epochOf ?? (async () => 0),
    });
  }

  /**
   * Whether what has a box's name was put there by this one. A box that is alone may have had another name; of several it is
   * theirs, but for what is written as this one's own.
   */
  #isOwn({ box, isShared = false }: CopierOptions, cameraId: string, name: string): boolean {
    if (name === box) return true;
    if (this.#others.has(name)) return false;
    return !isShared || this.#notes.read(cameraId)?.boxes.includes(name) === true;
  }

  start(): void {
    this.#timer = this.#deps.clock.every(STATE_MS, () => this.#tellState());
    this.#running = this.#run();
  }

  /** What is on its way is broken off; the next run goes on with it. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#ending.abort(new Error('the service is stopping'));
    this.#rest.end();
    await this.#running;
    this.#deps.client.close();
  }

  hold(held: Held): void {
    this.#backlog.held = held;
    this.#isHeldKnown = true;
    this.look();
  }

  look(): void {
    this.#rest.wake();
  }

  /** The store may be away: it is asked, also if nothing is to be copied. */
  doubt(): void {
    this.#health.doubt();
    this.#isDirty = true;
    this.look();
  }

  /** What other boxes are known to have put there of a camera isn't so. */
  relist(cameraId: string): void {
    this.#otherLists?.again(cameraId);
    this.look();
  }

  /** They are no recordings any more, and will be deleted in the store; how many of them are known. */
  forget(cameraId: string, unwanted: Unwanted): number {
    this.#isDirty = true;
    return this.#departures.forget(cameraId, unwanted);
  }

  /** The same of all that is older than its camera keeps it. */
  expire(expiry: CopyExpiry): void {
    const { cameraIds, eras, localBeforeMs } = expiry;
    for (const cameraId of cameraIds) if (!this.#notes.kept.has(cameraId)) this.#lists.want(cameraId);
    this.#otherLists?.know(cameraIds);
    const hasTold = this.#leaver.begin(localBeforeMs, new EraOrder(eras), this.#notes.kept.keys());
    // Those come first now.
    if (hasTold) this.#patience.forget(LEAVING);
    this.#isDirty = true;
    this.#departures.expire(expiry);
    this.#departures.removeBare(new Set(cameraIds));
    this.look();
  }

  /** Those of which pieces in the store have all that is kept will be deleted there. */
  replace(cameraId: string, wholes: readonly Partly[]): void {
    this.#isDirty = true;
    this.#departures.replace(cameraId, wholes);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const canWork = this.#isHeldKnown && (await this.#deps.isThere());
        if (canWork && (await this.#step())) continue;
        this.#tellState();
        await this.#rest.for(Math.min(LOOK_MS, this.#otherLists?.restMs ?? LOOK_MS), { mayBeWoken: true });
      } catch (fault) {
        if (signal.aborted) return;
        const restMs = this.#health.onFault(fault);
        this.#isDirty = true;
        this.#tellState();
        await this.#rest.for(restMs, { mayBeWoken: false });
      }
    }
  }

  /** One piece of work; false: there is nothing to do now. */
  async #step(): Promise<boolean> {
    const { signal } = this.#ending;
    this.#update();
    this.#isDirty = true;
    const isMoreToGo = await this.#departures.step(signal);
    if (await this.#list(signal)) return true;
    if (await this.#otherLists?.step(signal)) this.#health.recover();
    // However many leave the disk, what is to be copied has its turn.
    const hasLeft = await this.#leave(signal);
    if (hasLeft) this.#update();
    const nowMs = this.#deps.clock.monotonicMs();
    const due = this.#backlog.next(nowMs, (cameraId) => !this.#patience.isWaiting(cameraId, nowMs));
    if (due === null) {
      if (hasLeft) return true;
      this.#sender.rest();
      if (!this.#health.isUp) await this.#probe(signal);
      return isMoreToGo;
    }
    const { cameraId, startMs, endMs } = due;
    if (this.#notes.read(cameraId) === null) this.#lists.want(cameraId);
    // It goes from the disk as soon as that lets it.
    else if (this.#departures.isDue(cameraId, startMs, endMs)) this.#backlog.drop(due);
    else await this.#attempt(due, signal);
    return true;
  }

  #update(): void {
    this.#backlog.update(this.#names.look(), (cameraId) => this.#notes.read(cameraId) ?? CopyTable.empty);
  }

  /** Nothing is to be copied: whether anything could be shows by a question alone. */
  async #probe(signal: AbortSignal): Promise<void> {
    await this.#deps.client.list(PROBE, { signal });
    this.#health.recover();
  }

  /** Be it away, or have trouble with one object alone. */
  #judge(fault: unknown, signal: AbortSignal): Promise<unknown> {
    return judged(fault, () => this.#deps.client.list(PROBE, { signal }));
  }

  /** Whether there was a camera of which the store was to be asked. */
  async #list(signal: AbortSignal): Promise<boolean> {
    const listed = await this.#lists.step(signal);
    if (listed === null) return false;
    this.#health.recover();
    this.#backlog.forget(listed);
    return true;
  }

  /** Takes some from the disk; whether there may be more. Where the store doesn't tell of one, none leaves, and others are copied. */
  async #leave(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#deps;
    if (this.#patience.isWaiting(LEAVING, clock.monotonicMs())) return false;
    try {
      const changed = await this.#leaver.step(signal);
      this.#patience.forget(LEAVING);
      if (changed !== null) this.#backlog.forget(changed);
      return changed !== null;
    } catch (fault) {
      if (signal.aborted || (isOfStore(fault) && !mayBeItsOwn(fault))) throw fault;
      // From now, however long the store took: before the one that failed may be tried again, nothing would be due.
      this.#patience.fail(LEAVING, clock.monotonicMs());
      this.#deps.log.warn('recordings do not leave the disk now', { reason: messageOf(fault) });
      return false;
    }
  }

  /** What the store doesn't want, or the disk doesn't give, may be just this one: others are to have their turn. */
  async #attempt(due: Due, signal: AbortSignal): Promise<void> {
    const key = dueKey(due);
    try {
      const outcome = await this.#recordings.copy(due, signal);
      this.#patience.forget(key);
      if (typeof outcome === 'object') return this.#backlog.skip(due, outcome.untilMs);
      this.#backlog.drop(due);
      if (outcome === 'gone') return;
      this.#fileFault = null;
      this.#health.recover();
      this.#counts.copied += 1;
    } catch (thrown) {
      const fault = await this.#judge(thrown, signal);
      if (signal.aborted || (isOfStore(fault) && !mayBeItsOwn(fault))) throw fault;
      // Where nothing went well since another one failed it may be the store that fails.
      const nowMs = this.#deps.clock.monotonicMs();
      this.#backlog.skip(due, this.#patience.fail(key, nowMs, !this.#health.hasGoneOn));
      this.#health.hasGoneOn = false;
      if (isOfStore(fault)) {
        // What had trouble goes on where it was.
        if (fault === thrown) this.#abandon(due);
        throw fault;
      }
      // Where nothing can be written down nothing can be copied.
      if (isOfNotes(fault, this.#copiesDir)) throw fault;
      this.#tellSkipped(due, fault);
    }
  }

  /** Refused once, it would be refused again as it is. */
  #abandon({ cameraId, ...times }: Due): void {
    for (const { object } of this.#outbox.sendings) {
      const name = parseObjectName(object);
      const { startMs, endMs } = name?.recording ?? {};
      if (name?.cameraId === cameraId && startMs === times.startMs && endMs === times.endMs)
        this.#outbox.abandon(object);
    }
  }

  #tellSkipped(due: Due, fault: unknown): void {
    this.#skipped += 1;
    // Once, not for each of a disk's.
    if (this.#fileFault === null)
      this.#deps.log.warn('a recording can not be copied to the store now', {
        camera_id: due.cameraId,
        file: closedName(due.startMs, due.endMs),
        reason: messageOf(fault),
      });
    this.#fileFault = faultWords(fault);
  }

  #tellState(): void {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const kept = new Map(this.#notes.kept);
    for (const cameraId of kept.keys()) kept.set(cameraId, kept.get(cameraId)! + this.#others.kept(cameraId));
    // What may be there is kept, too.
    for (const { object } of this.#outbox.sendings) {
      const cameraId = parseObjectName(object)?.cameraId;
      if (cameraId !== undefined) kept.set(cameraId, (kept.get(cameraId) ?? 0) + 1);
    }
    const { fault, isAway, isUp, failed } = this.#health;
    const backlog = this.#backlog.total();
    this.#deps.onState({
      ...this.#counts,
      ...backlog,
      ...{ fault, isAway, isUp, fileFault: backlog.waiting === 0 ? null : this.#fileFault },
      failed: failed + this.#skipped + this.#departures.failed,
      deleted: this.#departures.deleted,
      deletionFault: this.#departures.fault,
      kept: Object.fromEntries(kept),
      otherBoxes: this.#others.boxes,
    });
  }
}
