import type { Clock, MonotonicMs } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { placeKey } from '../files/archive-folders.js';
import { FileProgress, type FilesInProgress } from '../files/file-progress.js';
import { DiskGate, poolThreads, recorderShare } from './disk-gate.js';
import type { RecorderFileState, RecorderNews } from './recorder-files.js';
import type { RecordersSetup } from './recorders.js';
import type { WriteTimes } from './write-times.js';

/** What all recorders are told. */
export type RecordingDeskOptions = Pick<RecordersSetup, 'archiveDir' | 'fileSeconds' | 'root'>;

export type RecordingDeskDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** Closes a file whose recorder could not, or is dead. */
  readonly recover: (cameraId: string, fileName: string) => void;
  /** The disk refused what a recorder wrote: perhaps it is full. */
  readonly onRefused: () => void;
  /** A file was begun; or it is written no more. */
  readonly onFile?: (cameraId: string, fileName: string, state: RecorderFileState) => void;
};

/** A full disk has room for some seconds again and again: so long what it refused is not forgotten. */
const RECENT_MS = 60_000;

type Refusal = { readonly fault: string; readonly atMs: number };

type Desk = {
  readonly fileName: string | null;
  readonly fault: string | null;
  /** Pictures of a file before this one are, and it goes on from there. */
  wasOnDisk: boolean;
  /** What was on the disk when it was asked for that, and since when. */
  seenBytes: number;
  seenMs: MonotonicMs;
};

/** The files that a worker has open, and how many times: a name is free again a moment before we are told. */
type OpenFile = {
  readonly cameraId: string;
  readonly fileName: string;
  count: number;
  /** Of the one that was made last. */
  progress: FileProgress | null;
};

type DeskWorker = { readonly seat: number; readonly files: Map<string, OpenFile> };

const nothing: RecorderNews = { fileName: null, fault: null };

/** The main thread's view of all recorders: what each writes, and what they share. */
export class RecordingDesk implements FilesInProgress {
  readonly #options: RecordingDeskOptions;
  readonly #deps: RecordingDeskDeps;
  readonly #gate = DiskGate.create(recorderShare(poolThreads(process.env)));
  readonly #workers = new Map<string, DeskWorker>();
  readonly #cameras = new Map<string, Desk>();
  readonly #lostFrames = new Map<string, number>();
  /** The last one of each camera, and since when it is over, or as of when it goes on. */
  readonly #refusals = new Map<string, Refusal>();

