import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FileProgress, FilesInProgress } from '../../src/archive/files/file-progress.js';
import type { RootState } from '../../src/archive/root-state.js';
import { DiskGate } from '../../src/archive/write/disk-gate.js';
import type { RecorderNews } from '../../src/archive/write/recorder-files.js';
import { Recorders } from '../../src/archive/write/recorders.js';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { Bell } from '../../src/ring/doorbell.js';
import { RingWriter } from '../../src/ring/writer.js';
import { until } from '../support/until.js';
import { openedRoot } from './opened-root.js';
import type { SourceMovie } from './source-movie.js';

const CAMERA_ID = 'door';
/** One frame at a time: a recorder that begins takes the newest keyframe. */
const STEP_MS = 40;
/** Between two looks at the disk: less than a ring holds beyond its GOP. */
const SETTLE_EVERY_MS = 480;

/** One camera's ring and its recorder, in the test's own time, on a real disk. */
export class RecordingStudio implements FilesInProgress {
  readonly folder: string;
  readonly news: RecorderNews[] = [];
  readonly left: string[] = [];
  /** What was made and is not closed, as the main thread would know it. */
  readonly open: string[] = [];
  lostFrames = 0;
  readonly records: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[] = [];
  readonly recorders: Recorders;
  readonly root: RootState;
  readonly writer: RingWriter;
  readonly #progress = new Map<string, FileProgress>();
  readonly #gate = DiskGate.create(1);
  #isBlocked = false;

  constructor(archiveDir: string, fileSeconds: number) {
    this.folder = join(archiveDir, CAMERA_ID);
    this.root = openedRoot(archiveDir);
    const log = createLogger((level, message, fields) => this.records.push({ level, message, fields }));
    this.recorders = new Recorders(
      { archiveDir, fileSeconds, root: this.root.memory, gate: this.#gate.memory, seat: 0 },
      {
        clock: systemClock,
        log,
        onNews: (_cameraId, news) => this.news.push(news),
        onLost: (_cameraId, frames) => {
          this.lostFrames += frames;
        },
        onFile: (_cameraId, fileName, state, progress) => {
          if (state === 'made') this.open.push(fileName);
          else this.open.splice(this.open.indexOf(fileName), 1);
          if (progress === null) this.#progress.delete(fileName);
          else this.#progress.set(fileName, progress);
          if (state === 'left') this.left.push(fileName);
        },
      },
    );
    const onReplaced = (ring: SharedArrayBuffer): void => this.recorders.setRing(CAMERA_ID, ring);
    this.writer = new RingWriter({}, { bell: new Bell(), onReplaced });
    this.recorders.setRing(CAMERA_ID, this.writer.ring);
    this.recorders.setRecorded(CAMERA_ID, true);
  }

  progressOf(_cameraId: string, fileName: string): FileProgress | null {
    return this.#progress.get(fileName) ?? null;
  }

  get files(): string[] {
    return readdirSync(this.folder).sort();
  }

  get paths(): string[] {
    return this.files.map((name) => join(this.folder, name));
  }

  /** From now on the disk takes nothing; the function that is returned ends that. */
  blockDisk(): () => void {
    this.#isBlocked = true;
    if (!this.#gate.tryEnter(1, 'write')) throw new Error('the disk is busy');
    return () => {
      this.#isBlocked = false;
      this.#gate.leave(1, 'write');
    };
  }

  /** Time goes by, and no frame comes. */
  standStill(source: SourceMovie, durationMs: number): void {
    for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs += 500) {
      this.recorders.pump(source.nowMs + elapsedMs);
    }
  }

  /** Plays so much of the source, and lets the disk keep up. */
  async play(source: SourceMovie, durationMs: number, info = source.info): Promise<void> {
    this.writer.setStreamInfo(info);
    for (let elapsedMs = 0; elapsedMs < durationMs && !source.isOver; elapsedMs += STEP_MS) {
      source.play(this.writer, STEP_MS);
      this.recorders.pump(source.nowMs);
      if (elapsedMs % SETTLE_EVERY_MS === 0) await this.settle();
    }
    await this.settle();
  }

  /** Nothing is on its way to the disk. */
  async settle(): Promise<void> {
    const inUse = this.#isBlocked ? 1 : 0;
    await until('the disk is idle', () => this.#gate.inUse === inUse, { deadlineMs: 60_000 });
  }

  /** Closes what is open. */
  async finish(): Promise<void> {
    await this.recorders.stop();
  }
}
