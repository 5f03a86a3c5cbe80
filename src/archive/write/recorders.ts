import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { FileProgress } from '../files/file-progress.js';
import { RecorderRoot } from '../root-state.js';
import { DirectDisk } from './direct-disk.js';
import { DiskGate } from './disk-gate.js';
import { DiskQueue } from './disk-queue.js';
import { Recorder } from './recorder.js';
import type { RecorderFileState, RecorderNews, RecordMode } from './recorder-files.js';

/** What the recorders of a thread are told when it starts. */
export type RecordersSetup = {
  readonly archiveDir: string;
  readonly fileSeconds: number;
  /** Whether the folder is there: memory of a RootState. */
  readonly root: SharedArrayBuffer;
  /** The gate's memory, and this thread's seat at it. */
  readonly gate: SharedArrayBuffer;
  readonly seat: number;
};

export type RecordersDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onNews: (cameraId: string, news: RecorderNews) => void;
  readonly onLost: (cameraId: string, frames: number) => void;
  readonly onFile: (
    cameraId: string,
    fileName: string,
    state: RecorderFileState,
    progress: FileProgress | null,
  ) => void;
};

type Place = {
  isWanted: boolean;
  mode: RecordMode;
  ring: SharedArrayBuffer | null;
  recorder: Recorder | null;
};

/** What is due at the same time is written together, which wakes fewer threads; a crash may cost this more. */
const PUMP_PERIOD_MS = 100;
const REPORT_PERIOD_MS = 1_000;
/**
 * A power cut may cost 10 s: the sync of a file begins this long after the one before, and then still takes its time.
 * All files of the thread one after another: a journal that was written for the first of them has the others in it.
 */
const SYNC_PERIOD_MS = 8_000;

const NO_ROOT = 0n;

/** All recorders of one camera worker. A fault in one of them never reaches the cameras. */
export class Recorders {
  readonly #setup: RecordersSetup;
  readonly #log: Logger;
  readonly #queue: DiskQueue;
  readonly #direct: DirectDisk;
  readonly #root: RecorderRoot;
  #rootEpoch: bigint;
  readonly #onNews: RecordersDeps['onNews'];
  readonly #onLost: RecordersDeps['onLost'];
  readonly #onFile: RecordersDeps['onFile'];
  readonly #places = new Map<string, Place>();
  readonly #ending = new Set<Promise<void>>();
  #lastPumpMs = 0;
  #lastReportMs = 0;
  #lastSyncMs = 0;
  #endedBefore = 0;
  #isFlowing = false;

