import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { RingReader } from '../../ring/reader.js';
import type { FileProgress } from '../files/file-progress.js';
import { type RecorderRoot, rootLost } from '../root-state.js';
import { ClosingFiles } from './closing-files.js';
import type { DirectDisk } from './direct-disk.js';
import type { DiskQueue } from './disk-queue.js';
import { DiskRefusal } from './disk-refusal.js';
import { firstLengthSeconds } from './first-length.js';
import { GrowingFile, type GrowingFileDeps } from './growing-file.js';
import { LostFrames } from './lost-frames.js';
import {
  afterCrowd,
  afterFile,
  afterLoss,
  afterPause,
  type Beginning,
  closing,
  type Growing,
  growing,
  pausedUntil,
  type RecorderState,
  waitingFor,
  withoutTail,
} from './recorder-state.js';
import type { ClosedFile } from './recording-file.js';
import { StreamFormat } from './stream-format.js';

/** What a recorder tells of itself. */
export type RecorderNews = {
  /** Of the file that is being written, or null. */
  readonly fileName: string | null;
  /** Why the disk refused, while recording is paused for that. */
  readonly fault: string | null;
};

/** A file was made; it is closed, or gone; it could not be closed: whoever keeps the archive has to. */
export type RecorderFileState = 'made' | 'closed' | 'left';

/** Whether all that is recorded is to be kept, or, in the end, what lies around events alone. */
export type RecordMode = 'continuous' | 'events';

export type RecorderOptions = {
  readonly cameraId: string;
  readonly root: RecorderRoot;
  /** A file is closed at the first keyframe after so many seconds, or fewer. */
  readonly fileSeconds: number;
  readonly mode: RecordMode;
};

export type RecorderDeps = {
  readonly log: Logger;
  readonly queue: DiskQueue;
  readonly direct: DirectDisk;
  readonly onNews: (news: RecorderNews) => void;
  /** Video frames came and could not be recorded. */
  readonly onLost: (frames: number) => void;
  /** `progress`: of a file that was made, how far it is from then on. */
  readonly onFile: (fileName: string, state: RecorderFileState, progress: FileProgress | null) => void;
};

/** What is of no event goes once its file is closed: that isn't to take an hour. */
const MAX_EVENTS_FILE_SEC = 300;
/** Sound comes after the pictures of its time; for so long a file that was rolled over waits for the rest of its own. */
const TAIL_MS = 1_000;
/** A stream that stands still ends its fragment. */
const STILL_AFTER_MS = 800;

/** The files of one recorder: which one frames go into, when it ends and why, and whether the disk takes them. */
export class RecorderFiles {
  readonly #options: RecorderOptions;
  readonly #deps: RecorderDeps;
  readonly #fileDeps: GrowingFileDeps;
  #state: RecorderState = waitingFor('start', null);
  readonly #format = new StreamFormat();
  readonly #refusal: DiskRefusal;
  readonly #lost: LostFrames;
  readonly #closing = new ClosingFiles((file, closed) => this.#onClosed(file, closed));
  #lastPictureMs = 0;
  #mode: RecordMode;

