import type { Clock, MonotonicMs, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { parseRecordingName } from '../files/file-name.js';
import type { FileProgress } from '../files/file-progress.js';
import { sidecarName } from '../files/sidecar-name.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Append, Appended } from './append-detections.js';
import { encodeRecord, type KeptDetection } from './detection-record.js';

export type DetectionKeeperDeps = {
  readonly runner: JobRunner;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A record that waits for the recording of its time to be on the disk. */
type Waiting = { readonly wallMs: number; readonly sinceMs: MonotonicMs; readonly record: Buffer };

/** A recording that is being made, or was until lately. */
type CameraFile = {
  readonly camera: KeptCamera;
  readonly sidecar: string;
  readonly progress: FileProgress;
  /** When it was closed; null: it is still being made. */
  closedMs: MonotonicMs | null;
  readonly records: Buffer[];
  /** How long the sidecar is; null: unknown. */
  fileBytes: number | null;
  /** Something was written to it. */
  isMade: boolean;
  /** It has been made to last. */
  isSynced: boolean;
  /** After a fault. */
  notBeforeMs: number;
};

/** What is written at once. */
type Batch = { readonly file: CameraFile; readonly taken: readonly Buffer[]; readonly append: Append }[];

type KeptCamera = {
  readonly files: CameraFile[];
  waiting: Waiting[];
  /** Of all that is not written yet. */
  heldBytes: number;
  wasEmpty: boolean;
};

const TICK_MS = 500;
/** What is not recorded within this after it was seen, never is. */
const WAIT_MS = 30_000;
/** What comes for a file that was closed comes within this. */
const FILE_WAIT_MS = 45_000;
/** A disk that refused is left alone for so long. */
const AFTER_FAULT_MS = 5_000;
/** All that waits, and of one camera: frames come before. */
const MAX_HELD_BYTES = 4 << 20;
const MAX_CAMERA_BYTES = 256 << 10;
const MAX_JOB_BYTES = 1 << 20;
const MAX_FILES = 16;
const STOP_MS = 2_000;

/**
 * Writes what is seen on cameras beside their recordings, once the pictures are on the disk. Nobody waits for it; where
 * the disk is too slow what is seen is lost, and counted.
 */
export class DetectionKeeper {
  /** Detections that were written; those that the disk was too slow for, or refused. */
  readonly counts = { kept: 0, lost: 0 };
  readonly #archiveDir: string;
  readonly #deps: DetectionKeeperDeps;
  readonly #cameras = new Map<string, KeptCamera>();
  readonly #timer: Timer;
  #heldBytes = 0;
  #writing: Promise<void> | null = null;
  #isFailing = false;

  constructor(options: { readonly archiveDir: string }, deps: DetectionKeeperDeps) {
    this.#archiveDir = options.archiveDir;
    this.#deps = deps;
    this.#timer = deps.clock.every(TICK_MS, () => this.#tick());
  }

  /** Something was seen, or nothing: that is kept only behind something. */
  add(cameraId: string, detection: KeptDetection): void {
    const camera = this.#cameraOf(cameraId);
    const isEmpty = detection.objects.length === 0;
    if (isEmpty && camera.wasEmpty) return;
    camera.wasEmpty = isEmpty;
    const record = encodeRecord(detection);
    const { length } = record;
    if (this.#heldBytes + length > MAX_HELD_BYTES || camera.heldBytes + length > MAX_CAMERA_BYTES) {
      this.counts.lost += 1;
      return;
    }
    this.#heldBytes += length;
    camera.heldBytes += length;
    camera.waiting.push({ wallMs: detection.wallMs, sinceMs: this.#deps.clock.monotonicMs(), record });
  }

  /** A recorder made a file; `progress` says what it covers. */
  fileMade(cameraId: string, fileName: string, progress: FileProgress): void {
    const startMs = parseRecordingName(fileName)?.startMs;
    if (startMs === undefined) return;
    const camera = this.#cameraOf(cameraId);
    const { files } = camera;
    const idle = {
      closedMs: null,
      records: [],
      fileBytes: null,
      isMade: false,
      isSynced: true,
      notBeforeMs: 0,
    };
    files.push({ camera, sidecar: sidecarName(startMs), progress, ...idle });
    for (const { records } of files.splice(0, Math.max(files.length - MAX_FILES, 0)))
      this.#lose(camera, records);
  }

  /** It is written no more, whatever it is called now. */
  fileEnded(cameraId: string, fileName: string): void {
    const startMs = parseRecordingName(fileName)?.startMs;
    const sidecar = startMs === undefined ? '' : sidecarName(startMs);
    for (const file of this.#cameras.get(cameraId)?.files ?? [])
      if (file.sidecar === sidecar) file.closedMs ??= this.#deps.clock.monotonicMs();
  }

  /** Writes what can be, if the disk takes it soon. Never rejects. */
  async stop(): Promise<void> {
    this.#timer.cancel();
    const { clock } = this.#deps;
    let timer: Timer | null = null;
    const late = new Promise<void>((resolve) => {
      timer = clock.after(STOP_MS, resolve);
    });
    await Promise.race([this.#writeLast(), late]);
    (timer as Timer | null)?.cancel();
  }

  async #writeLast(): Promise<void> {
    await this.#writing;
    this.#assign();
    const nowMs = this.#deps.clock.monotonicMs();
    for (const { files } of this.#cameras.values()) for (const file of files) file.closedMs ??= nowMs;
    await this.#write(true);
  }

  #cameraOf(cameraId: string): KeptCamera {
    const known = this.#cameras.get(cameraId);
    if (known !== undefined) return known;
    const camera: KeptCamera = { files: [], waiting: [], heldBytes: 0, wasEmpty: true };
    this.#cameras.set(cameraId, camera);
    return camera;
  }

  #tick(): void {
    this.#assign();
    if (this.#writing !== null) return;
    this.#writing = this.#write(false).finally(() => {
      this.#writing = null;
    });
  }

  /** Gives what waits to the recording that has its time. */
  #assign(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [cameraId, camera] of this.#cameras) {
      const { files, waiting } = camera;
      if (waiting.length > 0) camera.waiting = waiting.filter((one) => !this.#place(camera, one, nowMs));
      const isLeft = ({ closedMs, records, isSynced }: CameraFile): boolean =>
        closedMs === null || records.length > 0 || !isSynced || nowMs - closedMs < FILE_WAIT_MS;
      if (!files.every(isLeft)) files.splice(0, files.length, ...files.filter(isLeft));
      if (files.length === 0 && camera.waiting.length === 0) this.#cameras.delete(cameraId);
    }
  }

  /** Whether it waits no more. */
  #place(camera: KeptCamera, { wallMs, sinceMs, record }: Waiting, nowMs: number): boolean {
    const file = camera.files.findLast(
      ({ progress: { startMs, endMs } }) => startMs <= wallMs && wallMs < endMs,
    );
    if (file !== undefined) {
      file.records.push(record);
      return true;
    }
    if (nowMs - sinceMs < WAIT_MS) return false;
    // Nothing was recorded then.
    this.#release(camera, [record]);
    return true;
  }

  async #write(isLast: boolean): Promise<void> {
    for (let isMore = true; isMore; ) {
      const batch = this.#takeBatch(isLast);
      if (batch.length === 0) return;
      isMore = await this.#writeBatch(batch);
    }
  }

  /** What is written at once, of as many files as there is something for. */
  #takeBatch(isLast: boolean): Batch {
    const nowMs = this.#deps.clock.monotonicMs();
    let leftBytes = MAX_JOB_BYTES;
    const batch: Batch = [];
    for (const [cameraId, { files }] of this.#cameras) {
      for (const file of files) {
        const isOver = file.closedMs !== null && (isLast || nowMs - file.closedMs >= FILE_WAIT_MS);
        const isToSync = isOver && !file.isSynced;
        if (leftBytes <= 0 || nowMs < file.notBeforeMs) continue;
        if (file.records.length === 0 && !isToSync) continue;
        const taken = file.records.splice(0);
        const records = Buffer.concat(taken);
        leftBytes -= records.length;
        const { sidecar, fileBytes: knownBytes, isMade } = file;
        const append = { cameraId, sidecar, knownBytes, isNew: !isMade, records, isLast: isOver };
        batch.push({ file, taken, append });
      }
    }
    return batch;
  }

  /** Returns whether there may be more to write now. */
  async #writeBatch(batch: Batch): Promise<boolean> {
    const appends = batch.map(({ append }) => append);
    let results: readonly Appended[];
    try {
      results = await this.#deps.runner.run('appendDetections', { archiveDir: this.#archiveDir, appends });
    } catch (fault) {
      results = appends.map(() => ({ fault: messageOf(fault) }));
    }
    const faults = batch.flatMap(
      ({ file, taken, append }, index) => this.#settle(file, taken, append, results[index]) ?? [],
    );
    this.#tell(faults[0] ?? null);
    return faults.length === 0;
  }

  /** Returns what is wrong with the file. */
  #settle(
    file: CameraFile,
    taken: readonly Buffer[],
    { isLast }: Append,
    result: Appended = { fault: 'no answer' },
  ): string | null {
    const { camera } = file;
    if ('fileBytes' in result) {
      file.fileBytes = result.fileBytes;
      file.isMade = true;
      file.isSynced = isLast;
      this.counts.kept += taken.length;
      this.#release(camera, taken);
      return null;
    }
    file.fileBytes = null;
    // It went with its recording, or its camera.
    const isGone = result.fault === 'ENOENT';
    if (isGone || isLast) {
      file.isSynced = true;
      if (isGone) this.#release(camera, taken);
      else this.#lose(camera, taken);
    } else {
      file.records.unshift(...taken);
      file.notBeforeMs = this.#deps.clock.monotonicMs() + AFTER_FAULT_MS;
    }
    return isGone ? null : result.fault;
  }

  /** Once, not at each attempt. */
  #tell(fault: string | null): void {
    if (fault !== null && !this.#isFailing)
      this.#deps.log.error('what is seen can not be kept with the recordings', { reason: fault });
    this.#isFailing = fault !== null;
  }

  #lose(camera: KeptCamera, records: readonly Buffer[]): void {
    this.counts.lost += records.length;
    this.#release(camera, records);
  }

  #release(camera: KeptCamera, records: readonly Buffer[]): void {
    for (const { length } of records) {
      this.#heldBytes -= length;
      camera.heldBytes -= length;
    }
  }
}
