import { closeSync, existsSync } from 'node:fs';
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
import { protectionBy } from '../keep/delete-files.js';
import { inspectFiles } from '../list/inspect-files.js';
import { Backlog, type Due, nameOf } from './backlog.js';
import {
  type Copy,
  camerasWithCopies,
  copiesPath,
  keyOf,
  markOf,
  readCopies,
  removeCopies,
  writeCopies,
} from './copies.js';
import { DiskLeaver } from './disk-leaver.js';
import { findCopies } from './find-copies.js';
import type { CopyExpiry, CopyState, Held } from './messages.js';
import { objectName, objectOf, parseObjectName, sidecarObject } from './object-name.js';
import type { Pacer } from './pacer.js';
import { FileSender, type SentFile, TAKEN } from './send-file.js';
import { Unfinished } from './unfinished.js';

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
/** A file that can't be read is left alone for so long. */
const SKIP_MS = 600_000;
/** What is deleted on the disk goes there first: else it would be copied once more. */
const LEAVE_MS = 60_000;
const MOST_EPOCHS = 10;
/** Objects that go before it is written that they did. */
const DELETED_AT_ONCE = 64;

const sourceOf = ({ ino, sizeBytes, mtimeMs, ctimeMs }: FileStamp): string =>
  [ino, sizeBytes, mtimeMs, ctimeMs].join(' ');

const isOfStore = (fault: unknown): boolean => fault instanceof AppError && fault.code.startsWith('s3_');

/** Copies closed recordings into the store, the oldest first, and deletes there what is to be deleted. */
export class Copier {
  readonly #options: CopierOptions;
  readonly #deps: CopierDeps;
  readonly #names: KnownNames;
  readonly #backlog = new Backlog();
  readonly #sender: FileSender;
  readonly #unfinished: Unfinished;
  readonly #leaver: DiskLeaver;
  readonly #ending = new AbortController();
  /** Recordings in the store, by camera, without those that are to be deleted there. */
  readonly #kept = new Map<string, number>();
  /** Cameras of which something is to be deleted there, and from when on. */
  readonly #leaving = new Map<string, number>();
  readonly #counts = { copied: 0, copiedBytes: 0, deleted: 0, failed: 0 };
  #fault: string | null = null;
  #restMs = FIRST_REST_MS;
  #isHeldKnown = false;
  #isFileFailing = false;
  #areOrphansGone = false;
  /** Before the first look there is nothing to tell. */
  #isDirty = false;
  #wake: () => void = () => {};
  #isWoken = false;
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;

