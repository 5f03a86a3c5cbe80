import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { names } from './names.js';
import { playlistHead, segmentTags } from './playlists.js';
import type { Part, Segment } from './segment.js';
import type { SegmentWindow } from './window.js';

/** Whole segments that are also listed in parts: with the open one, three target durations (RFC 8216bis §4.4.4.9). */
const SEGMENTS_IN_PARTS = 2;
/** Where delta updates begin, in target durations from the playlist's end (RFC 8216bis §4.4.3.8: six at least). */
const SKIP_BOUNDARY_TARGETS = 6;
/** How far behind the newest part players should stay, in parts (RFC 8216bis §4.4.3.8: three at least). */
const HOLD_BACK_PARTS = 3;
/** And no less than this: closer to the end than the last keyframe, hls.js stumbles over what it leaves out at its start. */
const MIN_HOLD_BACK_SEC = 1.02;
const TICKS_A_MS = VIDEO_CLOCK_HZ / 1000;
const STEPS_A_SEC = 100_000;
const TICKS_A_STEP = VIDEO_CLOCK_HZ / STEPS_A_SEC;

/**
 * In steps of 10 us, and one tick less than it is: where what a player has buffered ends a rounding error before a
 * segment's end, hls.js loads that segment's parts over and over.
 */
const shownSteps = ({ durationTicks }: Part): number => Math.floor((durationTicks - 1) / TICKS_A_STEP);

const shown = (steps: number): string => (steps / STEPS_A_SEC).toFixed(5);

/** The sum of what is shown of its parts. */
const segmentSteps = ({ parts }: Segment): number =>
  parts.reduce((steps, part) => steps + shownSteps(part), 0);

/** How many of them end before the skip boundary (RFC 8216bis §6.2.5.1). */
const skippableSegments = (
  segments: readonly Segment[],
  open: Segment | null,
  boundarySec: number,
): number => {
  let steps = open === null ? 0 : segmentSteps(open);
  let count = segments.length;
  while (count > 0 && steps <= boundarySec * STEPS_A_SEC) {
    count -= 1;
    steps += segmentSteps(segments[count]!);
  }
  return count;
};

const partLines = ({ number, parts }: Segment, suffix: string): string[] =>
  parts.map((part, index) => {
    const independent = part.hasKey ? ',INDEPENDENT=YES' : '';
    const uri = names.part(number, index) + suffix;
    return `#EXT-X-PART:DURATION=${shown(shownSteps(part))},URI="${uri}"${independent}`;
  });

/**
 * The low-latency playlist: fMP4 in segments and parts (RFC 8216bis §4.4.3.7, §4.4.4.9). `isDelta`: for a player that
 * has read it lately, without what that knows (§4.4.5.2).
 */
export const lowLatencyPlaylist = (window: SegmentWindow, suffix: string, isDelta: boolean): string => {
  const segments = window.listedBesideParts();
  const [first] = segments;
  if (first === undefined) return '';
  const { open } = window;
  // Rounded up to a millisecond: no part may be longer than it says.
  const partTargetSec = Math.ceil(window.longestPartTicks / TICKS_A_MS) / 1000;
  const holdBackSec = Math.max(partTargetSec * HOLD_BACK_PARTS, MIN_HOLD_BACK_SEC).toFixed(3);
  const skipBoundarySec = window.targetDurationSec * SKIP_BOUNDARY_TARGETS;
  const skipped = isDelta ? skippableSegments(segments, open, skipBoundarySec) : 0;
  const lines = playlistHead(window, first, 9);
  lines.push(
    `#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=${skipBoundarySec},PART-HOLD-BACK=${holdBackSec}`,
    `#EXT-X-PART-INF:PART-TARGET=${partTargetSec}`,
  );
  if (skipped > 0) lines.push(`#EXT-X-SKIP:SKIPPED-SEGMENTS=${skipped}`);
  let shownInit = -1;
  const begin = (segment: Segment): void => {
    lines.push(...segmentTags(segment));
    const { version } = segment.start.head.init;
    if (version !== shownInit) lines.push(`#EXT-X-MAP:URI="${names.init(version)}${suffix}"`);
    shownInit = version;
  };
  for (let index = skipped; index < segments.length; index += 1) {
    const segment = segments[index]!;
    begin(segment);
    if (segments.length - index <= SEGMENTS_IN_PARTS) lines.push(...partLines(segment, suffix));
    lines.push(`#EXTINF:${shown(segmentSteps(segment))},`, names.mp4(segment.number) + suffix);
  }
  if (open !== null) {
    begin(open);
    const next = names.part(open.number, open.parts.length) + suffix;
    lines.push(...partLines(open, suffix), `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${next}"`);
  }
  lines.push('');
  return lines.join('\n');
};
