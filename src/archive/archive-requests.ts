import type { Clock } from '../base/clock.js';
import { AppError } from '../base/errors.js';
import { Turns, type TurnsOptions } from '../base/turns.js';
import { archiveError } from './archive-error.js';
import type { KeptDetections } from './detections/kept-detections.js';
import type { DetectionsText } from './detections/read-detections.js';
import type { Clip } from './export/clip.js';
import type { FrameReading } from './frames/frame-reading.js';
import type { Frames } from './frames/frames.js';
import type { Deleting } from './keep/deleting.js';
import type { Recording } from './list/recording.js';
import type { Recordings } from './list/recordings.js';
import type { Timeline, TimelineSpan } from './list/timeline.js';
import type { FileContent } from './play/file-content.js';
import type { KeyFrames } from './play/key-frames.js';
import type { ArchiveSegment, ClipSelection, Playback } from './play/playback.js';
import type { SubtitleTrack } from './play/subtitle-track.js';

export type ArchiveRequestsDeps = {
  readonly recordings: Pick<Recordings, 'isShared' | 'list'>;
  readonly timeline: Pick<Timeline, 'intervals'>;
  readonly playback: Playback;
  readonly keyFrames: KeyFrames;
  readonly frames: Pick<Frames, 'read'>;
  readonly deletions: Pick<Deleting, 'deleteWithin'>;
  readonly detections: Pick<KeptDetections, 'page'>;
  readonly subtitles: Pick<
    SubtitleTrack,
    | 'archiveMaster'
    | 'rangeMaster'
    | 'archiveSubtitles'
    | 'rangeSubtitles'
    | 'segmentSubtitles'
    | 'clipSubtitles'
  >;
  readonly clock: Clock;
};

/**
 * ffmpeg and GStreamer give up at the first 503, and GStreamer where nothing comes for 15 s. At once as many as keep
 * the threads of jobs at work, so that none of theirs is ever refused there.
 */
const TURNS: TurnsOptions = { atOnce: 8, maxWaiting: 1_024, maxInLane: 256, patienceMs: 15_000 };
/** Deletions wait for one thread; whoever reads needn't wait for them. */
const DELETION_TURNS: TurnsOptions = { atOnce: 2, maxWaiting: 64, maxInLane: 16, patienceMs: 15_000 };
/** A recording that has just begun is played as soon as its first part is whole: that takes a keyframe distance. */
const READY_WITHIN_MS = 12_000;
const READY_POLL_MS = 500;

/** What clients ask of the archive, each in its turn: one camera's viewers hold up no other's. */
export class ArchiveRequests {
  readonly #deps: ArchiveRequestsDeps;
  readonly #turns: Turns;
  readonly #deletionTurns: Turns;

  constructor(deps: ArchiveRequestsDeps) {
    this.#deps = deps;
    this.#turns = new Turns(TURNS, { clock: deps.clock, busy });
    this.#deletionTurns = new Turns(DELETION_TURNS, { clock: deps.clock, busy });
  }

  /** Whether other boxes may have recordings, too. */
  get isShared(): boolean {
    return this.#deps.recordings.isShared;
  }

  list(cameraId: string): Promise<readonly Recording[]> {
    return this.#turns.run(cameraId, () => this.#deps.recordings.list(cameraId));
  }

  intervals(cameraId: string, fromMs: number, toMs: number): Promise<TimelineSpan> {
    return this.#turns.run(cameraId, () => this.#deps.timeline.intervals(cameraId, fromMs, toMs));
  }

  archivePlaylist(...wanted: Parameters<Playback['archivePlaylist']>): Promise<readonly Buffer[]> {
    const [cameraId] = wanted;
    return this.#whenReady(() =>
      this.#turns.run(cameraId, () => this.#deps.playback.archivePlaylist(...wanted)),
    );
  }

  rangePlaylist(...wanted: Parameters<Playback['rangePlaylist']>): Promise<readonly Buffer[]> {
    return this.#turns.run(wanted[0], () => this.#deps.playback.rangePlaylist(...wanted));
  }

  segment(...wanted: Parameters<Playback['segment']>): Promise<ArchiveSegment> {
    return this.#turns.run(wanted[0], () => this.#deps.playback.segment(...wanted));
  }

  deleteWithin(cameraId: string, fromMs: number, toMs: number): Promise<number> {
    return this.#deletionTurns.run(cameraId, () => this.#deps.deletions.deleteWithin(cameraId, fromMs, toMs));
  }

  archiveMaster(...wanted: Parameters<SubtitleTrack['archiveMaster']>): Promise<string> {
    return this.#whenReady(() =>
      this.#turns.run(wanted[0], () => this.#deps.subtitles.archiveMaster(...wanted)),
    );
  }

  rangeMaster(...wanted: Parameters<SubtitleTrack['rangeMaster']>): Promise<string> {
    return this.#turns.run(wanted[0], () => this.#deps.subtitles.rangeMaster(...wanted));
  }

  archiveSubtitles(...wanted: Parameters<SubtitleTrack['archiveSubtitles']>): Promise<readonly Buffer[]> {
    return this.#whenReady(() =>
      this.#turns.run(wanted[0], () => this.#deps.subtitles.archiveSubtitles(...wanted)),
    );
  }

  rangeSubtitles(...wanted: Parameters<SubtitleTrack['rangeSubtitles']>): Promise<readonly Buffer[]> {
    return this.#whenReady(() =>
      this.#turns.run(wanted[0], () => this.#deps.subtitles.rangeSubtitles(...wanted)),
    );
  }

  segmentSubtitles(...wanted: Parameters<SubtitleTrack['segmentSubtitles']>): Promise<string> {
    return this.#turns.run(wanted[0], () => this.#deps.subtitles.segmentSubtitles(...wanted));
  }

  clipSubtitles(...wanted: Parameters<SubtitleTrack['clipSubtitles']>): Promise<string | null> {
    return this.#turns.run(wanted[0], () => this.#deps.subtitles.clipSubtitles(...wanted));
  }

  keyFramePlaylist(...wanted: Parameters<KeyFrames['keyFramePlaylist']>): Promise<Buffer> {
    return this.#turns.run(wanted[0], () => this.#deps.keyFrames.keyFramePlaylist(...wanted));
  }

  content(...wanted: Parameters<KeyFrames['content']>): Promise<FileContent> {
    return this.#turns.run(wanted[0], () => this.#deps.keyFrames.content(...wanted));
  }

  detections(...wanted: Parameters<KeptDetections['page']>): Promise<DetectionsText> {
    return this.#turns.run(wanted[0], () => this.#deps.detections.page(...wanted));
  }

  /** What is to be read is found in turn; the reading has turns of its own. */
  frames(...wanted: Parameters<Frames['read']>): Promise<FrameReading> {
    return this.#turns.run(wanted[0], () => this.#deps.frames.read(...wanted));
  }

  /** Clips have turns of their own. */
  clip(cameraId: string, selection: ClipSelection, viewer: string): Promise<Clip> {
    return this.#deps.playback.clip(cameraId, selection, viewer);
  }

  async #whenReady<Result>(ask: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#deps;
    const untilMs = clock.monotonicMs() + READY_WITHIN_MS;
    for (;;) {
      try {
        return await ask();
      } catch (fault) {
        const isReadySoon = fault instanceof AppError && fault.code === 'recording_not_ready';
        if (!isReadySoon || clock.monotonicMs() >= untilMs) throw fault;
      }
      await new Promise<void>((resolve) => clock.after(READY_POLL_MS, resolve));
    }
  }
}

const busy = () => archiveError('archive_busy', 'the archive has too much to do; try again');
