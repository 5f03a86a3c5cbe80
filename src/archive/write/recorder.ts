import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { isSameSound, type StreamInfo, VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { buildInitSegment } from '../../fmp4/init-segment.js';
import type { StartReason } from '../../fmp4/start-reason.js';
import { RingReader } from '../../ring/reader.js';
import type { FileProgress } from '../files/file-progress.js';
import { type RecorderRoot, ROOT_LOST, rootLost } from '../root-state.js';
import type { DirectDisk } from './direct-disk.js';
import type { DiskQueue } from './disk-queue.js';
import { firstLengthSeconds } from './first-length.js';
import { FragmentCollector, recordable } from './fragment-collector.js';
import { RecordingFile } from './recording-file.js';

/** What a recorder tells of itself. */
export type RecorderNews = {
  /** Of the file that is being written, or null. */
  readonly fileName: string | null;
  /** Why the disk refused, while recording is paused for that. */
  readonly fault: string | null;
};

/** A file was made; it is closed, or gone; it could not be closed: whoever keeps the archive has to. */
export type RecorderFileState = 'made' | 'closed' | 'left';

export type RecorderOptions = {
  readonly cameraId: string;
  readonly root: RecorderRoot;
  /** A file is closed at the first keyframe after so many seconds, or fewer. */
  readonly fileSeconds: number;
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

/** A moof holds no more than this, so that a crash loses less than a second with all that comes on top. */
const MAX_FRAGMENT_TICKS = VIDEO_CLOCK_HZ * 0.9;
/**
 * So long what comes is left in the ring, where it lies well: a look at each frame as it comes would cost as much as
 * writing it. Then the fragment ends right before the newest frame.
 */
const LOOK_AFTER_MS = 750;
/** So many frames of sound may lie behind the newest picture. */
const NEWEST_SOUND_FRAMES = 3;
/** What has waited this long is written; brief fragments go together (a stream may be all keyframes). */
const WRITE_AFTER_MS = 400;
/** Audio comes after the video of its time; for so long a file that was rolled over waits for the rest of its own. */
const TAIL_MS = 1_000;
/**
 * A stream that stands still ends its fragment, and its file when its session ends for that: until then all frames
 * may come late, and those before the next keyframe could stand in no other file.
 */
const STILL_AFTER_MS = 800;
const AWAY_AFTER_MS = 10_000;
const MAX_GAP_TICKS = 2 * VIDEO_CLOCK_HZ;
/** The camera's clock was set: the file's times would be wrong from here on. */
const MAX_CLOCK_STEP_MS = 2_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 10_000;
/** Where the disk takes nothing, what waits for it must have an end. */
const MAX_CLOSING_FILES = 8;

type Tail = { readonly file: RecordingFile; readonly collector: FragmentCollector; readonly sinceMs: number };

/** For people who see no more than this: what a disk's refusal comes down to. */
const faultText = (fault: unknown): string => {
  const code = (fault as NodeJS.ErrnoException).code ?? 'unknown error';
  if (code === ROOT_LOST || code === 'ENOTDIR') return messageOf(fault);
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? 'the disk is full'
    : `recordings can't be written (${code})`;
};

/** Records one camera: reads its ring, in the thread that fills it, and hands fragments to a file. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #log: Logger;
  readonly #queue: DiskQueue;
  readonly #direct: DirectDisk;
  readonly #onNews: (news: RecorderNews) => void;
  readonly #tellLost: (frames: number) => void;
  readonly #onFile: RecorderDeps['onFile'];
  #reader: RingReader;
  #file: RecordingFile | null = null;
  /** The beginning of the current file, by the reason for it. */
  #initFor: ((reason: StartReason) => Buffer) | null = null;
  #collector: FragmentCollector | null = null;
  /** The file before, while audio of its time may come. */
  #tail: Tail | null = null;
  /** What the newest frames are of, and its number; and what the current file is of. */
  #format: StreamInfo | null = null;
  #formatVersion = 0;
  #recorded: StreamInfo | null = null;
  /** How long the current file may get. */
  #fileSeconds = 0;
  /** Of the current file's first frame. */
  #firstDtsTicks = 0;
  #firstWallMs = 0;
  #needsKey = false;
  #lastVideoArrivalMs = 0;
  /** Until then the ring isn't looked at. */
  #lookAtMs = 0;
  /** The fragment that is open ends as soon as it can. */
  #isDue = false;
  /** What is to be written has to wait. */
  #isHeldUp = false;
  /** Why the next file begins. */
  #reason: StartReason = 'start';
  /** Since the disk refused. */
  #isPaused = false;
  #retryAtMs = 0;
  #retryMs = FIRST_RETRY_MS;
  #fault: string | null = null;
  /** Not told of yet. */
  #lostFrames = 0;
  readonly #closing = new Set<Promise<void>>();

  constructor(options: RecorderOptions, ring: SharedArrayBuffer, deps: RecorderDeps) {
    this.#options = options;
    this.#log = deps.log;
    this.#queue = deps.queue;
    this.#direct = deps.direct;
    this.#onNews = deps.onNews;
    this.#tellLost = deps.onLost;
    this.#onFile = deps.onFile;
    this.#reader = new RingReader(ring, { start: 'unmarked-key' });
  }

  /** The ring was replaced; what is collected still lies in the old one, and a fragment has one guard. */
  moveTo(ring: SharedArrayBuffer): void {
    this.#read();
    this.#cut(Number.NaN);
    this.#endTail();
    this.#reader.moveTo(ring);
    this.#reader.leaveMark();
  }

  /** Takes what has come since, and has written what is due. Called often; costs next to nothing then. */
  pump(nowMs: number): void {
    if (this.#isPaused && nowMs < this.#retryAtMs) return;
    if (this.#file !== null && !this.#needsKey && nowMs < this.#lookAtMs) return;
    this.#isPaused = false;
    const oldestMs = this.#isHeldUp ? this.#openSinceMs : this.#oldestMs;
    this.#isDue = nowMs - oldestMs >= LOOK_AFTER_MS;
    this.#read();
    this.#isDue = false;
    if (nowMs - this.#openSinceMs >= STILL_AFTER_MS) this.#cut(Number.NaN);
    if (this.#tail !== null && nowMs - this.#tail.sinceMs >= TAIL_MS) this.#endTail();
    const file = this.#file;
    const isAway = nowMs - this.#lastVideoArrivalMs >= AWAY_AFTER_MS;
    if (file === null) {
      if (isAway) this.#forgetFault();
      return;
    }
    const isWriteDue = nowMs - file.oldestPendingMs >= WRITE_AFTER_MS;
    if (isWriteDue) file.flush();
    this.#isHeldUp = isWriteDue && Number.isFinite(file.oldestPendingMs);
    const isIdle = !this.#isHeldUp && this.#tail === null;
    this.#lookAtMs = isIdle ? Math.min(this.#oldestMs, nowMs) + LOOK_AFTER_MS : nowMs;
    if (isAway) this.#endFile('camera_away', Number.NaN);
  }

  /** The folder of all recordings is gone: what is open ends, and none is begun before `resume`. */
  suspend(): void {
    this.#pause(rootLost());
    this.#retryAtMs = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    this.#retryAtMs = 0;
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** Has what was written made to last. */
  sync(): void {
    this.#file?.sync();
  }

  /** Every second: tells of losses, at most that often. */
  report(): void {
    if (this.#lostFrames === 0) return;
    // That it refuses was told of already.
    if (this.#fault === null) {
      this.#log.warn('the disk does not keep up: frames were not recorded', {
        lost_frames: this.#lostFrames,
      });
    }
    this.#tellLosses();
  }

  /** Takes what is left in the ring and closes the file; resolves when it has its name. */
  async stop(): Promise<void> {
    try {
      this.#read(true);
      this.#endFile('start', Number.NaN);
    } catch (fault) {
      this.#log.error('the end of a recording is lost', { reason: messageOf(fault) });
      const files = [this.#tail?.file, this.#file];
      [this.#tail, this.#file, this.#collector] = [null, null, null];
      for (const file of files) if (file) this.#startClosing(file);
    }
    await Promise.all(this.#closing);
    this.#tellLosses();
  }

  /** When the oldest frame came that isn't being written; infinite if there is none. */
  get #oldestMs(): number {
    return Math.min(this.#file?.oldestPendingMs ?? Number.POSITIVE_INFINITY, this.#openSinceMs);
  }

  /** The same of the fragment that is open. */
  get #openSinceMs(): number {
    return this.#collector?.firstArrivalMs ?? Number.POSITIVE_INFINITY;
  }

  #read(isLast = false): void {
    const reader = this.#reader;
    // A file says at its start whether it has sound.
    const isTooEarly = this.#file === null && reader.awaitsSound && !isLast;
    if (this.#isPaused || isTooEarly) return;
    try {
      while (reader.next()) {
        if (reader.isVideo) this.#onVideo(reader);
        else if (!this.#needsKey) this.#onAudio(reader);
      }
    } finally {
      // The recorder after this one, here or in another thread, records no frame twice.
      reader.leaveMark();
    }
  }

  #onAudio(frame: RingReader): void {
    const collector = this.#collector;
    if (collector === null) return;
    if (!collector.isBefore(frame)) {
      this.#endTail();
      collector.audio(frame);
    } else {
      this.#tail?.collector.audio(frame);
    }
  }

  #onVideo(frame: RingReader): void {
    if (frame.gapBefore > 0) this.#lose(frame.gapBefore);
    this.#lastVideoArrivalMs = frame.arrivalMs;
    if (this.#file !== null) this.#checkBorder(frame);
    if (this.#file === null || this.#needsKey) {
      if (!frame.isKey) {
        if (this.#needsKey) this.#lose(1);
        return;
      }
      this.#needsKey = false;
    }
    if (this.#file === null && !this.#beginFile(frame)) return;
    const collector = this.#collector!;
    const isDue = this.#isDue && frame.backlogFrames <= (collector.hasAudio ? NEWEST_SOUND_FRAMES : 0);
    if (isDue || frame.isKey || collector.spanTicks(frame.dtsTicks) >= MAX_FRAGMENT_TICKS) {
      this.#cut(frame.dtsTicks);
      if (isDue) this.#isDue = false;
    }
    if (!collector.video(frame)) {
      // What refers to it can't be decoded either.
      this.#lose(1);
      this.#needsKey = true;
    }
  }

  /** Ends the file if this frame can't stand in it, or needn't. */
  #checkBorder(frame: RingReader): void {
    const gapTicks = frame.dtsTicks - this.#collector!.lastDtsTicks;
    if (frame.formatVersion !== this.#formatVersion && !this.#fits(frame))
      this.#endFile('format', Number.NaN);
    else if (gapTicks > MAX_GAP_TICKS || gapTicks <= 0) {
      this.#endFile(this.#needsKey || frame.gapBefore > 0 ? 'disk' : 'camera_away', Number.NaN);
    } else if (frame.isKey) this.#checkKey(frame);
  }

  #checkKey(frame: RingReader): void {
    const seconds = (frame.dtsTicks - this.#firstDtsTicks) / VIDEO_CLOCK_HZ;
    const clockStepMs = frame.wallMs - this.#firstWallMs - seconds * 1000;
    if (seconds >= this.#fileSeconds) this.#rollOver(frame, 'rollover');
    else if (Math.abs(clockStepMs) > MAX_CLOCK_STEP_MS) this.#rollOver(frame, 'clock');
  }

  #beginFile(frame: RingReader): boolean {
    if (this.#closing.size >= MAX_CLOSING_FILES) {
      this.#lose(1);
      this.#needsKey = true;
      this.#reason = 'disk';
      return false;
    }
    const recorded = this.#formatOf(frame);
    if (recorded === null) return false;
    this.#recorded = recorded;
    const { root, cameraId, fileSeconds } = this.#options;
    const initFor = (startReason: StartReason): Buffer => buildInitSegment(recorded, { startReason });
    const file: RecordingFile = new RecordingFile(
      {
        root,
        folder: join(root.dir, cameraId),
        startWallMs: frame.wallMs,
        init: initFor(this.#reason),
      },
      {
        queue: this.#queue,
        direct: this.#direct,
        events: {
          onMade: (fileName, progress) => this.#onFile(fileName, 'made', progress),
          onBegun: () => this.#onBegun(file),
          onLost: (frames) => this.#onLost(file, frames),
          onOverrun: () => this.#onOverrun(file),
          onFault: (fault) => this.#onFault(file, fault),
        },
      },
    );
    this.#file = file;
    const isNext = this.#reason === 'rollover';
    this.#fileSeconds = isNext ? fileSeconds : firstLengthSeconds(cameraId, fileSeconds);
    this.#initFor = initFor;
    this.#firstDtsTicks = frame.dtsTicks;
    this.#firstWallMs = frame.wallMs;
    this.#collector = new FragmentCollector(recorded, frame.dtsTicks);
    return true;
  }

  /** The same for all files of a format: frames with other parameter sets bring them along, and files can be joined. */
  #formatOf(frame: RingReader): StreamInfo | null {
    if (this.#format !== null && frame.formatVersion === this.#formatVersion) return this.#format;
    const info = frame.formatInfo();
    if (info === null) return null;
    this.#formatVersion = frame.formatVersion;
    this.#format = recordable(info);
    return this.#format;
  }

  /** Whether a frame of another format can stand in the current file: sound that falls silent, or is back, ends none. */
  #fits(frame: RingReader): boolean {
    const before = this.#recorded;
    const now = this.#formatOf(frame);
    if (before === null || now === null) return false;
    const isAudioFit = now.audio === null || isSameSound(before.audio, now.audio);
    return isAudioFit && isDeepStrictEqual(before.video, now.video);
  }

  #cut(nextDtsTicks: number): void {
    const fragment = this.#collector?.cut(nextDtsTicks) ?? null;
    if (fragment !== null) this.#file?.append(fragment);
  }

  /** The next file goes on where this one ends, which still takes the audio of its time. */
  #rollOver(frame: RingReader, reason: 'rollover' | 'clock'): void {
    const [file, collector] = [this.#file, this.#collector];
    if (file === null || collector?.hasAudio !== true) {
      this.#endFile(reason, frame.dtsTicks);
      return;
    }
    this.#endTail();
    this.#cut(frame.dtsTicks);
    // The pictures needn't wait for the sound.
    file.flush();
    this.#tail = { file, collector, sinceMs: frame.arrivalMs };
    this.#reason = reason;
    this.#file = null;
    this.#collector = null;
  }

  #endTail(): void {
    const tail = this.#tail;
    if (tail === null) return;
    this.#tail = null;
    const fragment = tail.collector.cut(Number.NaN);
    if (fragment !== null) tail.file.append(fragment);
    this.#startClosing(tail.file);
  }

  #endFile(nextReason: StartReason, nextDtsTicks: number): void {
    const file = this.#file;
    this.#endTail();
    this.#cut(nextDtsTicks);
    this.#reason = nextReason;
    this.#file = null;
    this.#collector = null;
    if (file !== null) this.#startClosing(file);
  }

  #startClosing(file: RecordingFile): void {
    const closing: Promise<void> = this.#close(file).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #close(file: RecordingFile): Promise<void> {
    const closed = await file.close();
    if (this.#file === null) this.#tell();
    if (closed === null) return;
    const { fileName, isLeft } = closed;
    if (isLeft) {
      this.#log.error('a recording could not be closed', { file: fileName });
      this.#blameDisk(file);
    }
    this.#onFile(fileName, isLeft ? 'left' : 'closed', null);
  }

  #onBegun(file: RecordingFile): void {
    if (this.#fault !== null) this.#log.info('recording again', { file: file.name });
    this.#fault = null;
    this.#retryMs = FIRST_RETRY_MS;
    if (file === this.#file) this.#tell();
  }

  #onLost(file: RecordingFile, frames: number): void {
    this.#lose(frames);
    this.#blameDisk(file);
  }

  /** Where the end of the file before is lost, the next one begins for that, whatever it was begun for. */
  #blameDisk(file: RecordingFile): void {
    if (file === this.#file || this.#file === null || this.#initFor === null) return;
    this.#file.replaceInit(this.#initFor('disk'));
  }

  #onOverrun(file: RecordingFile): void {
    if (file !== this.#file) return;
    // What follows refers to what was lost.
    const open = this.#collector?.cut(Number.NaN) ?? null;
    if (open !== null) this.#lose(open.videoFrames);
    if (this.#collector !== null) this.#collector.lastDtsTicks = file.endDtsTicks;
    this.#needsKey = true;
  }

  #onFault(file: RecordingFile, fault: unknown): void {
    if (file === this.#file) {
      this.#pause(fault);
      return;
    }
    // The one that is written now says itself whether the disk takes it.
    const fields = { file: file.name, reason: messageOf(fault) };
    this.#log.error('the end of a recording is lost: the disk refused', fields);
  }

  #pause(fault: unknown): void {
    if (this.#fault === null) {
      const fields = { file: this.#file?.name ?? '', reason: messageOf(fault) };
      this.#log.error('recording is paused: the disk refused', fields);
    }
    this.#fault = faultText(fault);
    this.#endFile('disk', Number.NaN);
    // What comes until it is tried again, and then until a keyframe, is lost to the disk as well.
    this.#needsKey = true;
    this.#isPaused = true;
    this.#retryAtMs = this.#lastVideoArrivalMs + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    this.#tell();
  }

  /** Nothing comes that the disk could refuse, and it isn't asked any more. */
  #forgetFault(): void {
    if (this.#fault === null) return;
    this.#fault = null;
    this.#tell();
  }

  #lose(frames: number): void {
    this.#lostFrames += frames;
  }

  #tell(): void {
    const fileName = this.#file === null || this.#file.name === '' ? null : this.#file.name;
    this.#onNews({ fileName, fault: this.#fault });
  }

  #tellLosses(): void {
    if (this.#lostFrames > 0) this.#tellLost(this.#lostFrames);
    this.#lostFrames = 0;
  }
}
