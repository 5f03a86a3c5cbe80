import type { StreamInfo } from '../../../codec/track.js';
import { newestVideoTimes } from '../../../ring/glance.js';

/** Among so many video frames, B-frames show; no pattern of them is longer. */
const ENOUGH_FRAMES = 16;
const MAX_SLOTS = 256;

/**
 * Whether the camera's frames come in another order than they are shown in: with B-frames. What the frames
 * themselves show counts; the stream's own word only as long as there are few, since cameras without B-frames
 * announce them, too.
 */
export const hasReorderedFrames = (ring: SharedArrayBuffer, { video }: StreamInfo): boolean => {
  const times = newestVideoTimes(ring, MAX_SLOTS);
  let disorders = 0;
  for (let i = 1; i < times.length; i += 1) {
    if (times[i]! <= times[i - 1]!) continue;
    disorders += 1;
    // One alone, with none behind it, is a clock that was set back a little.
    if (i < ENOUGH_FRAMES || disorders > 1) return true;
  }
  return times.length < ENOUGH_FRAMES && (video.reorderDepth ?? 0) > 0;
};
