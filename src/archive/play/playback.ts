import type { Clock } from '../../base/clock.js';
import type { AppError } from '../../base/errors.js';
import { archiveError } from '../archive-error.js';
import type { Clip } from '../export/clip.js';
import { type PartRange, rangeOfParts } from '../export/clip-layout.js';
import { ClipPlanner } from '../export/clip-planner.js';
import { PinnedClip } from '../export/pinned-clip.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Recording } from '../list/recording.js';
import type { RecordedParts } from '../parts/recorded-parts.js';
import { type LocatedRange, type RecordingLocator, twice } from './locator.js';
import { Playlists } from './playlist.js';

/** A part as MPEG-TS. */
export type ArchiveSegment = {
  readonly bytes: Buffer;
  /** Of these very bytes: the same part is always muxed the same. */
  readonly etag: string;
};

/** What a clip is made of: parts of one file (both ends included), or whatever was recorded in a time. */
export type ClipSelection =
  | { readonly fileName: string; readonly startSeq?: number; readonly endSeq?: number }
  | { readonly fromMs: number; readonly toMs: number };

export type PlaylistRequest = {
  /** The viewing session that child addresses carry; null: none. */
  readonly session: string | null;
};

/** A recorder that closes a file begins the next one within this; so an end this new may not be one. */
const LIKELY_TO_GO_ON_MS = 15_000;

/** Plays and exports recordings: playlists, segments and clips, all of their disk work done in jobs. */
export class Playback {
  readonly #locator: RecordingLocator;
  readonly #runner: JobRunner;
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #playlists = new Playlists();
  readonly #planner: ClipPlanner;

  constructor(deps: {
    readonly locator: RecordingLocator;
    readonly runner: JobRunner;
    readonly clock: Pick<Clock, 'wallMs'>;
  }) {
    this.#locator = deps.locator;
    this.#runner = deps.runner;
    this.#clock = deps.clock;
    this.#planner = new ClipPlanner({ runner: deps.runner });
  }

  /** `archive.m3u8` of one file: VOD, or EVENT while it is being written. */
  async archivePlaylist(
    cameraId: string,
    { fileName, session }: PlaylistRequest & { readonly fileName: string },
  ): Promise<readonly Buffer[]> {
    const { recording, parts } = await twice(() => this.#locator.locate(cameraId, fileName));
    if (parts.count === 0) throw nothingIn(recording);
    // The address that was asked for goes on to work, whatever the file is called by then.
    const section = { fileName, parts, first: 0, end: parts.count };
    return this.#playlists.build([section], { cameraId, isEnded: !recording.isOpen, session });
  }

  /** `range.m3u8`: all that was recorded from `fromMs` to `toMs`, whole parts. */
  async rangePlaylist(
    cameraId: string,
    { fromMs, toMs, session }: PlaylistRequest & { readonly fromMs: number; readonly toMs: number },
  ): Promise<readonly Buffer[]> {
    const found = await twice(() => this.#locator.locateRange(cameraId, fromMs, toMs));
    const sections = found.map(({ recording: { fileName }, ...range }) => ({ fileName, ...range }));
    const isEnded = !this.#mayGoOn(found.at(-1), toMs);
    return this.#playlists.build(sections, { cameraId, isEnded, session });
  }

  /** The segment of part `seq` of a file. */
  async segment(
    cameraId: string,
    { fileName, seq }: { readonly fileName: string; readonly seq: number },
  ): Promise<ArchiveSegment> {
    return twice(async () => {
      const { source, parts } = await this.#locator.locate(cameraId, fileName);
      requireSeq('seq', seq, parts);
      const startBytes = parts.startBytes[seq]!;
      const endBytes = parts.endBytes[seq]!;
      const { bytes } = await this.#runner.run('buildSegment', { source, startBytes, endBytes, seq });
      const { ino, mtimeMs } = source.stamp;
      const etag = `"${ino}-${source.isOpen ? 'open' : mtimeMs}-${startBytes}-${endBytes}"`;
      return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), etag };
    });
  }

  /** An ordinary MP4 of whole parts; close it when it is sent. `viewer` is whoever may have no more than his share. */
  async clip(cameraId: string, selection: ClipSelection, viewer: string | null = null): Promise<Clip> {
    return twice(async () => {
      const ranges =
        'fileName' in selection
          ? [await this.#partsOfFile(cameraId, selection)]
          : await this.#locator.locateRange(cameraId, selection.fromMs, selection.toMs);
      const relocate = (source: RecordingSource) => this.#locator.relocate(cameraId, source);
      return this.#planner.plan(ranges.map(rangeOfParts), relocate, viewer);
    });
  }

  /** A clip of a time for later: it holds nothing until it is opened, and is then the very same, or gone. */
  async pinnedClip(
    cameraId: string,
    fromMs: number,
    toMs: number,
    viewer: string | null = null,
  ): Promise<PinnedClip> {
    return twice(async () => {
      const ranges = (await this.#locator.locateRange(cameraId, fromMs, toMs)).map(rangeOfParts);
      const relocate = (source: RecordingSource) => this.#locator.relocate(cameraId, source);
      return await PinnedClip.of(ranges, {
        plan: (wanted) => this.#planner.plan(wanted, relocate, viewer),
        relocate,
      });
    });
  }

  async #partsOfFile(
    cameraId: string,
    { fileName, startSeq, endSeq }: Extract<ClipSelection, { fileName: string }>,
  ): Promise<PartRange> {
    const { recording, source, parts } = await this.#locator.locate(cameraId, fileName);
    if (parts.count === 0) throw nothingIn(recording);
    const first = startSeq ?? 0;
    const last = endSeq ?? parts.count - 1;
    requireSeq('start_seq', first, parts);
    requireSeq('end_seq', last, parts);
    if (first > last) throw archiveError('bad_seq', 'start_seq is after end_seq');
    return { source, parts, first, end: last + 1 };
  }

  /** Whether a later answer to the same range could have more at its end. */
  #mayGoOn(last: LocatedRange | undefined, toMs: number): boolean {
    if (last === undefined || last.end < last.parts.count) return false;
    const coveredMs = last.parts.wallEndMs(last.end - 1);
    if (coveredMs >= toMs) return false;
    return last.recording.isOpen || this.#clock.wallMs() - coveredMs < LIKELY_TO_GO_ON_MS;
  }
}

const nothingIn = ({ isOpen }: Recording): AppError =>
  isOpen
    ? archiveError('recording_not_ready', 'the recording has just begun', { retryAfterSec: 2 })
    : archiveError('recording_unreadable', 'there is no picture in this recording');

const requireSeq = (name: string, seq: number, { count }: RecordedParts): void => {
  if (Number.isInteger(seq) && seq >= 0 && seq < count) return;
  throw archiveError('bad_seq', `${name} has to be a whole number from 0 to ${count - 1}`);
};
