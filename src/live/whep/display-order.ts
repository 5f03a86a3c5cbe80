import type { StreamInfo } from '../../codec/track.js';
import { frameFlag, headerWord, RingMemory, SLOT_WORDS, slotTime, slotWord } from '../../ring/layout.js';

/** Among so many video frames, B-frames show; no pattern of them is longer. */
const ENOUGH_FRAMES = 16;
const MAX_SLOTS = 256;

/** The presentation times of the newest video frames, newest first, back to a break in the stream. */
const newestTimes = (ring: SharedArrayBuffer): number[] => {
  const { header, slots, slotTimes, slotCount } = new RingMemory(ring);
  const head = Atomics.load(header, headerWord.head);
  const times: number[] = [];
  for (let back = 1; back <= Math.min(slotCount, MAX_SLOTS); back += 1) {
    const sequence = (head - back) | 0;
    const at = (sequence & (slotCount - 1)) * SLOT_WORDS;
    const flags = slots[at + slotWord.flags]!;
    const pts = slotTimes[at / 2 + slotTime.pts]!;
    if (Atomics.add(slots, at, 0) !== sequence) break;
    if ((flags & frameFlag.audio) !== 0) continue;
    times.push(pts);
    if ((flags & frameFlag.discontinuity) !== 0) break;
  }
  return times;
};

/**
 * Whether the camera's frames come in another order than they are shown in: with B-frames. What the frames
 * themselves show counts; the stream's own word only as long as there are few, since cameras without B-frames
 * announce them, too.
 */
export const hasReorderedFrames = (ring: SharedArrayBuffer, { video }: StreamInfo): boolean => {
  const times = newestTimes(ring);
  let disorders = 0;
  for (let i = 1; i < times.length; i += 1) {
    if (times[i]! <= times[i - 1]!) continue;
    disorders += 1;
    // One alone, with none behind it, is a clock that was set back a little.
    if (i < ENOUGH_FRAMES || disorders > 1) return true;
  }
  return times.length < ENOUGH_FRAMES && (video.reorderDepth ?? 0) > 0;
};