  constructor(options: RecordingDeskOptions, deps: RecordingDeskDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** The service ends: nothing else needs the pool any more, and there is not much time to close all files. */
  hasten(): void {
    this.#gate.widen(poolThreads(process.env));
  }

  /** What the recorders of a new camera worker are told. */
  openWorker(workerName: string): RecordersSetup {
    const taken = new Set([...this.#workers.values()].map(({ seat }) => seat));
    let seat = 0;
    while (taken.has(seat)) seat += 1;
    this.#workers.set(workerName, { seat, files: new Map() });
    return { ...this.#options, gate: this.#gate.memory, seat };
  }

  /** The worker is gone: the disk operations that it had under way are nobody's, nor are the files it had open. */
  closeWorker(workerName: string): void {
    const worker = this.#workers.get(workerName);
    if (worker === undefined) return;
    this.#workers.delete(workerName);
    this.#gate.vacate(worker.seat);
    for (const { cameraId, fileName } of worker.files.values()) {
      this.#deps.log.warn('a recording lost its writer', { camera_id: cameraId, file: fileName });
      this.#deps.recover(cameraId, fileName);
      this.#deps.onFile?.(cameraId, fileName, 'left');
    }
  }

  onNews(cameraId: string, { fileName, fault }: RecorderNews): void {
    if (fault !== null) this.#deps.onRefused();
    const before = this.#cameras.get(cameraId)?.fault ?? null;
    const told = fault ?? before;
    if (told !== null) this.#refusals.set(cameraId, { fault: told, atMs: this.#deps.clock.monotonicMs() });
    const writtenMs = fileName === null ? null : this.writtenMs(cameraId);
    const { seenBytes = 0 } = this.#cameras.get(cameraId) ?? {};
    const seen =
      writtenMs === null
        ? { seenBytes: 0, seenMs: this.#deps.clock.monotonicMs() }
        : { seenBytes, seenMs: writtenMs };
    this.#cameras.set(cameraId, { fileName, fault, wasOnDisk: writtenMs !== null, ...seen });
  }

  onLost(cameraId: string, frames: number): void {
    this.#lostFrames.set(cameraId, this.lostFrames(cameraId) + frames);
  }

  onFile(
    workerName: string,
    cameraId: string,
    fileName: string,
    state: RecorderFileState,
    progress: SharedArrayBuffer | null = null,
  ): void {
    if (state !== 'made') this.#noteOnDisk(cameraId, fileName, state);
    const files = this.#workers.get(workerName)?.files;
    const key = placeKey({ cameraId, fileName });
    const file = files?.get(key) ?? { cameraId, fileName, count: 0, progress: null };
    file.count += state === 'made' ? 1 : -1;
    if (progress !== null) file.progress = new FileProgress(progress);
    if (file.count > 0) files?.set(key, file);
    else files?.delete(key);
    if (state === 'left') this.#deps.recover(cameraId, fileName);
    this.#deps.onFile?.(cameraId, fileName, state);
  }

  /** The camera's worker died. */
  onWorkerLost(cameraId: string): void {
    this.onNews(cameraId, nothing);
  }

  /** The camera was deleted. */
  forget(cameraId: string): void {
    this.#cameras.delete(cameraId);
    this.#refusals.delete(cameraId);
    this.#lostFrames.delete(cameraId);
  }

  /** The file that is being written; null: none. */
  openFile(cameraId: string): string | null {
    return this.#cameras.get(cameraId)?.fileName ?? null;
  }

  /** Whether a recorder has this file open, be it only to close it. */
  isLive(cameraId: string, fileName: string): boolean {
    return this.#openFiles(cameraId, fileName).length > 0;
  }

  progressOf(cameraId: string, fileName: string): FileProgress | null {
    return this.#openFiles(cameraId, fileName).at(-1)?.progress ?? null;
  }

  isRecording(cameraId: string): boolean {
    return this.openFile(cameraId) !== null;
  }

  /**
   * When what is recorded now was last seen to go on, on the disk; null: no whole fragment of it is there, also not in a file that
   * this one follows. As exact as it is asked for often: a disk that hangs tells nobody.
   */
  writtenMs(cameraId: string): MonotonicMs | null {
    const desk = this.#cameras.get(cameraId);
    if (desk === undefined || desk.fileName === null) return null;
    const wholeBytes = this.progressOf(cameraId, desk.fileName)?.wholeBytes ?? 0;
    if (wholeBytes === 0 && !desk.wasOnDisk) return null;
    if (wholeBytes > 0 && wholeBytes !== desk.seenBytes) {
      desk.seenBytes = wholeBytes;
      desk.seenMs = this.#deps.clock.monotonicMs();
    }
    return desk.seenMs;
  }

  /** What keeps some camera's recording paused; null: the disk takes all of them. */
  get fault(): string | null {
    for (const { fault } of this.#cameras.values()) if (fault !== null) return fault;
    return null;
  }

  /** Why the disk didn't take what a camera sent, now or within the last minute; "": it did. */
  errorOf(cameraId: string): string {
    const refusal = this.#refusals.get(cameraId);
    if (refusal === undefined) return '';
    const isOver = (this.#cameras.get(cameraId)?.fault ?? null) === null;
    return isOver && this.#deps.clock.monotonicMs() - refusal.atMs >= RECENT_MS ? '' : refusal.fault;
  }

  /** The same of all cameras; null: the disk took all. */
  get recentFault(): string | null {
    for (const cameraId of this.#refusals.keys()) {
      const error = this.errorOf(cameraId);
      if (error !== '') return error;
    }
    return null;
  }

  /** Why nothing is recorded now, as far as recorders know; null: something is. */
  whyNot(cameraId: string): 'disk' | 'not_recording' | null {
    const desk = this.#cameras.get(cameraId);
    if (desk === undefined) return 'not_recording';
    if (desk.fault !== null) return 'disk';
    return desk.fileName === null ? 'not_recording' : null;
  }

  /** Video frames that the disk was too slow for, or refused; never falls while the camera is known. */
  lostFrames(cameraId: string): number {
    return this.#lostFrames.get(cameraId) ?? 0;
  }

  /** How long writes took, from when they were due. */
  get writeTimes(): WriteTimes['spread'] {
    return this.#gate.writeTimes.spread;
  }

  /** Of a file that is closed nothing can be asked any more, and news of the next one come when it is begun. */
  #noteOnDisk(cameraId: string, fileName: string, state: 'closed' | 'left'): void {
    const desk = this.#cameras.get(cameraId);
    if (desk === undefined) return;
    if (state === 'left') desk.wasOnDisk = false;
    else if (desk.fileName === fileName) desk.wasOnDisk = this.writtenMs(cameraId) !== null;
  }

  /** A camera that moves may have its old file closed by one worker while another writes the next. */
  #openFiles(cameraId: string, fileName: string): OpenFile[] {
    const key = placeKey({ cameraId, fileName });
    return [...this.#workers.values()].flatMap(({ files }) => files.get(key) ?? []);
  }
}
