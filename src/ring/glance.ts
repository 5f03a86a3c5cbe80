import type { StreamInfo } from '../codec/track.js';
import { frameFlag } from './frame-flag.js';
import { headerWord, RingMemory, slotTime, slotWord } from './layout.js';
import { loadStreamInfo } from './stream-info.js';

/* What is seen of a ring from any thread without a cursor in it. */

/** A ring's id: one that was made anew has another, one that replaces a smaller one has the same. */
export const ringIdOf = (ring: SharedArrayBuffer): number => new RingMemory(ring).header[headerWord.ringId]!;

/** The number of the newest stream description; 0: there is none yet. */
export const streamVersionOf = (ring: SharedArrayBuffer): number =>
  Atomics.load(new RingMemory(ring).header, headerWord.streamVersion);

/** The stream description of this number, or null if it isn't there any more. */
export const streamInfoOf = (ring: SharedArrayBuffer, version: number): StreamInfo | null =>
  loadStreamInfo(new RingMemory(ring), version);

/** Whether it is open still if there is sound beside the pictures. */
export const awaitsSoundOf = (ring: SharedArrayBuffer): boolean =>
  Atomics.load(new RingMemory(ring).header, headerWord.awaitsSound) === 1;

/** When the newest keyframe of a ring was taken; null: it has none, or that has just gone. */
export const newestKeyframeMs = (ring: SharedArrayBuffer): number | null => {
  const memory = new RingMemory(ring);
  const { header, slots, slotTimes } = memory;
  if (Atomics.load(header, headerWord.hasKey) === 0) return null;
  const sequence = Atomics.load(header, headerWord.latestKey);
  const at = memory.slotAt(sequence);
  const wallMs = slotTimes[at / 2 + slotTime.wall]!;
  return Atomics.add(slots, at, 0) === sequence ? wallMs : null;
};

/** Readers in other threads that wait for this ring's frames. */
export const subscribersOf = (ring: SharedArrayBuffer): number =>
  Atomics.load(new RingMemory(ring).header, headerWord.subscribers);

/**
 * The presentation times of the newest video frames, newest first, back to a break in the stream; `most` counts
 * audio frames, too.
 */
export const newestVideoTimes = (ring: SharedArrayBuffer, most: number): number[] => {
  const memory = new RingMemory(ring);
  const { header, slots, slotTimes, slotCount } = memory;
  const head = Atomics.load(header, headerWord.head);
  const times: number[] = [];
  for (let back = 1; back <= Math.min(slotCount, most); back += 1) {
    const sequence = (head - back) | 0;
    const at = memory.slotAt(sequence);
    const flags = slots[at + slotWord.flags]!;
    const pts = slotTimes[at / 2 + slotTime.pts]!;
    if (Atomics.add(slots, at, 0) !== sequence) break;
    if ((flags & frameFlag.audio) !== 0) continue;
    times.push(pts);
    if ((flags & frameFlag.discontinuity) !== 0) break;
  }
  return times;
};