  constructor(setup: RecordersSetup, deps: RecordersDeps) {
    this.#setup = setup;
    this.#log = deps.log;
    this.#onNews = deps.onNews;
    this.#onLost = deps.onLost;
    this.#onFile = deps.onFile;
    this.#root = new RecorderRoot(setup.archiveDir, setup.root);
    this.#rootEpoch = this.#root.epoch;
    this.#queue = new DiskQueue({ gate: DiskGate.open(setup.gate), seat: setup.seat });
    this.#direct = new DirectDisk({
      clock: deps.clock,
      onChange: (isSlow, lastWriteMs) =>
        this.#log.info(
          isSlow
            ? "the disk is slow: recordings go through the system's cache for now"
            : "the disk keeps up again: recordings go past the system's cache",
          { write_ms: Math.round(lastWriteMs) },
        ),
    });
  }

  /** Whether the camera is to be recorded, and how; takes effect at once. */
  setRecorded(cameraId: string, isWanted: boolean, mode: RecordMode = 'continuous'): void {
    const place = this.#place(cameraId);
    place.isWanted = isWanted;
    place.mode = mode;
    place.recorder?.setMode(mode);
    if (isWanted) this.#begin(cameraId, place);
    else this.#end(cameraId, place);
  }

  /** The camera's ring: its first one, or the one that replaces it. */
  setRing(cameraId: string, ring: SharedArrayBuffer): void {
    const place = this.#place(cameraId);
    place.ring = ring;
    this.#guarded(cameraId, () => place.recorder?.moveTo(ring));
    this.#begin(cameraId, place);
  }

  /** The camera leaves this thread. */
  remove(cameraId: string): void {
    const place = this.#places.get(cameraId);
    this.#places.delete(cameraId);
    if (place !== undefined) this.#end(cameraId, place);
  }

  /** Operations wait for others to end, and those do end: a nap of this thread would only make them wait longer. */
  get isInHaste(): boolean {
    return this.#isFlowing && this.#queue.waiting > 0;
  }

  /** Called at the end of loop turns: cheap unless it is time. */
  pump(nowMs: number): void {
    if (this.#queue.waiting > 0) this.#queue.drain();
    if (nowMs - this.#lastPumpMs < PUMP_PERIOD_MS) return;
    this.#lastPumpMs = nowMs;
    this.#followRoot();
    this.#isFlowing = this.#queue.ended !== this.#endedBefore;
    this.#endedBefore = this.#queue.ended;
    const isReportDue = nowMs - this.#lastReportMs >= REPORT_PERIOD_MS;
    if (isReportDue) this.#lastReportMs = nowMs;
    const isSyncDue = nowMs - this.#lastSyncMs >= SYNC_PERIOD_MS;
    if (isSyncDue) this.#lastSyncMs = nowMs;
    for (const [cameraId, { recorder }] of this.#places) {
      if (recorder === null) continue;
      this.#guarded(cameraId, () => recorder.pump(nowMs));
      if (isReportDue) recorder.report();
      if (isSyncDue) recorder.sync();
    }
  }

  /** Closes all files; resolves when they have their names. */
  async stop(): Promise<void> {
    for (const cameraId of [...this.#places.keys()]) this.remove(cameraId);
    const waking = setInterval(() => this.#queue.drain(), PUMP_PERIOD_MS);
    await Promise.all(this.#ending);
    clearInterval(waking);
  }

  #place(cameraId: string): Place {
    const known = this.#places.get(cameraId);
    if (known !== undefined) return known;
    const place: Place = { isWanted: false, mode: 'continuous', ring: null, recorder: null };
    this.#places.set(cameraId, place);
    return place;
  }

  /** Whatever is open when the folder is gone, or another one, can't get its name any more. */
  #followRoot(): void {
    const { epoch } = this.#root;
    if (epoch === this.#rootEpoch) return;
    this.#rootEpoch = epoch;
    for (const [cameraId, { recorder }] of this.#places) {
      this.#guarded(cameraId, () => recorder?.suspend());
      if (epoch !== NO_ROOT) recorder?.resume();
    }
  }

  #begin(cameraId: string, place: Place): void {
    if (!place.isWanted || place.ring === null || place.recorder !== null) return;
    const options = { cameraId, root: this.#root, fileSeconds: this.#setup.fileSeconds, mode: place.mode };
    const recorder: Recorder = new Recorder(options, place.ring, {
      log: this.#log.child({ camera_id: cameraId }),
      queue: this.#queue,
      direct: this.#direct,
      onNews: (news) => {
        // One that has ended may still close its file while another one writes the next.
        if (recorder === place.recorder) this.#onNews(cameraId, news);
      },
      onLost: (frames) => this.#onLost(cameraId, frames),
      onFile: (fileName, state, progress) => this.#onFile(cameraId, fileName, state, progress),
    });
    place.recorder = recorder;
    if (this.#rootEpoch === NO_ROOT) recorder.suspend();
  }

  #end(cameraId: string, place: Place): void {
    const { recorder } = place;
    place.recorder = null;
    if (recorder === null) return;
    this.#onNews(cameraId, { fileName: null, fault: null });
    const ending: Promise<void> = recorder
      .stop()
      .catch((fault) => this.#log.error('a recorder did not stop', { reason: messageOf(fault) }))
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** A recorder that throws is replaced: it must not take the thread along, nor stay dead. */
  #guarded(cameraId: string, step: () => void): void {
    try {
      step();
    } catch (fault) {
      this.#log.error('a recorder failed and begins anew', {
        camera_id: cameraId,
        reason: messageOf(fault),
      });
      const place = this.#place(cameraId);
      this.#end(cameraId, place);
      this.#begin(cameraId, place);
    }
  }
}
