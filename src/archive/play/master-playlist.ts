import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { StreamDescription } from './describe-stream.js';
import type { PlaylistSection } from './playlist.js';

/** What MPEG-TS takes beside frames: 4 of each packet's 188 bytes, heads, and the stuffing at their ends. */
const TS_SHARE = 1.06;

export type MasterPlaylist = {
  /** Addresses of the playlists of pictures and of subtitles. */
  readonly pictures: string;
  readonly subtitles: string;
  readonly sections: readonly PlaylistSection[];
  readonly streams: readonly StreamDescription[];
};

const bitRates = (
  sections: readonly PlaylistSection[],
): { readonly peakBps: number; readonly averageBps: number } => {
  let [bytes, seconds, peakBps] = [0, 0, 0];
  for (const { parts, first, end } of sections) {
    for (let part = first; part < end; part += 1) {
      const partBytes = parts.endBytes[part]! - parts.startBytes[part]!;
      const partSeconds = (parts.endTicks[part]! - parts.ptsTicks[part]!) / VIDEO_CLOCK_HZ;
      bytes += partBytes;
      seconds += partSeconds;
      if (partSeconds > 0) peakBps = Math.max(peakBps, (partBytes * 8) / partSeconds);
    }
  }
  return { peakBps: peakBps * TS_SHARE, averageBps: seconds > 0 ? ((bytes * 8) / seconds) * TS_SHARE : 0 };
};

/** A recording, or what was recorded within a time, with its detections as subtitles, as live streams have them. */
export const masterPlaylist = ({ pictures, subtitles, sections, streams }: MasterPlaylist): string => {
  const { peakBps, averageBps } = bitRates(sections);
  const codecs = [...new Set(streams.flatMap((stream) => stream.codecs))].join(',');
  const largest = streams.reduce((a, b) => (b.width * b.height > a.width * a.height ? b : a));
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="AI Detections",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,' +
      `LANGUAGE="en",URI="${subtitles}"`,
    `#EXT-X-STREAM-INF:BANDWIDTH=${Math.ceil(peakBps)},AVERAGE-BANDWIDTH=${Math.ceil(averageBps)},` +
      `CODECS="${codecs}",RESOLUTION=${largest.width}x${largest.height},SUBTITLES="subs"`,
    pictures,
    '',
  ].join('\n');
};
