import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { StreamName } from '../../ring/source-key.js';
import { names } from './names.js';
import type { Segment } from './segment.js';
import type { SegmentWindow } from './window.js';

const seconds = (ticks: number): string => (ticks / VIDEO_CLOCK_HZ).toFixed(5);

/** What is put behind each address in a playlist: a player takes along the id of its viewing, and which stream it plays. */
export const addressSuffix = (session: string | null, stream: StreamName): string => {
  const query = new URLSearchParams();
  if (session !== null) query.set('session', session);
  if (stream !== 'main') query.set('stream', stream);
  return query.size === 0 ? '' : `?${query}`;
};

/** The tags with which a media playlist begins. */
export const playlistHead = (window: SegmentWindow, first: Segment, version: number): string[] => {
  const before = first.discontinuities - (first.start.isDiscontinuity ? 1 : 0);
  return [
    '#EXTM3U',
    `#EXT-X-VERSION:${version}`,
    `#EXT-X-TARGETDURATION:${window.targetDurationSec}`,
    `#EXT-X-MEDIA-SEQUENCE:${first.number}`,
    // RFC 8216 §4.3.3.3: how many discontinuities have fallen out of the playlist.
    `#EXT-X-DISCONTINUITY-SEQUENCE:${before}`,
  ];
};

/** The tags that say when a segment was filmed. */
export const segmentTags = ({ start: { isDiscontinuity, wallMs } }: Segment): string[] => {
  const time = `#EXT-X-PROGRAM-DATE-TIME:${isoTime(wallMs)}`;
  return isDiscontinuity ? ['#EXT-X-DISCONTINUITY', time] : [time];
};

/** A sliding window of whole segments. `nameOf` makes a segment's address. */
export const slidingPlaylist = (window: SegmentWindow, nameOf: (segment: number) => string): string => {
  const segments = window.listed();
  const [first] = segments;
  if (first === undefined) return '';
  const lines = playlistHead(window, first, 6);
  for (const segment of segments) {
    lines.push(
      ...segmentTags(segment),
      `#EXTINF:${seconds(segment.durationTicks ?? 0)},`,
      nameOf(segment.number),
    );
  }
  lines.push('');
  return lines.join('\n');
};

/** The video playlist: MPEG-TS. */
export const videoPlaylist = (window: SegmentWindow, suffix: string): string =>
  slidingPlaylist(window, (segment) => names.ts(segment) + suffix);

/** The subtitles: a file beside each video segment. */
export const subtitlePlaylist = (window: SegmentWindow, suffix: string): string =>
  slidingPlaylist(window, (segment) => names.subtitles(segment) + suffix);

const MAX_DATE_MS = 8.64e15;

/** Wall times come from cameras: one that no date can hold is shown as 1970. */
const isoTime = (wallMs: number): string =>
  new Date(Math.abs(wallMs) <= MAX_DATE_MS ? wallMs : 0).toISOString();
