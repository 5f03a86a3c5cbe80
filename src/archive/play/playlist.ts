import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { RecordedParts } from '../parts/recorded-parts.js';

/** Parts [first, end) of one file, whose times go on from one to the next. */
export type PlaylistSection = {
  readonly fileName: string;
  /** Whose it is, where others may have one of this name. */
  readonly box: string | null;
  readonly parts: RecordedParts;
  readonly first: number;
  readonly end: number;
};

/** What the entries name: MPEG-TS, or what is said of it. */
export type ChildName = 'segment.ts' | 'subs.vtt';

export type PlaylistOptions = {
  readonly cameraId: string;
  /** Nothing will come behind: VOD. Else EVENT, which only ever grows at its end. */
  readonly isEnded: boolean;
  /** The viewing session that child addresses carry; null: none. */
  readonly session: string | null;
};

/**
 * A growing playlist has to keep its target (RFC 8216 §6.2.1), whatever is recorded later: longer than the
 * keyframe distance of nearly all cameras.
 */
const EVENT_TARGET_SECONDS = 10;
/** Wall time that follows from the durations as exactly as this isn't told again. */
const WALL_TOLERANCE_MS = 5;
/** A day of GOPs of a second has 9 MB of lines, for each session its own. */
const MAX_KNOWN_BYTES = 64 << 20;
/** What the lines of a section take besides their text: key, list and buffers. */
const SECTION_BYTES = 1024;
/** What grows is put together now and then. */
const MAX_PIECES = 16;

const DISCONTINUITY = Buffer.from('#EXT-X-DISCONTINUITY\n');
const ENDLIST = Buffer.from('#EXT-X-ENDLIST\n');

/** What tells an address which box's file it means. */
export const boxQuery = (box: string | null): string =>
  box === null ? '' : `&box=${encodeURIComponent(box)}`;

const secondsOf = (parts: RecordedParts, part: number): number =>
  (parts.endTicks[part]! - parts.ptsTicks[part]!) / VIDEO_CLOCK_HZ;

/** The lines of a section, made once for each part. */
class SectionLines {
  pieces: Buffer[] = [];
  lengthBytes = SECTION_BYTES;
  /** EXTINF rounded to a whole number is never over the target (RFC 8216 §4.3.3.1). */
  longestSeconds = 0;
  end: number;
  /** A table only ever grows at its end; a file that was replaced has another one. */
  readonly #table: symbol;
  #expectedMs = Number.NaN;

  constructor({ parts, first }: PlaylistSection) {
    this.#table = parts.identity;
    this.end = first;
  }

  /** Whether these are the section's lines, or the first of them. */
  beginsLike({ parts, end }: PlaylistSection): boolean {
    return this.#table === parts.identity && this.end <= end;
  }

  /** Adds the parts that are new. */
  extend({ fileName, box, parts, end }: PlaylistSection, child: ChildName, suffix: string): void {
    if (end === this.end) return;
    const file = encodeURIComponent(fileName) + boxQuery(box);
    let text = '';
    for (let part = this.end; part < end; part += 1) {
      const wallMs = parts.wallMs[part]!;
      if (!(Math.abs(wallMs - this.#expectedMs) < WALL_TOLERANCE_MS)) {
        text += `#EXT-X-PROGRAM-DATE-TIME:${new Date(Math.round(wallMs)).toISOString()}\n`;
        this.#expectedMs = wallMs;
      }
      this.#expectedMs += parts.durationMs(part);
      const seconds = secondsOf(parts, part);
      this.longestSeconds = Math.max(this.longestSeconds, Math.round(seconds));
      text += `#EXTINF:${seconds.toFixed(6)},\n${child}?file=${file}&seq=${part}${suffix}\n`;
    }
    this.end = end;
    this.pieces.push(Buffer.from(text));
    // What was handed out is still being sent, perhaps: a new list, and no piece is changed.
    if (this.pieces.length > MAX_PIECES) this.pieces = [Buffer.concat(this.pieces)];
    this.lengthBytes += text.length;
  }
}

/**
 * Media playlists of recorded parts; the times of each section begin anew. Players ask for a growing one every few
 * seconds: the lines that it had are kept, as many as there is room for, and those of new parts alone are made.
 */
export class Playlists {
  readonly #maxBytes: number;
  readonly #child: ChildName;
  /** The one asked for last is the last one. */
  readonly #known = new Map<string, SectionLines>();
  #knownBytes = 0;

  constructor(options: { readonly maxBytes?: number; readonly child?: ChildName } = {}) {
    this.#child = options.child ?? 'segment.ts';
    this.#maxBytes = options.maxBytes ?? MAX_KNOWN_BYTES;
  }

  /** The text, in pieces that nobody changes. */
  build(sections: readonly PlaylistSection[], options: PlaylistOptions): readonly Buffer[] {
    const { isEnded } = options;
    const all = sections.map((section) => this.#linesOf(section, options));
    const longestSeconds = all.reduce((longest, lines) => Math.max(longest, lines.longestSeconds), 0);
    const head = [
      '#EXTM3U',
      '#EXT-X-VERSION:6',
      `#EXT-X-PLAYLIST-TYPE:${isEnded ? 'VOD' : 'EVENT'}`,
      `#EXT-X-TARGETDURATION:${Math.max(longestSeconds, isEnded ? 1 : EVENT_TARGET_SECONDS)}`,
      '#EXT-X-MEDIA-SEQUENCE:0',
      '#EXT-X-INDEPENDENT-SEGMENTS',
      // A growing playlist would otherwise be taken for live, and played from its end.
      ...(isEnded ? [] : ['#EXT-X-START:TIME-OFFSET=0,PRECISE=YES']),
    ];
    const body = all.flatMap(({ pieces }, at) => (at === 0 ? pieces : [DISCONTINUITY, ...pieces]));
    this.#forgetOldest();
    return [Buffer.from(`${head.join('\n')}\n`), ...body, ...(isEnded ? [ENDLIST] : [])];
  }

  #linesOf(section: PlaylistSection, { cameraId, session }: PlaylistOptions): SectionLines {
    const { fileName, box, first } = section;
    const key = JSON.stringify([cameraId, fileName, box, first, session]);
    const before = this.#known.get(key);
    const lines = before?.beginsLike(section) === true ? before : new SectionLines(section);
    this.#known.delete(key);
    this.#known.set(key, lines);
    this.#knownBytes -= before?.lengthBytes ?? 0;
    lines.extend(section, this.#child, session === null ? '' : `&session=${encodeURIComponent(session)}`);
    this.#knownBytes += lines.lengthBytes;
    return lines;
  }

  #forgetOldest(): void {
    for (const [key, { lengthBytes }] of this.#known) {
      if (this.#knownBytes <= this.#maxBytes) return;
      this.#known.delete(key);
      this.#knownBytes -= lengthBytes;
    }
  }
}
