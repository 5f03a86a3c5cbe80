import type { Clock } from '../../base/clock.js';
import { archiveError } from '../archive-error.js';
import type { Clip } from '../export/clip.js';
import { type PartRange, rangeOfParts } from '../export/clip-layout.js';
import { ClipPlanner } from '../export/clip-planner.js';
import { PinnedClip } from '../export/pinned-clip.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobRunner } from '../jobs/jobs.js';
import { nothingIn, type RecordingLocator, requireSeq, twice } from './locator.js';
import { mayGoOn } from './may-go-on.js';
import { Playlists } from './playlist.js';

/** A part as MPEG-TS. */
export type ArchiveSegment = {
  readonly bytes: Buffer;
  /** Of these very bytes: the same part is always muxed the same. */
  readonly etag: string;
};

/** A file; `box`: whose, if it isn't the one that the name alone means. */
export type NamedFile = { readonly fileName: string; readonly box?: string | null };

/** What a clip is made of: parts of one file (both ends included), or whatever was recorded in a time. */
export type ClipSelection =
  | (NamedFile & { readonly startSeq?: number; readonly endSeq?: number })
  | { readonly fromMs: number; readonly toMs: number };

export type PlaylistRequest = {
  /** The viewing session that child addresses carry; null: none. */
  readonly session: string | null;
};

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
    { session, ...file }: PlaylistRequest & NamedFile,
  ): Promise<readonly Buffer[]> {
    const { fileName } = file;
    const { recording, parts, box } = await twice(() => this.#locator.locate(cameraId, fileName, file.box));
    if (parts.count === 0) throw nothingIn(recording);
    // The address that was asked for goes on to work, whatever the file is called by then.
    const section = { fileName, box, parts, first: 0, end: parts.count };
    return this.#playlists.build([section], { cameraId, isEnded: !recording.isOpen, session });
  }

  /** `range.m3u8`: all that was recorded from `fromMs` to `toMs`, whole parts. */
  async rangePlaylist(
    cameraId: string,
    { fromMs, toMs, session }: PlaylistRequest & { readonly fromMs: number; readonly toMs: number },
  ): Promise<readonly Buffer[]> {
    const found = await twice(() => this.#locator.locateRange(cameraId, fromMs, toMs, true));
    const sections = found.map(({ recording: { fileName }, ...range }) => ({ fileName, ...range }));
    const isEnded = !mayGoOn(found.at(-1), toMs, this.#clock.wallMs());
    return this.#playlists.build(sections, { cameraId, isEnded, session });
  }

  /** The segment of part `seq` of a file. */
  async segment(
    cameraId: string,
    { fileName, box, seq }: NamedFile & { readonly seq: number },
  ): Promise<ArchiveSegment> {
    return twice(async () => {
      const { recording, source, parts } = await this.#locator.locate(cameraId, fileName, box);
      if (parts.count === 0) throw nothingIn(recording);
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
    { fileName, box, startSeq, endSeq }: Extract<ClipSelection, { fileName: string }>,
  ): Promise<PartRange> {
    const { recording, source, parts } = await this.#locator.locate(cameraId, fileName, box);
    if (parts.count === 0) throw nothingIn(recording);
    const first = startSeq ?? 0;
    const last = endSeq ?? parts.count - 1;
    requireSeq('start_seq', first, parts);
    requireSeq('end_seq', last, parts);
    if (first > last) throw archiveError('bad_seq', 'start_seq is after end_seq');
    return { source, parts, first, end: last + 1 };
  }
}
