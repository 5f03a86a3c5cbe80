import { join } from 'node:path';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { VIDEO_CLOCK_HZ } from '../codec/track.js';
import { buildInitSegment } from '../fmp4/init-segment.js';
import type { StartReason } from '../fmp4/start-reason.js';
import { RingReader } from '../ring/reader.js';
import type { DiskQueue } from './disk-queue.js';
import { FragmentCollector, recordable } from './fragment-collector.js';
import { RecordingFile } from './recording-file.js';

/** What a recorder tells of itself. */
export type RecorderNews = {
  /** Of the file that is being written, or null. */
  readonly fileName: string | null;
  /** Video frames that came and could not be recorded, since the news before. */
  readonly lostFrames: number;
  /** Why the disk refused, while recording is paused for that. */
  readonly fault: string | null;
};

export type RecorderOptions = {
  readonly cameraId: string;
  readonly archiveDir: string;
  /** A file is closed at the first keyframe after so many seconds. */
  readonly fileSeconds: number;
};

export type RecorderDeps = {
  readonly log: Logger;
  readonly queue: DiskQueue;
  readonly onNews: (news: RecorderNews) => void;
  /** A file could not be closed: whoever keeps the archive has to. */
  readonly onLeft: (fileName: string) => void;
};

/** A moof holds no more than this, so that a crash loses less than a second with all that comes on top. */
const MAX_FRAGMENT_TICKS = VIDEO_CLOCK_HZ * 0.75;
/** What has waited this long is written; brief fragments go together (a stream may be all keyframes). */
const WRITE_AFTER_MS = 400;
/** Audio comes after the video of its time; for so long a file that was rolled over waits for the rest of its own. */
const TAIL_MS = 1_000;
/** A stream that stands still ends its fragment, and later its file. */
const STILL_AFTER_MS = 750;
const AWAY_AFTER_MS = 3_000;
const MAX_GAP_TICKS = 2 * VIDEO_CLOCK_HZ;
/** The camera's clock was set: the file's times would be wrong from here on. */
const MAX_CLOCK_STEP_MS = 2_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 10_000;

type Tail = { readonly file: RecordingFile; readonly collector: FragmentCollector; readonly sinceMs: number };

/** For people who see no more than this: what a disk's refusal comes down to. */
const faultText = (fault: unknown): string => {
  const code = (fault as NodeJS.ErrnoException).code ?? 'unknown error';
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? 'the disk is full'
    : `recordings can't be written (${code})`;
};

