import { PartTable } from '../../fmp4/part-table.js';
import { FileProgress } from '../files/file-progress.js';
import { endMsOf } from '../files/file-times.js';
import type { RecorderRoot } from '../root-state.js';
import { type BlockFile, padToBlock } from './block-file.js';
import { makeCameraFolder } from './camera-folder.js';
import { type DirectDisk, STAGE_BYTES } from './direct-disk.js';
import type { DiskQueue } from './disk-queue.js';
import { finishFile } from './finish-file.js';
import type { Fragment } from './fragment-collector.js';
import { createUnderFreeName } from './free-name.js';

export type RecordingFileOptions = {
  readonly root: RecorderRoot;
  /** In the root; made if it is missing. */
  readonly folder: string;
  readonly startWallMs: number;
  /** ftyp and moov. */
  readonly init: Buffer;
};

export type RecordingFileEvents = {
  /** The file is there, and empty: who dies from here on leaves it behind. */
  onMade(fileName: string, progress: FileProgress): void;
  /** The disk took the first fragments. */
  onBegun(): void;
  /** Frames that were given to this file will never be in it. */
  onLost(frames: number): void;
  /** Frames were overwritten before the disk took them: nothing more may be added but a keyframe. */
  onOverrun(): void;
  /** The disk refused; nothing more is written, and `close` saves what is there. */
  onFault(fault: unknown): void;
};

/** What has become of a file. */
export type ClosedFile = { readonly fileName: string; readonly isLeft: boolean };

const framesIn = (fragments: readonly Fragment[]): number =>
  fragments.reduce((sum, { videoFrames }) => sum + videoFrames, 0);

/** Copies bytes [start, end) of a fragment. */
const copyFragment = (
  { head, frames }: Fragment,
  start: number,
  end: number,
  target: Buffer,
  targetStart: number,
): void => {
  const ofHead = start < head.length ? head.copy(target, targetStart, start, end) : 0;
  if (end <= head.length) return;
  frames.copyTo(target, targetStart + ofHead, Math.max(start - head.length, 0), end - head.length);
};

/** One recording while it is written. All disk work is queued; no call waits for it but `close`. */
export class RecordingFile {
  readonly #options: RecordingFileOptions;
  readonly #queue: DiskQueue;
  readonly #direct: DirectDisk;
  readonly #events: RecordingFileEvents;
  /** For the index at the end of the file. */
  readonly #parts = new PartTable();
  #init: Buffer;
  readonly #pending: Fragment[] = [];
  #file: BlockFile | null = null;
  #name = '';
  #startWallMs: number;
  /** Where what is written ends. */
  #endWallMs: number;
  /** Bytes that are written and known to be right, and how many of them, at the end, only fill a block. */
  #wholeBytes = 0;
  #padBytes = 0;
  readonly #progress = new FileProgress();
  #endDtsTicks = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | null = null;
  #syncing: Promise<void> | null = null;
  #isDirty = false;
  #hasFailed = false;
  /** Some of what was written may be gone, which no later sync would tell: Linux reports it once. */
  #hasFailedSync = false;
  #closing: Promise<ClosedFile | null> | null = null;

  constructor(
    options: RecordingFileOptions,
    deps: { queue: DiskQueue; direct: DirectDisk; events: RecordingFileEvents },
  ) {
    this.#options = options;
    this.#init = options.init;
    this.#queue = deps.queue;
    this.#direct = deps.direct;
    this.#events = deps.events;
    this.#startWallMs = options.startWallMs;
    this.#endWallMs = options.startWallMs;
  }

  /** "" until something of the recording is in it: a disk that is full still gives names. */
  get name(): string {
    return this.#wholeBytes > 0 ? this.#name : '';
  }

  /** Decode time of the last video frame that is safely written, or still may be. */
  get endDtsTicks(): number {
    return this.#pending.at(-1)?.endDtsTicks ?? this.#endDtsTicks;
  }

  /** When the oldest frame came that isn't written yet; infinite if there is none. */
  get oldestPendingMs(): number {
    return this.#pending[0]?.firstArrivalMs ?? Number.POSITIVE_INFINITY;
  }