  constructor(options: RecorderOptions, deps: RecorderDeps) {
    this.#options = options;
    this.#mode = options.mode;
    this.#deps = deps;
    this.#refusal = new DiskRefusal(deps.log);
    this.#lost = new LostFrames(deps);
    const { queue, direct, onFile } = deps;
    this.#fileDeps = {
      queue,
      direct,
      events: {
        onMade: (fileName, progress) => onFile(fileName, 'made', progress),
        onBegun: (file) => this.#onBegun(file),
        onLost: (file, frames) => this.#onLost(file, frames),
        onOverrun: (file) => this.#onOverrun(file),
        onFault: (file, fault) => this.#onFault(file, fault),
      },
    };
  }

  get state(): RecorderState {
    return this.#state;
  }

  /** When the newest picture came that was read. */
  get lastPictureMs(): number {
    return this.#lastPictureMs;
  }

  /** From the next keyframe on: what is kept as a whole and what isn't are not in one file. */
  setMode(mode: RecordMode): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#state.file?.endSoon();
  }

  /** The file that the reader's current picture goes into; null: there is none for it. */
  fileFor(frame: RingReader): GrowingFile | null {
    if (frame.gapBefore > 0) this.#lost.add(frame.gapBefore);
    this.#lastPictureMs = frame.arrivalMs;
    this.#checkBorder(frame);
    const state = this.#state;
    // Nothing is read then.
    if (state.kind === 'paused' || state.kind === 'closes') return null;
    if (!frame.isKey) {
      if (state.kind !== 'needs-key') return state.file;
      this.#lost.add(1);
      return null;
    }
    if (state.file === null) return this.#beginFile(state, frame);
    if (state.kind === 'needs-key') this.#state = growing(state.file, state.tail);
    return state.file;
  }

  /** A picture's time can't stand in its file; what refers to it can't be decoded either. */
  refuse(file: GrowingFile): void {
    this.#lost.add(1);
    this.#state = afterLoss(file, this.#state.tail);
  }

  /** Ends the open fragment, of whose ring no more is to come. */
  cut(): void {
    this.#state.file?.cut(Number.NaN);
    this.endTail();
  }

  /** Ends what has waited for more in vain. */
  endLate(nowMs: number): void {
    const { file, tail } = this.#state;
    if (file !== null && nowMs - file.openSinceMs >= STILL_AFTER_MS) file.cut(Number.NaN);
    if (tail !== null && nowMs - tail.sinceMs >= TAIL_MS) this.endTail();
  }

  /** No more sound comes for the file before. */
  endTail(): void {
    const { tail } = this.#state;
    if (tail === null) return;
    this.#state = withoutTail(this.#state);
    tail.file.cut(Number.NaN);
    this.#closing.add(tail.file);
  }

  /** No picture came for long. */
  onAway(): void {
    const state = this.#state;
    if (state.file !== null) this.#leave(afterFile(state, 'camera_away'));
    // Nothing comes that the disk could refuse, and it isn't asked any more.
    else if (this.#refusal.forget()) this.#tell();
  }

  /** After a pause, once it is time. False: it isn't yet. */
  retry(nowMs: number): boolean {
    const state = this.#state;
    if (state.kind !== 'paused') return true;
    if (nowMs < state.retryAtMs) return false;
    this.#state = afterPause;
    return true;
  }

  /** The folder of all recordings is gone: what is open ends, and none is begun before `resume`. */
  suspend(): void {
    this.#pause(rootLost(), Number.POSITIVE_INFINITY);
  }

  resume(): void {
    if (this.#state.kind === 'paused') this.#state = pausedUntil(0);
    this.#refusal.forgetRetries();
  }

  /** Every second: tells of losses, at most that often. */
  report(): void {
    this.#lost.report(this.#refusal.text !== null);
  }

  /** Recording is over. */
  end(): void {
    this.#leave(closing);
  }

  /** The same for what came so far alone. */
  abandon(): void {
    const { file, tail } = this.#state;
    this.#state = closing;
    if (tail !== null) this.#closing.add(tail.file);
    if (file !== null) this.#closing.add(file);
  }

  /** Resolves when all files have their names. */
  async closed(): Promise<void> {
    await this.#closing.done();
    this.#lost.tell();
  }

  get #fileSeconds(): number {
    const { fileSeconds } = this.#options;
    return this.#mode === 'events' ? Math.min(fileSeconds, MAX_EVENTS_FILE_SEC) : fileSeconds;
  }

  /** Ends the file if this picture can't stand in it, or needn't. */
  #checkBorder(frame: RingReader): void {
    const state = this.#state;
    if (state.file === null) return;
    const isLost = state.kind === 'needs-key' || frame.gapBefore > 0;
    const reason = state.file.borderAt(frame, this.#format, isLost);
    if (reason === 'rollover') this.#rollOver(state, frame, this.#mode === 'events' ? 'no_event' : reason);
    else if (reason === 'clock') this.#rollOver(state, frame, reason);
    else if (reason !== null) this.#leave(afterFile(state, reason));
  }

  #beginFile(state: Beginning, frame: RingReader): GrowingFile | null {
    if (this.#closing.isCrowded) {
      this.#lost.add(1);
      this.#state = afterCrowd(state);
      return null;
    }
    const { reason, tail } = state;
    // Where it can't begin one, that is no loss of the disk's.
    if (state.kind === 'needs-key') this.#state = waitingFor(reason, tail);
    const stream = this.#format.at(frame);
    if (stream === null) return null;
    const { root, cameraId } = this.#options;
    const isFirst = reason !== 'rollover' && reason !== 'no_event';
    const maxSeconds = isFirst ? firstLengthSeconds(cameraId, this.#fileSeconds) : this.#fileSeconds;
    const file = new GrowingFile({ root, cameraId, stream, reason, maxSeconds }, frame, this.#fileDeps);
    this.#state = growing(file, tail);
    return file;
  }

  /** The next file goes on where this one ends, which still takes the sound of its time. */
  #rollOver(state: Growing, frame: RingReader, reason: 'rollover' | 'no_event' | 'clock'): void {
    const { file } = state;
    if (!file.hasAudio) {
      this.#leave(afterFile(state, reason), frame.dtsTicks);
      return;
    }
    this.endTail();
    file.cut(frame.dtsTicks);
    // The pictures needn't wait for the sound.
    file.flush();
    this.#state = waitingFor(reason, { file, sinceMs: frame.arrivalMs });
  }

  /** Ends the file, if there is one, and the one before. `nextDtsTicks`: of the picture that follows, if it is known. */
  #leave(next: RecorderState, nextDtsTicks = Number.NaN): void {
    const { file } = this.#state;
    this.endTail();
    file?.cut(nextDtsTicks);
    this.#state = next;
    if (file !== null) this.#closing.add(file);
  }

  #onClosed(file: GrowingFile, closed: ClosedFile | null): void {
    if (this.#state.file === null) this.#tell();
    if (closed === null) return;
    const { fileName, isLeft } = closed;
    if (isLeft) {
      this.#deps.log.error('a recording could not be closed', { file: fileName });
      this.#blameDisk(file);
    }
    this.#deps.onFile(fileName, isLeft ? 'left' : 'closed', null);
  }

  #onBegun(file: GrowingFile): void {
    this.#refusal.end(file.name);
    if (file === this.#state.file) this.#tell();
  }

  #onLost(file: GrowingFile, frames: number): void {
    this.#lost.add(frames);
    this.#blameDisk(file);
  }

  /** Where the end of the file before is lost, the next one begins for that. */
  #blameDisk(file: GrowingFile): void {
    if (file !== this.#state.file) this.#state.file?.blameDisk();
  }

  #onOverrun(file: GrowingFile): void {
    const state = this.#state;
    if (file !== state.file) return;
    // What follows refers to what was lost.
    this.#lost.add(file.dropOpen());
    this.#state = afterLoss(file, state.tail);
  }

  #onFault(file: GrowingFile, fault: unknown): void {
    if (file === this.#state.file) {
      this.#pause(fault, this.#lastPictureMs + this.#refusal.nextRetryMs());
      return;
    }
    // The one that is written now says itself whether the disk takes it.
    const fields = { file: file.name, reason: messageOf(fault) };
    this.#deps.log.error('the end of a recording is lost: the disk refused', fields);
  }

  #pause(fault: unknown, retryAtMs: number): void {
    this.#refusal.begin(fault, this.#state.file?.name ?? '');
    this.#leave(pausedUntil(retryAtMs));
    this.#tell();
  }

  #tell(): void {
    const fileName = this.#state.file?.name || null;
    this.#deps.onNews({ fileName, fault: this.#refusal.text });
  }
}
