import type { RecordedParts } from './recorded-parts.js';

/** Parts [first, end) of one file, whose times go on from one to the next. */
export type PlaylistSection = {
  readonly fileName: string;
  readonly parts: RecordedParts;
  readonly first: number;
  readonly end: number;
};

export type PlaylistOptions = {
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
const TICKS_PER_SECOND = 90_000;

/** The media playlist of recorded parts; the times of each section begin anew. */
export const buildPlaylist = (
  sections: readonly PlaylistSection[],
  { isEnded, session }: PlaylistOptions,
): string => {
  const suffix = session === null ? '' : `&session=${encodeURIComponent(session)}`;
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    `#EXT-X-PLAYLIST-TYPE:${isEnded ? 'VOD' : 'EVENT'}`,
    `#EXT-X-TARGETDURATION:${targetSeconds(sections, isEnded)}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    // A growing playlist would otherwise be taken for live, and played from its end.
    ...(isEnded ? [] : ['#EXT-X-START:TIME-OFFSET=0,PRECISE=YES']),
  ];
  for (const [index, section] of sections.entries()) {
    if (index > 0) lines.push('#EXT-X-DISCONTINUITY');
    addSection(lines, section, suffix);
  }
  if (isEnded) lines.push('#EXT-X-ENDLIST');
  return `${lines.join('\n')}\n`;
};

const addSection = (
  lines: string[],
  { fileName, parts, first, end }: PlaylistSection,
  suffix: string,
): void => {
  const file = encodeURIComponent(fileName);
  let expectedMs = Number.NaN;
  for (let part = first; part < end; part += 1) {
    const wallMs = parts.wallMs[part]!;
    if (!(Math.abs(wallMs - expectedMs) < WALL_TOLERANCE_MS)) {
      lines.push(`#EXT-X-PROGRAM-DATE-TIME:${new Date(Math.round(wallMs)).toISOString()}`);
      expectedMs = wallMs;
    }
    expectedMs += parts.durationMs(part);
    lines.push(
      `#EXTINF:${secondsOf(parts, part).toFixed(6)},`,
      `segment.ts?file=${file}&seq=${part}${suffix}`,
    );
  }
};

const secondsOf = (parts: RecordedParts, part: number): number =>
  (parts.endTicks[part]! - parts.ptsTicks[part]!) / TICKS_PER_SECOND;

/** EXTINF rounded to a whole number is never over the target (RFC 8216 §4.3.3.1). */
const targetSeconds = (sections: readonly PlaylistSection[], isEnded: boolean): number => {
  let seconds = isEnded ? 1 : EVENT_TARGET_SECONDS;
  for (const { parts, first, end } of sections) {
    for (let part = first; part < end; part += 1) {
      seconds = Math.max(seconds, Math.round(secondsOf(parts, part)));
    }
  }
  return seconds;
};
