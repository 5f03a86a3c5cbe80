import { VIDEO_CLOCK_HZ } from '../codec/track.js';
import { toTimestamp } from './timestamp.js';

/** What is said of a picture from when it was taken on; null: nothing, from here on. No line of it is empty. */
export type Remark = {
  readonly wallMs: number;
  readonly text: string | null;
  /** Who says it: what others say of a picture doesn't end it. */
  readonly source: string;
};

/** When the first picture was taken of what something is said of, and how long that lasts. */
export type Filmed = { readonly wallMs: number; readonly durationMs: number };

/** A segment, and when its first picture is shown. */
export type Subtitled = Filmed & { readonly ptsTicks: number };

/** So long it is shown where nothing newer is said. */
export const REMARK_HOLDS_MS = 5_000;

/** HH:MM:SS.mmm (WebVTT §4.4); a time may be longer than a day. */
const timeText = (ms: number): string => {
  const hours = String(Math.floor(ms / 3_600_000)).padStart(2, '0');
  return hours + new Date(ms).toISOString().slice(13, 23);
};

/** Whether a camera's clock says something that may be a time. */
export const isSane = (wallMs: number): boolean => wallMs > 0 && wallMs < 8e15;

/**
 * A segment's subtitles: times are from the segment's first picture (RFC 8216 §3.5). What was said before it and holds is
 * said again, since a player may begin with any segment. `said`: from `REMARK_HOLDS_MS` before the segment on, oldest first.
 */
export const webVttOf = (segment: Subtitled, said: readonly Remark[]): string => {
  const timestamp = toTimestamp(segment.ptsTicks, VIDEO_CLOCK_HZ);
  return `WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:${timestamp}\n\n${cuesOf(segment, said)}`;
};

/** The same for a clip that begins at 0. */
export const plainWebVttOf = (clip: Filmed, said: readonly Remark[]): string =>
  `WEBVTT\n\n${cuesOf(clip, said)}`;

/** When the same source said something else. */
const nextOfSource = (said: readonly Remark[]): readonly number[] => {
  const next = new Map<string, number>();
  return said
    .toReversed()
    .map(({ wallMs, source }) => {
      const nextMs = next.get(source) ?? Number.POSITIVE_INFINITY;
      next.set(source, wallMs);
      return nextMs;
    })
    .reverse();
};

const cuesOf = ({ wallMs, durationMs }: Filmed, said: readonly Remark[]): string => {
  const nextMs = nextOfSource(said);
  const cues = said.flatMap(({ wallMs: atMs, text }, index) => {
    const offset = (ms: number): number =>
      Math.min(Math.max(Math.round(ms - wallMs), 0), Math.round(durationMs));
    const from = offset(atMs);
    const to = offset(Math.min(nextMs[index]!, atMs + REMARK_HOLDS_MS));
    return text === null || from >= to ? [] : [`${timeText(from)} --> ${timeText(to)}\n${text}\n\n`];
  });
  return cues.join('');
};
