import { closeSync, fstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { isS3Error, s3Error } from '../../s3/errors.js';
import type { S3Client } from '../../s3/s3-client.js';
import { closedName } from '../files/file-name.js';
import { KnownNames } from '../files/known-names.js';
import { openRegular } from '../files/regular-file.js';
import { type FileStamp, isSameStamp, statFile } from '../files/scan-folder.js';
import { sidecarName } from '../files/sidecar-name.js';
import { EraOrder } from '../keep/clock-eras.js';
import { inspectFiles } from '../list/inspect-files.js';
import { Backlog, type Due, dueKey, nameOf } from './backlog.js';
import { type Copy, keyOf, markOf } from './copies.js';
import { Departures } from './departures.js';
import { DiskLeaver } from './disk-leaver.js';
import { faultWords } from './fault-words.js';
import { findCopies } from './find-copies.js';
import type { CopyExpiry, CopyState, Held, Unwanted } from './messages.js';
import { Notes } from './notes.js';
import { objectName, parseObjectName, sidecarObject } from './object-name.js';
import { Outbox } from './outbox.js';
import type { Pacer } from './pacer.js';
import { Patience } from './patience.js';
import { FileSender, type SentFile, TAKEN } from './send-file.js';
import { sourceOf } from './source.js';

export type CopierOptions = {
  readonly archiveDir: string;
  readonly copiesDir: string;
  readonly box: string;
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
};

const PART_BYTES = 16 << 20;
/** What was closed may get detections of its last seconds still. */
const SETTLED_MS = 60_000;
const LOOK_MS = 15_000;
const STATE_MS = 1_000;
/** After the first fault of the store; then twice as long each time. */
const FIRST_REST_MS = 2_000;
const LONGEST_REST_MS = 120_000;
/** What can't be copied now is left alone for so long, and longer each time. */
const FIRST_SKIP_MS = 60_000;
const LONGEST_SKIP_MS = 6 * 3_600_000;
/** What is deleted on the disk goes there first: else it would be copied once more. */
const LEAVE_MS = 60_000;
const MOST_EPOCHS = 10;
/** No object's name: nothing is there. */
const PROBE = 'probe';
/** No camera's id, and no recording's key. */
const LEAVING = '';

const isOfStore = (fault: unknown): boolean => fault instanceof AppError && fault.code.startsWith('s3_');

/** It may be this very file that the store doesn't want. */
const mayBeItsOwn = (fault: unknown): boolean =>
  isOfStore(fault) && !isS3Error(fault, 's3_unavailable') && !isS3Error(fault, 's3_clock');

const stampOf = (fd: number): FileStamp => {
  const { ino, size: sizeBytes, mtimeMs, ctimeMs } = fstatSync(fd);
  return { ino, sizeBytes, mtimeMs, ctimeMs };
};

/** A recording that is copied. */
type Opened = {
  readonly folder: string;
  readonly fileName: string;
  readonly fd: number;
  readonly stamp: FileStamp;
};

/** Copies closed recordings into the store, the oldest first, and deletes there what is to be deleted. */
export class Copier {
  readonly #options: CopierOptions;
  readonly #deps: CopierDeps;
  readonly #names: KnownNames;
  readonly #backlog = new Backlog();
  readonly #sender: FileSender;
  readonly #outbox: Outbox;
  readonly #notes: Notes;
  readonly #departures: Departures;
  readonly #leaver: DiskLeaver;
  readonly #patience = new Patience(FIRST_SKIP_MS, LONGEST_SKIP_MS);
  readonly #ending = new AbortController();
  /** Cameras of which it must be known what the store has. */
  readonly #unlisted = new Set<string>();
  readonly #counts = { copied: 0, copiedBytes: 0, failed: 0 };
  #fault: string | null = null;
  /** The same as the log has it. */
  #said: string | null = null;
  #isUp = false;
  #restMs = FIRST_REST_MS;
  #isHeldKnown = false;
  #isFileFailing = false;
  /** The store has taken something since a file failed. */
  #hasGoneOn = true;
  /** Before the first look there is nothing to tell. */
  #isDirty = false;
  #wake: () => void = () => {};
  #isWoken = false;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;

  constructor(options: CopierOptions, deps: CopierDeps) {
    this.#options = options;
    this.#deps = deps;
    const { archiveDir, copiesDir } = options;
    const { client, log, clock } = deps;
    const nowMs = (): number => clock.monotonicMs();
    this.#names = new KnownNames(archiveDir);
    this.#notes = new Notes(copiesDir, { nowMs, leaveMs: LEAVE_MS });
    this.#outbox = new Outbox(join(copiesDir, 'outbox.json'));
    const [names, notes, outbox] = [this.#names, this.#notes, this.#outbox];
    this.#departures = new Departures(options, {
      ...{ client, log, nowMs, names, notes, outbox },
      onChange: (cameraId) => this.#backlog.forget(cameraId),
    });
    this.#leaver = new DiskLeaver(archiveDir, {
      ...{ client, log, names, isThere: deps.isThere },
      read: (cameraId) => notes.read(cameraId) ?? [],
      write: (cameraId, copies) => notes.write(cameraId, copies),
      unwant: (object, stamp) =>
        outbox.set({ object, source: sourceOf(stamp), uploadId: null, parts: {}, isUnwanted: true }),
    });
    this.#sender = new FileSender({
      ...{ client, outbox },
      partBytes: options.partBytes ?? PART_BYTES,
      onSent: () => this.#recover(),
      pace: async (bytes, signal) => {
        await deps.pacer.pace(bytes, signal);
        this.#counts.copiedBytes += bytes;
        this.#isDirty = true;
      },
    });
  }

  start(): void {
    this.#timer = this.#deps.clock.every(STATE_MS, () => this.#tellState());
    this.#running = this.#run();
  }

  /** What is on its way is broken off; the next run goes on with it. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#ending.abort(new Error('the service is stopping'));
    this.#wake();
    await this.#running;
    this.#deps.client.close();
  }

  hold(held: Held): void {
    this.#backlog.held = held;
    this.#isHeldKnown = true;
    this.look();
  }

  look(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** They are no recordings any more, and will be deleted in the store; how many of them are known. */
  forget(cameraId: string, unwanted: Unwanted): number {
    this.#isDirty = true;
    return this.#departures.forget(cameraId, unwanted);
  }

  /** The same of all that is older than its camera keeps it. */
  expire(expiry: CopyExpiry): void {
    const { cameraIds, eras, localBeforeMs } = expiry;
    for (const cameraId of cameraIds) if (!this.#notes.kept.has(cameraId)) this.#unlisted.add(cameraId);
    this.#leaver.begin(localBeforeMs, new EraOrder(eras), this.#notes.kept.keys());
    this.#isDirty = true;
    this.#departures.expire(expiry);
    this.#departures.removeBare(new Set(cameraIds));
    this.look();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        if (!this.#isHeldKnown || !(await this.#deps.isThere())) {
          await this.#rest(LOOK_MS, true);
          continue;
        }
        const isMore = await this.#step();
        if (!isMore) await this.#rest(LOOK_MS, true);
      } catch (fault) {
        if (signal.aborted) return;
        this.#onFault(fault);
        await this.#rest(this.#restMs * (0.75 + Math.random() / 2), false);
        this.#restMs = Math.min(this.#restMs * 2, LONGEST_REST_MS);
      }
    }
  }

  /** One piece of work; false: there is nothing to do now. */
  async #step(): Promise<boolean> {
    const { clock } = this.#deps;
    const { signal } = this.#ending;
    this.#backlog.update(this.#names.look(), (cameraId) => this.#notes.read(cameraId) ?? []);
    this.#isDirty = true;
    await this.#departures.step(signal);
    if (await this.#list(signal)) return true;
    if (await this.#leave(signal)) return true;
    const nowMs = clock.monotonicMs();
    const due = this.#backlog.next(nowMs, (cameraId) => !this.#patience.isWaiting(cameraId, nowMs));
    if (due === null) {
      this.#sender.rest();
      if (!this.#isUp) await this.#probe(signal);
      return false;
    }
    const { cameraId, startMs, endMs } = due;
    if (this.#notes.read(cameraId) === null) this.#unlisted.add(cameraId);
    // It goes from the disk as soon as that lets it.
    else if (this.#departures.isDue(cameraId, startMs, endMs)) this.#backlog.drop(due);
    else await this.#attempt(due, signal);
    return true;
  }

  /** Takes some from the disk; whether there may be more. Where the store doesn't tell of one, none leaves, and others are copied. */
  async #leave(signal: AbortSignal): Promise<boolean> {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#patience.isWaiting(LEAVING, nowMs)) return false;
    try {
      const changed = await this.#leaver.step(signal);
      this.#patience.forget(LEAVING);
      if (changed !== null) this.#backlog.forget(changed);
      return changed !== null;
    } catch (fault) {
      if (signal.aborted || !mayBeItsOwn(fault)) throw fault;
      this.#patience.fail(LEAVING, nowMs);
      this.#deps.log.warn('recordings do not leave the disk now', { reason: messageOf(fault) });
      return false;
    }
  }

  /** Nothing is to be copied: whether anything could be shows by a question alone. */
  async #probe(signal: AbortSignal): Promise<void> {
    await this.#deps.client.head(PROBE, signal);
    this.#recover();
  }

  /** Asks the store for what it has of a camera of which nothing is written; whether there was one. */
  async #list(signal: AbortSignal): Promise<boolean> {
    const { client, clock } = this.#deps;
    for (const { cameraId } of this.#outbox.wishes) this.#unlisted.add(cameraId);
    for (const { object } of this.#outbox.sendings) {
      const cameraId = parseObjectName(object)?.cameraId;
      if (cameraId !== undefined && !this.#notes.kept.has(cameraId)) this.#unlisted.add(cameraId);
    }
    const nowMs = clock.monotonicMs();
    for (const cameraId of this.#unlisted) {
      if (this.#patience.isWaiting(cameraId, nowMs)) continue;
      try {
        if (this.#notes.read(cameraId) === null)
          this.#notes.write(cameraId, await findCopies(client, cameraId, signal));
        for (const wish of this.#outbox.wishes)
          if (wish.cameraId === cameraId) this.#departures.forget(cameraId, wish);
        this.#outbox.fulfil(cameraId);
      } catch (fault) {
        if (!mayBeItsOwn(fault) && isOfStore(fault)) throw fault;
        // Others are to have their turn; the fault is told all the same.
        this.#patience.fail(cameraId, nowMs);
        throw fault;
      }
      this.#recover();
      this.#patience.forget(cameraId);
      this.#unlisted.delete(cameraId);
      this.#backlog.forget(cameraId);
      return true;
    }
    return false;
  }

  /** What the store doesn't want, or the disk doesn't give, may be just this one: others are to have their turn. */
  async #attempt(due: Due, signal: AbortSignal): Promise<void> {
    const nowMs = (): number => this.#deps.clock.monotonicMs();
    const key = dueKey(due);
    try {
      await this.#copy(due, signal);
      this.#isFileFailing = false;
      this.#patience.forget(key);
    } catch (fault) {
      if (signal.aborted || (isOfStore(fault) && !mayBeItsOwn(fault))) throw fault;
      // Where nothing went well since another one failed it may be the store that fails.
      this.#backlog.skip(due, this.#patience.fail(key, nowMs(), !this.#hasGoneOn));
      this.#hasGoneOn = false;
      if (isOfStore(fault)) {
        this.#abandon(due);
        throw fault;
      }
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

  async #copy(due: Due, signal: AbortSignal): Promise<void> {
    const { archiveDir } = this.#options;
    const { clock } = this.#deps;
    const folder = join(archiveDir, due.cameraId);
    const fileName = closedName(due.startMs, due.endMs);
    const seen = statFile({ folder, fileName });
    if (seen === null) return this.#backlog.drop(due);
    const settledMs = Math.abs(clock.wallMs() - Math.max(seen.mtimeMs, seen.ctimeMs));
    if (settledMs < SETTLED_MS) return this.#backlog.skip(due, clock.monotonicMs() + SETTLED_MS - settledMs);
    const { fd } = openRegular(join(folder, fileName));
    try {
      await this.#copyOpened(due, { folder, fileName, fd, stamp: stampOf(fd) }, signal);
    } finally {
      closeSync(fd);
    }
  }

  async #copyOpened(due: Due, opened: Opened, signal: AbortSignal): Promise<void> {
    const { client } = this.#deps;
    const { folder, fileName, fd, stamp } = opened;
    const { cameraId } = due;
    const { box } = this.#options;
    const recording = nameOf(due);
    const isUnwanted = this.#departures.watch(cameraId, fileName);
    const request = { fileName, sizeBytes: stamp.sizeBytes, fromBytes: 0 };
    const [inspection] = inspectFiles({ folder, files: [request] });
    const file: SentFile = { fd, sizeBytes: stamp.sizeBytes, source: sourceOf(stamp) };
    let epoch = 0;
    let object = '';
    let etag = TAKEN;
    for (; etag === TAKEN && epoch < MOST_EPOCHS; epoch += 1) {
      object = objectName({ cameraId, recording, epoch, box });
      etag = await this.#sender.send(object, file, signal);
    }
    if (etag === TAKEN) throw s3Error('s3_refused', 'the store has other objects of its name');
    const sidecarBytes = await this.#sendSidecar(object, folder, due, signal);
    const there = await client.head(object, signal);
    if (there?.bytes !== stamp.sizeBytes || there.etag !== etag) {
      this.#unwant(object);
      throw s3Error('s3_damaged', 'what the store has is not what was sent');
    }
    this.#backlog.drop(due);
    if (this.#isNoMore(due, opened, isUnwanted())) return this.#unwant(object);
    this.#note(cameraId, {
      ...{ recording, stamp, inspection: inspection!, sizeBytes: stamp.sizeBytes, mark: markOf(etag) },
      ...{ sidecarBytes, epoch: epoch - 1, box, isLeaving: false },
    });
    this.#outbox.remove(object);
    this.#recover();
    this.#counts.copied += 1;
  }

  /** It goes before anything else is copied. */
  #unwant(object: string): void {
    const sending = this.#outbox.of(object);
    if (sending !== null) this.#outbox.set({ ...sending, isUnwanted: true });
  }

  /** Whether what was sent is no recording any more. One that the disk lost for want of space is. */
  #isNoMore({ cameraId, startMs, endMs }: Due, { folder, fileName, fd, stamp }: Opened, isUnwanted: boolean) {
    if (isUnwanted || this.#departures.isDue(cameraId, startMs, endMs)) return true;
    const now = statFile({ folder, fileName });
    // By another name it has its own turn.
    return now === null ? fstatSync(fd).nlink > 0 : !isSameStamp(now, stamp);
  }

  /** What was seen in it, beside it; how long that is. */
  async #sendSidecar(object: string, folder: string, { startMs }: Due, signal: AbortSignal): Promise<number> {
    const fileName = sidecarName(startMs);
    if ((statFile({ folder, fileName })?.sizeBytes ?? 0) === 0) return 0;
    const { fd } = openRegular(join(folder, fileName));
    try {
      const stamp = stampOf(fd);
      const { sizeBytes } = stamp;
      await this.#sender.sendBeside(
        sidecarObject(object),
        { fd, sizeBytes, source: sourceOf(stamp) },
        signal,
      );
      return sizeBytes;
    } finally {
      closeSync(fd);
    }
  }

  #note(cameraId: string, copy: Copy): void {
    const others = (this.#notes.read(cameraId) ?? []).filter((other) => keyOf(other) !== keyOf(copy));
    this.#notes.write(
      cameraId,
      [...others, copy].sort((a, b) => a.recording.startMs - b.recording.startMs),
    );
    this.#isDirty = true;
  }

  #tellSkipped(due: Due, fault: unknown): void {
    this.#counts.failed += 1;
    // Once, not for each of a disk's.
    if (!this.#isFileFailing)
      this.#deps.log.warn('a recording can not be copied to the store now', {
        camera_id: due.cameraId,
        file: closedName(due.startMs, due.endMs),
        reason: messageOf(fault),
      });
    this.#isFileFailing = true;
  }

  #onFault(fault: unknown): void {
    this.#counts.failed += 1;
    const reason = messageOf(fault);
    if (this.#said !== reason) this.#deps.log.warn('recordings are not copied to the store now', { reason });
    this.#said = reason;
    this.#fault = faultWords(fault);
    this.#isUp = false;
    this.#isDirty = true;
  }

  #recover(): void {
    this.#restMs = FIRST_REST_MS;
    this.#hasGoneOn = true;
    if (this.#isUp) return;
    this.#isUp = true;
    if (this.#fault !== null) this.#deps.log.info('recordings are copied to the store again');
    this.#fault = null;
    this.#said = null;
    this.#isDirty = true;
    this.#tellState();
  }

  /** Until there may be more to do, or the time is over. */
  #rest(ms: number, mayBeWoken: boolean): Promise<void> {
    this.#tellState();
    if (this.#ending.signal.aborted || (mayBeWoken && this.#isWoken)) {
      this.#isWoken = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const timer = this.#deps.clock.after(ms, () => end());
      const end = (): void => {
        timer.cancel();
        this.#isWoken = false;
        this.#wake = () => {};
        resolve();
      };
      this.#wake = () => {
        if (mayBeWoken || this.#ending.signal.aborted) end();
      };
    });
  }

  #tellState(): void {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const kept = new Map(this.#notes.kept);
    // What may be there is kept, too.
    for (const { object } of this.#outbox.sendings) {
      const cameraId = parseObjectName(object)?.cameraId;
      if (cameraId !== undefined) kept.set(cameraId, (kept.get(cameraId) ?? 0) + 1);
    }
    this.#deps.onState({
      ...this.#counts,
      ...this.#backlog.total(),
      failed: this.#counts.failed + this.#departures.failed,
      deleted: this.#departures.deleted,
      fault: this.#fault,
      deletionFault: this.#departures.fault,
      isUp: this.#isUp,
      kept: Object.fromEntries(kept),
    });
  }
}