/** Records one camera: reads its ring, in the thread that fills it, and hands fragments to a file. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #log: Logger;
  readonly #queue: DiskQueue;
  readonly #onNews: (news: RecorderNews) => void;
  readonly #onLeft: (fileName: string) => void;
  #reader: RingReader;
  #file: RecordingFile | null = null;
  #collector: FragmentCollector | null = null;
  /** The file before, while audio of its time may come. */
  #tail: Tail | null = null;
  #streamVersion = 0;
  /** Of the current file's first frame. */
  #firstDtsTicks = 0;
  #firstWallMs = 0;
  #needsKey = false;
  #lastVideoArrivalMs = 0;
  /** Why the next file begins. */
  #reason: StartReason = 'start';
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
    this.#onNews = deps.onNews;
    this.#onLeft = deps.onLeft;
    this.#reader = new RingReader(ring, { start: 'latest-key' });
  }

  /** The ring was replaced; what is collected still lies in the old one, and a fragment has one guard. */
  moveTo(ring: SharedArrayBuffer): void {
    this.#read();
    this.#cut(Number.NaN);
    this.#endTail();
    this.#reader.moveTo(ring);
  }

  /** Takes what has come since, and has written what is due. Called often; costs next to nothing then. */
  pump(nowMs: number): void {
    if (nowMs < this.#retryAtMs) return;
    this.#read();
    const collector = this.#collector;
    if (collector !== null && !collector.isEmpty && nowMs - collector.firstArrivalMs >= STILL_AFTER_MS) {
      this.#cut(Number.NaN);
    }
    if (this.#tail !== null && nowMs - this.#tail.sinceMs >= TAIL_MS) this.#endTail();
    const file = this.#file;
    if (file === null) return;
    if (nowMs - file.oldestPendingMs >= WRITE_AFTER_MS) file.flush();
    file.syncIfDue(nowMs);
    if (nowMs - this.#lastVideoArrivalMs >= AWAY_AFTER_MS) this.#endFile('camera_away', Number.NaN);
  }

  /** Every second: tells of losses, at most that often. */
  report(): void {
    if (this.#lostFrames === 0) return;
    this.#log.warn('the disk does not keep up: frames were not recorded', { lost_frames: this.#lostFrames });
    this.#tell();
  }

  /** Takes what is left in the ring and closes the file; resolves when it has its name. */
  async stop(): Promise<void> {
    this.#read();
    this.#endFile('start', Number.NaN);
    await Promise.all(this.#closing);
  }

  #read(): void {
    const reader = this.#reader;
    while (reader.next()) {
      if (reader.isVideo) this.#onVideo(reader);
      else if (!this.#needsKey) this.#onAudio(reader);
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
    if (frame.isKey || collector.spanTicks(frame.dtsTicks) >= MAX_FRAGMENT_TICKS) this.#cut(frame.dtsTicks);
    if (!collector.video(frame)) {
      // What refers to it can't be decoded either.
      this.#lose(1);
      this.#needsKey = true;
    }
  }

  /** Ends the file if this frame can't stand in it, or needn't. */
  #checkBorder(frame: RingReader): void {
    const gapTicks = frame.dtsTicks - this.#collector!.lastDtsTicks;
    if (frame.streamVersion !== this.#streamVersion) this.#endFile('format', Number.NaN);
    else if (gapTicks > MAX_GAP_TICKS || gapTicks <= 0) {
      this.#endFile(this.#needsKey || frame.gapBefore > 0 ? 'disk' : 'camera_away', Number.NaN);
    } else if (frame.isKey) this.#checkKey(frame);
  }

  #checkKey(frame: RingReader): void {
    const seconds = (frame.dtsTicks - this.#firstDtsTicks) / VIDEO_CLOCK_HZ;
    const clockStepMs = frame.wallMs - this.#firstWallMs - seconds * 1000;
    if (seconds >= this.#options.fileSeconds) this.#rollOver(frame);
    else if (Math.abs(clockStepMs) > MAX_CLOCK_STEP_MS) this.#endFile('clock', frame.dtsTicks);
  }

  #beginFile(frame: RingReader): boolean {
    const info = frame.streamInfo();
    if (info === null) return false;
    const { archiveDir, cameraId } = this.#options;
    const recorded = recordable(info);
    const file: RecordingFile = new RecordingFile(
      {
        folder: join(archiveDir, cameraId),
        startWallMs: frame.wallMs,
        init: buildInitSegment(recorded, { startReason: this.#reason }),
      },
      {
        queue: this.#queue,
        nowMs: frame.arrivalMs,
        events: {
          onBegun: (fileName) => this.#onBegun(file, fileName),
          onOverrun: (lostFrames) => this.#onOverrun(file, lostFrames),
          onFault: (fault) => this.#onFault(file, fault),
        },
      },
    );
    this.#file = file;
    this.#streamVersion = frame.streamVersion;
    this.#firstDtsTicks = frame.dtsTicks;
    this.#firstWallMs = frame.wallMs;
    this.#collector = new FragmentCollector(recorded, frame.dtsTicks);
    return true;
  }

  #cut(nextDtsTicks: number): void {
    const fragment = this.#collector?.cut(nextDtsTicks) ?? null;
    if (fragment !== null) this.#file?.append(fragment);
  }

  /** The next file goes on where this one ends, which still takes the audio of its time. */
  #rollOver(frame: RingReader): void {
    const [file, collector] = [this.#file, this.#collector];
    if (file === null || collector?.hasAudio !== true) {
      this.#endFile('rollover', frame.dtsTicks);
      return;
    }
    this.#endTail();
    this.#cut(frame.dtsTicks);
    this.#tail = { file, collector, sinceMs: frame.arrivalMs };
    this.#reason = 'rollover';
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
    const left = await file.close();
    if (this.#file === null) this.#tell();
    if (left === null) return;
    this.#log.error('a recording could not be closed', { file: left });
    this.#onLeft(left);
  }

  #onBegun(file: RecordingFile, fileName: string): void {
    if (this.#fault !== null) this.#log.info('recording again', { file: fileName });
    this.#fault = null;
    this.#retryMs = FIRST_RETRY_MS;
    if (file === this.#file) this.#tell();
  }

  #onOverrun(file: RecordingFile, lostFrames: number): void {
    this.#lose(lostFrames);
    if (file !== this.#file) return;
    // What follows refers to what was lost.
    const open = this.#collector?.cut(Number.NaN) ?? null;
    if (open !== null) this.#lose(open.videoFrames);
    if (this.#collector !== null) this.#collector.lastDtsTicks = file.endDtsTicks;
    this.#needsKey = true;
  }

  #onFault(file: RecordingFile, fault: unknown): void {
    const isFirst = this.#fault === null;
    const reason = messageOf(fault);
    this.#fault = faultText(fault);
    if (isFirst) this.#log.error('recording is paused: the disk refused', { file: file.name, reason });
    if (file !== this.#file) return;
    this.#endFile('disk', Number.NaN);
    this.#retryAtMs = this.#lastVideoArrivalMs + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    this.#tell();
  }

  #lose(frames: number): void {
    this.#lostFrames += frames;
  }

  #tell(): void {
    const fileName = this.#file === null || this.#file.name === '' ? null : this.#file.name;
    const lostFrames = this.#lostFrames;
    this.#lostFrames = 0;
    this.#onNews({ fileName, lostFrames, fault: this.#fault });
  }
}