  constructor(options: CopierOptions, deps: CopierDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#names = new KnownNames(options.archiveDir);
    this.#unfinished = new Unfinished(join(options.copiesDir, 'upload.json'));
    this.#leaver = new DiskLeaver(options.archiveDir, {
      ...{ client: deps.client, log: deps.log, names: this.#names, isThere: deps.isThere },
      read: (cameraId) => this.#read(cameraId) ?? [],
      write: (cameraId, copies) => this.#write(cameraId, copies),
    });
    this.#sender = new FileSender({
      client: deps.client,
      unfinished: this.#unfinished,
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
    for (const cameraId of camerasWithCopies(this.#options.copiesDir))
      this.#count(cameraId, this.#read(cameraId) ?? []);
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

  /** They are no recordings any more, and will be deleted in the store; how many of them there are. */
  forget(cameraId: string, fileNames: readonly string[]): number {
    const wanted = new Set(fileNames);
    return this.#leave(cameraId, ({ recording }) =>
      wanted.has(closedName(recording.startMs, recording.endMs ?? recording.startMs)),
    );
  }

  /** The same of all that is older than its camera keeps it. */
  expire({ limits, eras, spared, localBeforeMs }: CopyExpiry): void {
    const order = new EraOrder(eras);
    this.#leaver.begin(localBeforeMs, order, this.#kept.keys());
    const isProtected = protectionBy(spared);
    for (const { cameraId, beforeMs } of limits) {
      if ((this.#kept.get(cameraId) ?? 0) === 0) continue;
      const isPurged = beforeMs === Number.POSITIVE_INFINITY;
      this.#leave(cameraId, ({ recording }) => {
        const { startMs, endMs } = recording;
        if (!(order.rightEndMs(endMs ?? startMs) < beforeMs)) return false;
        return isPurged || !isProtected({ cameraId, fileName: closedName(startMs, endMs ?? startMs) });
      });
    }
    this.look();
  }

  #leave(cameraId: string, isGoing: (copy: Copy) => boolean): number {
    const copies = this.#read(cameraId) ?? [];
    let count = 0;
    const marked = copies.map((copy) => {
      if (copy.isLeaving || !isGoing(copy)) return copy;
      count += 1;
      return { ...copy, isLeaving: true };
    });
    if (count === 0) return 0;
    this.#write(cameraId, marked);
    this.#leaving.set(cameraId, this.#deps.clock.monotonicMs() + LEAVE_MS);
    return count;
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
        this.#recover();
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
    this.#backlog.update(this.#names.look(), (cameraId) => {
      const copies = this.#read(cameraId) ?? [];
      this.#count(cameraId, copies);
      return copies;
    });
    this.#isDirty = true;
    await this.#endOrphans(signal);
    const nowMs = clock.monotonicMs();
    for (const [cameraId, fromMs] of this.#leaving)
      if (fromMs <= nowMs) await this.#deleteLeaving(cameraId, signal);
    const changed = await this.#leaver.step(signal);
    if (changed !== null) {
      this.#backlog.forget(changed);
      return true;
    }
    const due = this.#backlog.next(nowMs);
    if (due === null) {
      this.#sender.rest();
      return false;
    }
    if (this.#read(due.cameraId) === null) {
      this.#write(due.cameraId, await findCopies(this.#deps.client, due.cameraId, signal));
      this.#backlog.forget(due.cameraId);
      return true;
    }
    try {
      await this.#copy(due, signal);
      this.#isFileFailing = false;
    } catch (fault) {
      // What the store doesn't want may be just this one: others are to have their turn.
      if (isOfStore(fault) && !isS3Error(fault, 's3_unavailable'))
        this.#backlog.skip(due, clock.monotonicMs() + SKIP_MS);
      if (isOfStore(fault) || signal.aborted) throw fault;
      this.#skip(due, fault);
    }
    return true;
  }

  /** Begun by a run that was killed before it could remember that. */
  async #endOrphans(signal: AbortSignal): Promise<void> {
    if (this.#areOrphansGone) return;
    for (const { name, uploadId } of await this.#deps.client.listUploads(signal)) {
      const isOurs = parseObjectName(name)?.box === this.#options.box;
      if (isOurs && uploadId !== this.#unfinished.current?.uploadId)
        await this.#deps.client.abortUpload(name, uploadId, signal);
    }
    this.#areOrphansGone = true;
  }

  async #copy(due: Due, signal: AbortSignal): Promise<void> {
    const { archiveDir, box } = this.#options;
    const { client, clock } = this.#deps;
    const { cameraId } = due;
    const folder = join(archiveDir, cameraId);
    const fileName = closedName(due.startMs, due.endMs);
    const stamp = statFile({ folder, fileName });
    if (stamp === null) return this.#backlog.drop(due);
    const settledMs = Math.abs(clock.wallMs() - Math.max(stamp.mtimeMs, stamp.ctimeMs));
    if (settledMs < SETTLED_MS) return this.#backlog.skip(due, clock.monotonicMs() + SETTLED_MS - settledMs);
    const recording = nameOf(due);
    let epoch = 0;
    let object = '';
    let etag = TAKEN;
    for (; etag === TAKEN && epoch < MOST_EPOCHS; epoch += 1) {
      object = objectName({ cameraId, recording, epoch, box });
      etag = await this.#send(object, folder, fileName, false, signal);
    }
    if (etag === TAKEN) throw new Error('the store has other objects of its name');
    const sidecar = sidecarName(due.startMs);
    const sidecarBytes = statFile({ folder, fileName: sidecar })?.sizeBytes ?? 0;
    if (sidecarBytes > 0) await this.#send(sidecarObject(object), folder, sidecar, true, signal);
    const there = await client.head(object, signal);
    if (there?.bytes !== stamp.sizeBytes || there.etag !== etag) {
      await client.delete(object, signal);
      throw s3Error('s3_damaged', 'what the store has is not what was sent');
    }
    const request = { fileName, sizeBytes: stamp.sizeBytes, fromBytes: 0 };
    const [inspection] = inspectFiles({ folder, files: [request] });
    const now = statFile({ folder, fileName });
    this.#backlog.drop(due);
    if (now === null || !isSameStamp(now, stamp)) {
      // It was deleted meanwhile, or is another one: that has its own turn.
      await client.delete(sidecarObject(object), signal);
      return client.delete(object, signal);
    }
    const copy: Copy = {
      ...{ recording, stamp, inspection: inspection!, sizeBytes: stamp.sizeBytes, mark: markOf(etag) },
      ...{ sidecarBytes, epoch: epoch - 1, box, isLeaving: false },
    };
    const others = (this.#read(cameraId) ?? []).filter((other) => keyOf(other) !== keyOf(copy));
    this.#write(
      cameraId,
      [...others, copy].sort((a, b) => a.recording.startMs - b.recording.startMs),
    );
    this.#counts.copied += 1;
  }

  async #send(
    object: string,
    folder: string,
    fileName: string,
    mayReplace: boolean,
    signal: AbortSignal,
  ): Promise<string> {
    const { fd, stat } = openRegular(join(folder, fileName));
    try {
      const { ino, size: sizeBytes, mtimeMs, ctimeMs } = stat;
      const file: SentFile = { fd, sizeBytes, source: sourceOf({ ino, sizeBytes, mtimeMs, ctimeMs }) };
      return await this.#sender.send(object, file, { mayReplace, signal });
    } finally {
      closeSync(fd);
    }
  }

  async #deleteLeaving(cameraId: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#deps;
    for (;;) {
      const going = (this.#read(cameraId) ?? [])
        .filter(({ isLeaving }) => isLeaving)
        .slice(0, DELETED_AT_ONCE);
      const gone = new Set<number>();
      try {
        for (const copy of going) {
          const object = objectOf(cameraId, copy);
          await client.delete(sidecarObject(object), signal);
          await client.delete(object, signal);
          gone.add(keyOf(copy));
        }
      } finally {
        // Read anew: more may be leaving by now.
        const copies = (this.#read(cameraId) ?? []).filter(
          (copy) => !(copy.isLeaving && gone.has(keyOf(copy))),
        );
        if (gone.size > 0) this.#write(cameraId, copies);
        this.#counts.deleted += gone.size;
        this.#backlog.forget(cameraId);
      }
      if (going.length < DELETED_AT_ONCE) break;
    }
    this.#leaving.delete(cameraId);
    const isBare = (this.#read(cameraId) ?? []).length === 0;
    if (isBare && !existsSync(join(this.#options.archiveDir, cameraId)))
      removeCopies(copiesPath(this.#options.copiesDir, cameraId));
  }

  #read(cameraId: string): Copy[] | null {
    return readCopies(copiesPath(this.#options.copiesDir, cameraId));
  }

  #write(cameraId: string, copies: readonly Copy[]): void {
    writeCopies(copiesPath(this.#options.copiesDir, cameraId), copies);
    this.#count(cameraId, copies);
    this.#isDirty = true;
  }

  #count(cameraId: string, copies: readonly Copy[]): void {
    const count = copies.filter(({ isLeaving }) => !isLeaving).length;
    if (count === 0) this.#kept.delete(cameraId);
    else this.#kept.set(cameraId, count);
    if (count < copies.length && !this.#leaving.has(cameraId))
      this.#leaving.set(cameraId, this.#deps.clock.monotonicMs());
  }

  #skip(due: Due, fault: unknown): void {
    this.#backlog.skip(due, this.#deps.clock.monotonicMs() + SKIP_MS);
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
    if (this.#fault !== reason) this.#deps.log.warn('recordings are not copied to the store now', { reason });
    this.#fault = reason;
    this.#isDirty = true;
  }

  #recover(): void {
    this.#restMs = FIRST_REST_MS;
    if (this.#fault === null) return;
    this.#deps.log.info('recordings are copied to the store again');
    this.#fault = null;
    this.#isDirty = true;
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
    this.#deps.onState({
      ...this.#counts,
      ...this.#backlog.total(),
      fault: this.#fault,
      kept: Object.fromEntries(this.#kept),
    });
  }
}