  /** The file is to begin otherwise; too late if something is written. */
  replaceInit(init: Buffer): void {
    this.#init = init;
  }

  append(fragment: Fragment): void {
    if (this.#hasFailed) this.#lose([fragment]);
    else this.#pending.push(fragment);
  }

  /** Asks for what is pending to be written, and gives up what the ring has overwritten meanwhile. */
  flush(): void {
    this.#dropOverwritten();
    if (this.#writing !== null || this.#pending.length === 0 || this.#hasFailed) return;
    const askedMs = this.#direct.nowMs;
    const written = (): void => {
      this.#writing = null;
      if (this.#file?.isDirect === true) this.#direct.note(askedMs);
    };
    const failed = (fault: unknown): void => {
      this.#writing = null;
      this.#fail(fault);
    };
    this.#writing = this.#queue.run('write', () => this.#writePending()).then(written, failed);
  }

  /** Asks for what was written to be made to last. */
  sync(): void {
    const file = this.#file;
    if (!this.#isDirty || file === null || this.#syncing !== null || this.#hasFailed) return;
    this.#isDirty = false;
    this.#syncing = this.#queue
      .run('sync', () => file.sync())
      .catch((fault) => {
        this.#hasFailedSync = true;
        this.#fail(fault);
      })
      .finally(() => {
        this.#syncing = null;
      });
  }

  /**
   * Writes what is pending, then the index, and gives the file its closed name. Resolves with the open name that it
   * had, and whether it still has it and waits for recovery; null: no file was ever made. Never rejects.
   */
  close(): Promise<ClosedFile | null> {
    this.#closing ??= this.#closeOnce();
    return this.#closing;
  }

  async #closeOnce(): Promise<ClosedFile | null> {
    while (this.#pending.length > 0 && !this.#hasFailed) {
      this.flush();
      await this.#writing;
    }
    await this.#writing;
    await this.#syncing;
    const file = this.#file;
    if (file === null) return null;
    try {
      // Only recovery looks at what is there.
      await this.#queue.run('close', () => (this.#hasFailedSync ? file.close() : this.#finish(file)));
      return { fileName: this.#name, isLeft: this.#hasFailedSync };
    } catch {
      return { fileName: this.#name, isLeft: true };
    }
  }

  async #writePending(): Promise<void> {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    try {
      this.#file ??= await this.#open();
      const stage = this.#direct.take();
      try {
        if (this.#initBytes + batch[0]!.lengthBytes > STAGE_BYTES)
          await this.#writeLarge(this.#file, stage, batch);
        else await this.#writeTogether(this.#file, stage, batch);
      } finally {
        this.#direct.giveBack(stage);
      }
    } catch (fault) {
      // What was settled was taken out of the batch.
      this.#lose(batch);
      throw fault;
    }
    if (batch.length === 0) return;
    // What waits refers to what was lost.
    this.#lose(batch);
    this.#lose(this.#pending.splice(0));
    this.#events.onOverrun();
  }

  /** Writes fragments at once; those that the ring has overwritten, and what follows them, stay in the batch. */
  async #writeTogether(file: BlockFile, stage: Buffer, batch: Fragment[]): Promise<void> {
    const initBytes = this.#fillInit(stage);
    let filled = initBytes;
    for (const fragment of batch) {
      copyFragment(fragment, 0, fragment.lengthBytes, stage, filled);
      filled += fragment.lengthBytes;
    }
    // Only now is it known whether what was copied was the frames.
    const overwrittenAt = batch.findIndex(({ frames }) => !frames.isIntact());
    const good = overwrittenAt < 0 ? batch : batch.slice(0, overwrittenAt);
    if (good.length === 0) return;
    const endBytes = good.reduce((sum, { lengthBytes }) => sum + lengthBytes, initBytes);
    const paddedBytes = padToBlock(stage, endBytes);
    await file.write(stage, paddedBytes, this.#wholeBytes);
    this.#settle(batch.splice(0, good.length), initBytes, paddedBytes - endBytes);
  }

  /** Writes a fragment that is larger than a stage, one stage after another; if the ring has overwritten it, it stays. */
  async #writeLarge(file: BlockFile, stage: Buffer, batch: Fragment[]): Promise<void> {
    const fragment = batch[0]!;
    let position = this.#wholeBytes;
    const initBytes = this.#fillInit(stage);
    let filled = initBytes;
    for (let at = 0; at < fragment.lengthBytes; ) {
      const end = Math.min(fragment.lengthBytes, at + STAGE_BYTES - filled);
      copyFragment(fragment, at, end, stage, filled);
      filled += end - at;
      at = end;
      if (filled < STAGE_BYTES) continue;
      await file.write(stage, STAGE_BYTES, position);
      position += STAGE_BYTES;
      filled = 0;
    }
    if (!fragment.frames.isIntact()) {
      await file.truncate(this.#wholeBytes);
      return;
    }
    const paddedBytes = padToBlock(stage, filled);
    if (paddedBytes > 0) await file.write(stage, paddedBytes, position);
    this.#settle(batch.splice(0, 1), initBytes, paddedBytes - filled);
  }

  /** Bytes of ftyp and moov that are still to be written. */
  get #initBytes(): number {
    return this.#wholeBytes === 0 ? this.#init.length : 0;
  }

  #fillInit(stage: Buffer): number {
    return this.#wholeBytes === 0 ? this.#init.copy(stage) : 0;
  }

  #takeBatch(): Fragment[] {
    let lengthBytes = this.#initBytes;
    let count = 0;
    for (const fragment of this.#pending) {
      lengthBytes += fragment.lengthBytes;
      if (count > 0 && lengthBytes > STAGE_BYTES) break;
      count += 1;
    }
    return this.#pending.splice(0, count);
  }

  /** Takes in what was written. The beginning may have been replaced since: `initBytes` of it were. */
  #settle(batch: readonly Fragment[], initBytes: number, padBytes: number): void {
    const isFirst = this.#wholeBytes === 0;
    this.#isDirty = true;
    this.#wholeBytes += initBytes;
    for (const fragment of batch) {
      const { partPtsTicks, moofStart } = fragment;
      if (partPtsTicks !== null) this.#parts.add(partPtsTicks, this.#wholeBytes + moofStart);
      this.#wholeBytes += fragment.lengthBytes;
      this.#endDtsTicks = fragment.endDtsTicks;
      this.#endWallMs = endMsOf(this.#options.startWallMs + fragment.videoMs, fragment.endWallMs);
    }
    this.#progress.set(this.#wholeBytes, this.#endWallMs);
    this.#wholeBytes += padBytes;
    this.#padBytes = padBytes;
    if (isFirst) this.#events.onBegun();
  }

