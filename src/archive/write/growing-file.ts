import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isSameSound, type StreamInfo, VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { buildInitSegment } from '../../fmp4/init-segment.js';
import type { StartReason } from '../../fmp4/start-reason.js';
import type { RingReader } from '../../ring/reader.js';
import type { FileProgress } from '../files/file-progress.js';
import type { RecorderRoot } from '../root-state.js';
import type { DirectDisk } from './direct-disk.js';
import type { DiskQueue } from './disk-queue.js';
import { FragmentCollector } from './fragment-collector.js';
import { type ClosedFile, RecordingFile } from './recording-file.js';
import type { StreamFormat } from './stream-format.js';

export type GrowingFileOptions = {
  readonly root: RecorderRoot;
  readonly cameraId: string;
  /** What it is of, and why it begins. */
  readonly stream: StreamInfo;
  readonly reason: StartReason;
  /** It ends at the first keyframe after so many. */
  readonly maxSeconds: number;
};

/** What becomes of it, as RecordingFile tells. */
export type GrowingFileEvents = {
  onMade(fileName: string, progress: FileProgress): void;
  onBegun(file: GrowingFile): void;
  onLost(file: GrowingFile, frames: number): void;
  onOverrun(file: GrowingFile): void;
  onFault(file: GrowingFile, fault: unknown): void;
};

export type GrowingFileDeps = {
  readonly queue: DiskQueue;
  readonly direct: DirectDisk;
  readonly events: GrowingFileEvents;
};

/** A moof holds no more than this, so that a crash loses less than a second with all that comes on top. */
const MAX_FRAGMENT_TICKS = VIDEO_CLOCK_HZ * 0.9;
const MAX_GAP_TICKS = 2 * VIDEO_CLOCK_HZ;
/** The camera's clock was set: the file's times would be wrong from here on. */
const MAX_CLOCK_STEP_MS = 2_000;

/** A file that frames go into: what is on the disk, and the fragment that is open. It knows where it has to end. */
export class GrowingFile {
  readonly #stream: StreamInfo;
  #maxSeconds: number;
  /** Of its first picture. */
  readonly #firstDtsTicks: number;
  readonly #firstWallMs: number;
  readonly #collector: FragmentCollector;
  readonly #file: RecordingFile;

  /** `first`: the keyframe that it begins with. */
  constructor(options: GrowingFileOptions, first: RingReader, { queue, direct, events }: GrowingFileDeps) {
    const { root, cameraId, stream, reason } = options;
    this.#stream = stream;
    this.#maxSeconds = options.maxSeconds;
    this.#firstDtsTicks = first.dtsTicks;
    this.#firstWallMs = first.wallMs;
    this.#file = new RecordingFile(
      {
        root,
        folder: join(root.dir, cameraId),
        startWallMs: first.wallMs,
        init: this.#initFor(reason),
      },
      {
        queue,
        direct,
        events: {
          onMade: (fileName, progress) => events.onMade(fileName, progress),
          onBegun: () => events.onBegun(this),
          onLost: (frames) => events.onLost(this, frames),
          onOverrun: () => events.onOverrun(this),
          onFault: (fault) => events.onFault(this, fault),
        },
      },
    );
    this.#collector = new FragmentCollector(stream, first.dtsTicks);
  }

  /** "" until something of the recording is in it. */
  get name(): string {
    return this.#file.name;
  }

  get hasAudio(): boolean {
    return this.#collector.hasAudio;
  }

  /** When the first frame of the open fragment came; infinite if there is none. */
  get openSinceMs(): number {
    return this.#collector.firstArrivalMs;
  }

  /** When the oldest frame came that waits to be written; infinite if there is none. */
  get pendingSinceMs(): number {
    return this.#file.oldestPendingMs;
  }

  /** Both. */
  get oldestMs(): number {
    return Math.min(this.pendingSinceMs, this.openSinceMs);
  }

  /** Why this picture can't stand in it, or needn't; null: it belongs here. `isLost`: what came before it is lost. */
  borderAt(frame: RingReader, format: StreamFormat, isLost: boolean): StartReason | null {
    const gapTicks = frame.dtsTicks - this.#collector.lastDtsTicks;
    if (!format.isOf(frame) && !this.#fits(format.at(frame))) return 'format';
    if (gapTicks > MAX_GAP_TICKS || gapTicks <= 0) return isLost ? 'disk' : 'camera_away';
    return frame.isKey ? this.#borderAtKey(frame) : null;
  }

  /** Whether the open fragment is too long for one more picture. */
  isFull(frame: RingReader): boolean {
    return this.#collector.spanTicks(frame.dtsTicks) >= MAX_FRAGMENT_TICKS;
  }

  /** Takes a picture. False: its time can't stand here. */
  video(frame: RingReader): boolean {
    return this.#collector.video(frame);
  }

  /** Whether sound is of the time of the file before. */
  isBefore(frame: RingReader): boolean {
    return this.#collector.isBefore(frame);
  }

  audio(frame: RingReader): void {
    this.#collector.audio(frame);
  }

  /** Ends the open fragment. `nextDtsTicks`: the decode time of the picture that follows, NaN if unknown. */
  cut(nextDtsTicks: number): void {
    const fragment = this.#collector.cut(nextDtsTicks);
    if (fragment !== null) this.#file.append(fragment);
  }

  /** Gives up the open fragment, whose frames refer to what was lost; returns how many pictures that costs. */
  dropOpen(): number {
    const open = this.#collector.cut(Number.NaN);
    this.#collector.lastDtsTicks = this.#file.endDtsTicks;
    return open?.videoFrames ?? 0;
  }

  /** The end of the file before is lost: this one begins for that, whatever it was begun for. */
  blameDisk(): void {
    this.#file.replaceInit(this.#initFor('disk'));
  }

  /** Asks for what is pending to be written. */
  flush(): void {
    this.#file.flush();
  }

  /** Has what was written made to last. */
  sync(): void {
    this.#file.sync();
  }

  /** It ends at the next keyframe, however short it is. */
  endSoon(): void {
    this.#maxSeconds = 0;
  }

  /** See RecordingFile. */
  close(): Promise<ClosedFile | null> {
    return this.#file.close();
  }

  #initFor(startReason: StartReason): Buffer {
    return buildInitSegment(this.#stream, { startReason });
  }

  /** Whether frames of another format can stand in it: sound that falls silent, or is back, ends no file. */
  #fits(now: StreamInfo | null): boolean {
    if (now === null) return false;
    const isAudioFit = now.audio === null || isSameSound(this.#stream.audio, now.audio);
    return isAudioFit && isDeepStrictEqual(this.#stream.video, now.video);
  }

  #borderAtKey(frame: RingReader): StartReason | null {
    const seconds = (frame.dtsTicks - this.#firstDtsTicks) / VIDEO_CLOCK_HZ;
    const clockStepMs = frame.wallMs - this.#firstWallMs - seconds * 1000;
    if (seconds >= this.#maxSeconds) return 'rollover';
    return Math.abs(clockStepMs) > MAX_CLOCK_STEP_MS ? 'clock' : null;
  }
}
