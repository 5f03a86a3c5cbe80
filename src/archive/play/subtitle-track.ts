import type { Clock } from '../../base/clock.js';
import { isSane, plainWebVttOf, REMARK_HOLDS_MS, type Remark, webVttOf } from '../../mpegts/web-vtt.js';
import { archiveError } from '../archive-error.js';
import type { KeptDetection } from '../detections/detection-record.js';
import type { KeptDetections } from '../detections/kept-detections.js';
import type { DetectionPlace, ReadDetections } from '../detections/read-detections.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { RecordedParts } from '../parts/recorded-parts.js';
import type { StreamDescription } from './describe-stream.js';
import { type Located, nothingIn, type RecordingLocator, requireSeq, twice } from './locator.js';
import { masterPlaylist } from './master-playlist.js';
import { mayGoOn } from './may-go-on.js';
import type { NamedFile } from './playback.js';
import { type PlaylistSection, Playlists } from './playlist.js';

export type SubtitleTrackDeps = {
  readonly locator: RecordingLocator;
  readonly runner: JobRunner;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly detections: Pick<KeptDetections, 'between' | 'read'>;
  /** What subtitles say of a picture; null: nothing was seen in it. */
  readonly cueText: (detection: KeptDetection) => string | null;
};

type Session = { readonly session: string | null };
type FileWanted = Session & NamedFile;
type RangeWanted = Session & { readonly fromMs: number; readonly toMs: number };

/** So long after a picture it may take until it is known what is in it: a player asks for a segment's subtitles once. */
const SETTLED_AFTER_MS = 5_000;
/** Formats of one range that are looked at; no camera changes more often, in a day. */
const MAX_FORMATS = 8;

/** Parts of a file that is being written whose subtitles are settled. */
const settledEnd = (parts: RecordedParts, first: number, end: number): number => {
  const beforeMs = parts.wallEndMs(parts.count - 1) - SETTLED_AFTER_MS;
  let settled = end;
  while (settled > first && parts.wallEndMs(settled - 1) > beforeMs) settled -= 1;
  return settled;
};

const CLIP_PAGE = 1_000;
/** The times of a cue, and the lines around it. */
const CUE_BYTES = 32;

const notReady = () =>
  archiveError('recording_not_ready', 'the recording has just begun', { retryAfterSec: 2 });

/** What was seen, as subtitles of recordings: a file beside each segment, as live streams have them. */
export class SubtitleTrack {
  readonly #deps: SubtitleTrackDeps;
  readonly #playlists = new Playlists({ child: 'subs.vtt' });

  constructor(deps: SubtitleTrackDeps) {
    this.#deps = deps;
  }

  /** `archive-master.m3u8`: the playlist of one file, and that of its subtitles. */
  async archiveMaster(cameraId: string, { fileName, box, session }: FileWanted): Promise<string> {
    const located = await this.#located(cameraId, fileName, box);
    const query = new URLSearchParams({
      file: fileName,
      ...(located.box === null ? {} : { box: located.box }),
    });
    return this.#master('archive', query, session, [{ ...located, first: 0, end: located.parts.count }]);
  }