  /**
   * Gives up what the ring has overwritten, and what refers to that. Each is asked, since they may lie in several
   * rings: one that was replaced is never overwritten, and would speak for all that waits behind it.
   */
  #dropOverwritten(): void {
    const at = this.#pending.findIndex(({ frames }) => !frames.isIntact());
    if (at < 0) return;
    this.#lose(this.#pending.splice(at));
    this.#events.onOverrun();
  }

  #lose(fragments: readonly Fragment[]): void {
    const frames = framesIn(fragments);
    if (frames > 0) this.#events.onLost(frames);
  }

  #fail(fault: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#lose(this.#pending.splice(0));
    this.#events.onFault(fault);
  }

  async #open(): Promise<BlockFile> {
    const { folder, root } = this.#options;
    await root.assertThere();
    await makeCameraFolder(folder);
    const { file, name, startWallMs } = await createUnderFreeName(folder, this.#startWallMs, this.#direct);
    this.#startWallMs = startWallMs;
    this.#name = name;
    // What its frames say: its name may have been moved on.
    this.#progress.startMs = this.#options.startWallMs;
    this.#events.onMade(name, this.#progress);
    return file;
  }

  #finish(file: BlockFile): Promise<void> {
    return finishFile({
      file,
      folder: this.#options.folder,
      name: this.#name,
      startWallMs: this.#startWallMs,
      endWallMs: this.#endWallMs,
      endBytes: this.#wholeBytes - this.#padBytes,
      parts: this.#parts,
    });
  }
}
