import type { Logger } from '../base/log.js';
import { DiskGate, poolThreads, recorderShare } from './disk-gate.js';
import type { RecorderNews } from './recorder.js';
import type { RecordersSetup } from './recorders.js';

export type RecordingDeskDeps = {
  readonly log: Logger;
  /** Closes a file whose recorder could not, or is dead. */
  readonly recover: (cameraId: string, fileName: string) => void;
  /** The disk refused what a recorder wrote: perhaps it is full. */
  readonly onRefused: () => void;
};

type Desk = { fileName: string | null; lostFrames: number; fault: string | null };

const nothing: RecorderNews = { fileName: null, lostFrames: 0, fault: null };

/** The main thread's view of all recorders: what each writes, and what they share. */
export class RecordingDesk {
  readonly #options: { readonly archiveDir: string; readonly fileSeconds: number };
  readonly #deps: RecordingDeskDeps;
  readonly #gate = DiskGate.create(recorderShare(poolThreads(process.env)));
  readonly #seats = new Map<string, number>();
  readonly #cameras = new Map<string, Desk>();

  constructor(options: { archiveDir: string; fileSeconds: number }, deps: RecordingDeskDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** What the recorders of a new camera worker are told. */
  openWorker(workerName: string): RecordersSetup {
    const taken = new Set(this.#seats.values());
    let seat = 0;
    while (taken.has(seat)) seat += 1;
    this.#seats.set(workerName, seat);
    return { ...this.#options, gate: this.#gate.memory, seat };
  }

  /** The worker is gone, and the disk operations that it had under way are nobody's. */
  closeWorker(workerName: string): void {
    const seat = this.#seats.get(workerName);
    this.#seats.delete(workerName);
    if (seat !== undefined) this.#gate.vacate(seat);
  }

  onNews(cameraId: string, { fileName, lostFrames, fault }: RecorderNews): void {
    if (fault !== null) this.#deps.onRefused();
    const desk = this.#cameras.get(cameraId) ?? { fileName: null, lostFrames: 0, fault: null };
    desk.fileName = fileName;
    desk.lostFrames += lostFrames;
    desk.fault = fault;
    this.#cameras.set(cameraId, desk);
  }

  onLeft(cameraId: string, fileName: string): void {
    this.#deps.recover(cameraId, fileName);
  }

  /** The camera's worker died while it wrote. */
  onWorkerLost(cameraId: string): void {
    const fileName = this.openFile(cameraId);
    this.onNews(cameraId, nothing);
    if (fileName === null) return;
    this.#deps.log.warn('a recording lost its writer', { camera_id: cameraId, file: fileName });
    this.#deps.recover(cameraId, fileName);
  }

  /** The camera was deleted. */
  forget(cameraId: string): void {
    this.#cameras.delete(cameraId);
  }

  /** The file that is being written; null: none. */
  openFile(cameraId: string): string | null {
    return this.#cameras.get(cameraId)?.fileName ?? null;
  }

  isLive(cameraId: string, fileName: string): boolean {
    return this.openFile(cameraId) === fileName;
  }

  isRecording(cameraId: string): boolean {
    return this.openFile(cameraId) !== null;
  }

  /** What keeps some camera's recording paused; null: the disk takes all of them. */
  get fault(): string | null {
    for (const { fault } of this.#cameras.values()) if (fault !== null) return fault;
    return null;
  }

  /** Why nothing is recorded now, as far as recorders know; null: something is. */
  whyNot(cameraId: string): 'disk' | 'not_recording' | null {
    const desk = this.#cameras.get(cameraId);
    if (desk === undefined) return 'not_recording';
    if (desk.fault !== null) return 'disk';
    return desk.fileName === null ? 'not_recording' : null;
  }

  /** Video frames that the disk was too slow for. */
  lostFrames(cameraId: string): number {
    return this.#cameras.get(cameraId)?.lostFrames ?? 0;
  }
}