  /** `range-master.m3u8`: the same for all that was recorded from `fromMs` to `toMs`. */
  async rangeMaster(cameraId: string, { fromMs, toMs, session }: RangeWanted): Promise<string> {
    const found = await twice(() => this.#deps.locator.locateRange(cameraId, fromMs, toMs, true));
    const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
    return this.#master('range', new URLSearchParams({ from, to }), session, found);
  }

  /** `archive-subs.m3u8`: of a file that is being written only what is settled. */
  async archiveSubtitles(cameraId: string, { session, ...file }: FileWanted): Promise<readonly Buffer[]> {
    const { fileName } = file;
    const { recording, parts, box } = await this.#located(cameraId, fileName, file.box);
    const end = recording.isOpen ? settledEnd(parts, 0, parts.count) : parts.count;
    if (end === 0) throw notReady();
    const isEnded = !recording.isOpen;
    return this.#playlists.build([{ fileName, box, parts, first: 0, end }], { cameraId, isEnded, session });
  }

  /** `range-subs.m3u8`. */
  async rangeSubtitles(cameraId: string, { fromMs, toMs, session }: RangeWanted): Promise<readonly Buffer[]> {
    const { locator, clock } = this.#deps;
    const found = await twice(() => locator.locateRange(cameraId, fromMs, toMs, true));
    const isEnded = !mayGoOn(found.at(-1), toMs, clock.wallMs());
    const sections = found.map(({ recording: { fileName, isOpen }, box, ...range }): PlaylistSection => {
      const { parts, first, end } = range;
      const isSettled = isEnded || !isOpen;
      return { fileName, box, parts, first, end: isSettled ? end : settledEnd(parts, first, end) };
    });
    const listed = sections.filter(({ first, end }) => first < end);
    if (listed.length === 0) throw notReady();
    return this.#playlists.build(listed, { cameraId, isEnded, session });
  }

  /** `subs.vtt`: what was seen in part `seq` of a file, by the times of its segment. */
  async segmentSubtitles(
    cameraId: string,
    { fileName, box, seq }: NamedFile & { readonly seq: number },
  ): Promise<string> {
    const { detections, cueText } = this.#deps;
    const { parts } = await this.#located(cameraId, fileName, box);
    requireSeq('seq', seq, parts);
    const [ptsTicks, wallMs, durationMs] = [parts.ptsTicks[seq]!, parts.wallMs[seq]!, parts.durationMs(seq)];
    const seen = isSane(wallMs)
      ? await detections.between(cameraId, wallMs - REMARK_HOLDS_MS, wallMs + durationMs)
      : [];
    const said = seen.map((detection) => ({
      ...{ wallMs: detection.wallMs, source: detection.source },
      text: cueText(detection),
    }));
    return webVttOf({ ptsTicks, wallMs, durationMs }, said);
  }

  /** What was seen in a clip of that time, which begins at 0; null: nothing, or more than there is room for. */
  async clipSubtitles(
    cameraId: string,
    { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
    maxBytes: number,
  ): Promise<string | null> {
    const { detections, cueText } = this.#deps;
    const said: Remark[] = [];
    let bytes = 0;
    for (let behind: DetectionPlace | null = null, isMore = true; isMore; ) {
      const wanted = { fromMs: fromMs - REMARK_HOLDS_MS, toMs, labels: null, limit: CLIP_PAGE, behind };
      const page: ReadDetections = await detections.read(cameraId, wanted);
      for (const detection of page.detections) {
        const text = cueText(detection);
        said.push({ wallMs: detection.wallMs, source: detection.source, text });
        bytes += CUE_BYTES + (text === null ? 0 : Buffer.byteLength(text));
      }
      if (bytes > maxBytes) return null;
      behind = page.next;
      isMore = behind !== null;
    }
    const isAny = said.some(({ text }) => text !== null);
    return isAny ? plainWebVttOf({ wallMs: fromMs, durationMs: toMs - fromMs }, said) : null;
  }

  async #located(cameraId: string, fileName: string, box: string | null | undefined): Promise<Located> {
    const located = await twice(() => this.#deps.locator.locate(cameraId, fileName, box));
    if (located.parts.count === 0) throw nothingIn(located.recording);
    return located;
  }

  async #master(
    kind: 'archive' | 'range',
    query: URLSearchParams,
    session: string | null,
    sections: readonly (Located & { readonly first: number; readonly end: number })[],
  ): Promise<string> {
    if (session !== null) query.set('session', session);
    const streams: StreamDescription[] = [];
    for (const [index, { recording, source }] of sections.entries()) {
      const isOther = index === 0 || recording.startReason === 'format' || recording.startReason === null;
      if (!isOther || streams.length >= MAX_FORMATS) continue;
      streams.push(await this.#deps.runner.run('describeStream', { source }));
    }
    return masterPlaylist({
      pictures: `${kind}.m3u8?${query}`,
      subtitles: `${kind}-subs.m3u8?${query}`,
      sections: sections.map(({ recording: { fileName }, box, parts, first, end }) => ({
        fileName,
        box,
        parts,
        first,
        end,
      })),
      streams,
    });
  }
}
