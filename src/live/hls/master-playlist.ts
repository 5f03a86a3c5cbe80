import { type AudioTrackInfo, VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { adtsHeaderFor } from '../../mpegts/adts-header.js';
import { SAMPLE_FIELDS, type Segment, sampleField, sampleKind } from './segment.js';
import type { SegmentWindow } from './window.js';

/** What MPEG-TS takes beside frames: 4 of each packet's 188 bytes, heads, and the stuffing at their ends. */
const TS_PACKET_SHARE = 188 / 184;
const TS_BYTES_A_PICTURE = 125;
const TS_BYTES_A_SOUND = 12;
const TS_BYTES_A_SEGMENT = 3_000;

/** What is in the segments that are there. */
type Measured = {
  readonly mp4AverageBps: number;
  readonly mp4PeakBps: number;
  readonly tsAverageBps: number;
  readonly framesPerSec: number;
};

type Contents = { readonly pictures: number; readonly tsBytes: number };

const contentsOf = ({ parts }: Segment, hasTsAudio: boolean): Contents => {
  let pictures = 0;
  let bytes = TS_BYTES_A_SEGMENT;
  for (const { samples } of parts) {
    for (let at = 0; at < samples.length; at += SAMPLE_FIELDS) {
      const isAudio = samples[at + sampleField.kind] === sampleKind.audio;
      if (!isAudio) pictures += 1;
      if (isAudio && !hasTsAudio) continue;
      const frameBytes = samples[at + sampleField.end]! - samples[at + sampleField.start]!;
      bytes += frameBytes + (isAudio ? TS_BYTES_A_SOUND : TS_BYTES_A_PICTURE);
    }
  }
  return { pictures, tsBytes: bytes * TS_PACKET_SHARE };
};

const measure = (segments: readonly Segment[], hasTsAudio: boolean): Measured => {
  let seconds = 0;
  let mp4Bytes = 0;
  let tsBytes = 0;
  let pictures = 0;
  let mp4PeakBps = 0;
  for (const segment of segments) {
    const segmentSec = (segment.durationTicks ?? 0) / VIDEO_CLOCK_HZ;
    const contents = contentsOf(segment, hasTsAudio);
    seconds += segmentSec;
    mp4Bytes += segment.lengthBytes;
    tsBytes += contents.tsBytes;
    pictures += contents.pictures;
    mp4PeakBps = Math.max(mp4PeakBps, (segment.lengthBytes * 8) / segmentSec);
  }
  return {
    mp4AverageBps: (mp4Bytes * 8) / seconds,
    mp4PeakBps,
    tsAverageBps: (tsBytes * 8) / seconds,
    framesPerSec: pictures / seconds,
  };
};

const codecsOf = (video: string, audio: AudioTrackInfo | null): string =>
  audio === null ? video : `${video},${audio.codecString}`;

/**
 * The master manifest: MPEG-TS first, for players that take the first one, and parts for those that choose. A player
 * that changed from one to the other and back would only lose time, so each kind is told which one is its own: hls.js
 * stays within the default pathway (RFC 8216bis §7), which is that of parts, and leaves it if that fails; others go
 * by the score (§4.4.6.2).
 */
export const masterPlaylist = (window: SegmentWindow, suffix: string): string => {
  const segments = window.listed();
  const { video, audio } = segments.at(-1)!.start.head.info;
  const tsAudio = adtsHeaderFor(audio) === null ? null : audio;
  const { mp4AverageBps, mp4PeakBps, tsAverageBps, framesPerSec } = measure(segments, tsAudio !== null);
  const picture = `,RESOLUTION=${video.width}x${video.height},FRAME-RATE=${framesPerSec.toFixed(3)}`;
  const isIndependent = segments.every(({ start }) => start.isKey);
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    ...(isIndependent ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="subs",NAME="AI Detections",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,' +
      `LANGUAGE="en",URI="subs.m3u8${suffix}"`,
    // This BANDWIDTH is a promise to clients: what is measured stands beside it.
    `#EXT-X-STREAM-INF:BANDWIDTH=4000000,SUBTITLES="subs",AVERAGE-BANDWIDTH=${Math.ceil(tsAverageBps)},` +
      `CODECS="${codecsOf(video.codecString, tsAudio)}"${picture},SCORE=1,PATHWAY-ID="segments"`,
    `stream.m3u8${suffix}`,
    `#EXT-X-STREAM-INF:BANDWIDTH=${Math.ceil(mp4PeakBps)},SUBTITLES="subs",` +
      `AVERAGE-BANDWIDTH=${Math.ceil(mp4AverageBps)},` +
      `CODECS="${codecsOf(video.codecString, audio)}"${picture},SCORE=2`,
    `ll.m3u8${suffix}`,
    '',
  ].join('\n');
};
