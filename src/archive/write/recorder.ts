import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { RingReader } from '../../ring/reader.js';
import { LookPace } from './look-pace.js';
import { type RecorderDeps, RecorderFiles, type RecorderOptions, type RecordMode } from './recorder-files.js';

/**
 * A stream that stands still ends its file when its session ends for that: until then all frames may come late, and
 * those before the next keyframe could stand in no other file.
 */
const AWAY_AFTER_MS = 10_000;

/** Records one camera: reads its ring, in the thread that fills it, and gives each frame to the file it belongs into. */
export class Recorder {
  readonly #log: Logger;
  readonly #reader: RingReader;
  readonly #files: RecorderFiles;
  readonly #pace = new LookPace();

  constructor(options: RecorderOptions, ring: SharedArrayBuffer, deps: RecorderDeps) {
    this.#log = deps.log;
    this.#files = new RecorderFiles(options, deps);
    this.#reader = new RingReader(ring, { start: 'unmarked-key', sound: 'kept' });
  }

  /** The ring was replaced; what is collected still lies in the old one, and a fragment has one guard. */
  moveTo(ring: SharedArrayBuffer): void {
    this.#read();
    this.#files.cut();
    this.#reader.moveTo(ring);
    this.#reader.leaveMark();
  }

  /** Takes what has come since, and has written what is due. Called often; costs next to nothing then. */
  pump(nowMs: number): void {
    const files = this.#files;
    if (!files.retry(nowMs)) return;
    const before = files.state;
    const isAtPace = before.kind === 'records' || before.kind === 'rolls-over';
    if (isAtPace && this.#pace.isTooEarly(nowMs)) return;
    this.#pace.beginLook(nowMs, before.file);
    this.#read();
    this.#pace.endLook();
    files.endLate(nowMs);
    const { file, tail } = files.state;
    if (file !== null) this.#pace.write(nowMs, file, tail !== null);
    if (nowMs - files.lastPictureMs >= AWAY_AFTER_MS) files.onAway();
  }

  setMode(mode: RecordMode): void {
    this.#files.setMode(mode);
  }

  /** The folder of all recordings is gone: what is open ends, and none is begun before `resume`. */
  suspend(): void {
    this.#files.suspend();
  }

  resume(): void {
    this.#files.resume();
  }

  /** Has what was written made to last. */
  sync(): void {
    this.#files.state.file?.sync();
  }

  /** Every second: tells of losses, at most that often. */
  report(): void {
    this.#files.report();
  }

  /** Takes what is left in the ring and closes the file; resolves when it has its name. */
  async stop(): Promise<void> {
    try {
      this.#read(true);
      this.#files.end();
    } catch (fault) {
      this.#log.error('the end of a recording is lost', { reason: messageOf(fault) });
      this.#files.abandon();
    }
    await this.#files.closed();
  }

  #read(isLast = false): void {
    const reader = this.#reader;
    const { kind, file } = this.#files.state;
    // A file says at its start whether it has sound.
    const isTooEarly = file === null && reader.awaitsSound && !isLast;
    if (kind === 'paused' || kind === 'closes' || isTooEarly) return;
    try {
      while (reader.next()) {
        if (reader.isVideo) this.#onVideo(reader);
        else this.#onAudio(reader);
      }
    } finally {
      // The recorder after this one, here or in another thread, records no frame twice.
      reader.leaveMark();
    }
  }

  #onVideo(frame: RingReader): void {
    const file = this.#files.fileFor(frame);
    if (file === null) return;
    const isCutDue = this.#pace.takeCut(frame, file.hasAudio);
    if (isCutDue || frame.isKey || file.isFull(frame)) file.cut(frame.dtsTicks);
    if (!file.video(frame)) this.#files.refuse(file);
  }

  #onAudio(frame: RingReader): void {
    const { kind, file, tail } = this.#files.state;
    if (kind !== 'records' && kind !== 'rolls-over') return;
    if (!file.isBefore(frame)) {
      this.#files.endTail();
      file.audio(frame);
    } else {
      tail?.file.audio(frame);
    }
  }
}
