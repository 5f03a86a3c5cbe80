import { VIDEO_CLOCK_HZ } from '../codec/track.js';
import { toTimestamp } from './timestamp.js';

/** What is said of a picture from when it was taken on; null: nothing, from here on. No line of it is empty. */
export type Remark = { readonly wallMs: number; readonly text: string | null };

/** The segment that something is said of: when its first picture is shown, and was taken, and how long it lasts. */
export type Subtitled = { readonly ptsTicks: number; readonly wallMs: number; readonly durationMs: number };

/** So long it is shown where nothing newer is said. */
export const REMARK_HOLDS_MS = 5_000;

/** HH:MM:SS.mmm (WebVTT §4.4). */
const timeText = (ms: number): string => new Date(ms).toISOString().slice(11, 23);

/** Whether a camera's clock says something that may be a time. */
export const isSane = (wallMs: number): boolean => wallMs > 0 && wallMs < 8e15;

/**
 * A segment's subtitles: times are from the segment's first picture (RFC 8216 §3.5). What was said before it and holds is
 * said again, since a player may begin with any segment. `said`: from `REMARK_HOLDS_MS` before the segment on, oldest first.
 */
export const webVttOf = ({ ptsTicks, wallMs, durationMs }: Subtitled, said: readonly Remark[]): string => {
  const head = `WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:${toTimestamp(ptsTicks, VIDEO_CLOCK_HZ)}\n\n`;
  const cues = said.flatMap(({ wallMs: atMs, text }, index) => {
    const offset = (ms: number): number =>
      Math.min(Math.max(Math.round(ms - wallMs), 0), Math.round(durationMs));
    const from = offset(atMs);
    const to = offset(Math.min(said[index + 1]?.wallMs ?? Number.POSITIVE_INFINITY, atMs + REMARK_HOLDS_MS));
    return text === null || from >= to ? [] : [`${timeText(from)} --> ${timeText(to)}\n${text}\n\n`];
  });
  return head + cues.join('');
};
