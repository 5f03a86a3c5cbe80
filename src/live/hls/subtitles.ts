import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { toTimestamp } from '../../mpegts/timestamp.js';
import type { Segment } from './segment.js';

/** What is said of a picture from when it was taken on; null: nothing, from here on. No line of it is empty. */
export type Remark = { readonly wallMs: number; readonly text: string | null };

/** What is said of a camera's pictures that were taken in [fromMs, toMs), oldest first. */
export type Remarks = (cameraId: string, fromMs: number, toMs: number) => readonly Remark[];

/** So long it is shown where nothing newer is said. */
export const REMARK_HOLDS_MS = 5_000;

/** HH:MM:SS.mmm (WebVTT §4.4). */
const timeText = (ms: number): string => new Date(ms).toISOString().slice(11, 23);

const durationMsOf = ({ durationTicks }: Segment): number => ((durationTicks ?? 0) / VIDEO_CLOCK_HZ) * 1_000;

const isSane = (wallMs: number): boolean => wallMs > 0 && wallMs < 8e15;

/**
 * A segment's subtitles: times are from the segment's first picture (RFC 8216 §3.5). What was said before it and holds is
 * said again, since a player may begin with any segment.
 */
export const subtitleFile = (segment: Segment, cameraId: string, remarks: Remarks): string => {
  const { ptsTicks, wallMs } = segment.start;
  const head = `WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:${toTimestamp(ptsTicks, VIDEO_CLOCK_HZ)}\n\n`;
  if (!isSane(wallMs)) return head;
  const endMs = durationMsOf(segment);
  const said = remarks(cameraId, wallMs - REMARK_HOLDS_MS, wallMs + endMs);
  const cues = said.flatMap(({ wallMs: atMs, text }, index) => {
    const offset = (ms: number): number => Math.min(Math.max(Math.round(ms - wallMs), 0), Math.round(endMs));
    const from = offset(atMs);
    const to = offset(Math.min(said[index + 1]?.wallMs ?? Number.POSITIVE_INFINITY, atMs + REMARK_HOLDS_MS));
    return text === null || from >= to ? [] : [`${timeText(from)} --> ${timeText(to)}\n${text}\n\n`];
  });
  return head + cues.join('');
};
