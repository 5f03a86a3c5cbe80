import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { isSane, REMARK_HOLDS_MS, type Remark, webVttOf } from '../../mpegts/web-vtt.js';
import type { Segment } from './segment.js';

/** What is said of a camera's pictures that were taken in [fromMs, toMs), oldest first. */
export type Remarks = (cameraId: string, fromMs: number, toMs: number) => readonly Remark[];

/** A segment's subtitles. */
export const subtitleFile = (segment: Segment, cameraId: string, remarks: Remarks): string => {
  const { ptsTicks, wallMs } = segment.start;
  const durationMs = ((segment.durationTicks ?? 0) / VIDEO_CLOCK_HZ) * 1_000;
  const said = isSane(wallMs) ? remarks(cameraId, wallMs - REMARK_HOLDS_MS, wallMs + durationMs) : [];
  return webVttOf({ ptsTicks, wallMs, durationMs }, said);
};
