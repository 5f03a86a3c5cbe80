import { annexBOf } from '../pictures/keyframe.js';
import { RingReader } from '../ring/reader.js';
import type { DetectJob } from './messages.js';

/** A keyframe as it is given to the detector, and when it was taken. */
export type TakenKeyframe = { readonly job: DetectJob; readonly wallMs: number };

/** What no camera's picture needs, and a process needn't be sent. */
const MAX_BYTES = 8_000_000;

/** Why no keyframe of a camera can be looked at. */
export type KeyframeFault = 'too_large' | 'size_unknown';

/** The newest keyframe of a ring; null: there is none that can be had just now. */
export const takeNewestKeyframe = (ring: SharedArrayBuffer): TakenKeyframe | KeyframeFault | null => {
  const reader = new RingReader(ring, { start: 'latest-key' });
  if (!reader.next() || !reader.isKey) return null;
  if (reader.lengthBytes > MAX_BYTES) return 'too_large';
  const info = reader.streamInfo();
  if (info === null) return null;
  const { codec, width, height, reorderDepth } = info.video;
  if (width === 0 || height === 0) return 'size_unknown';
  const annexB = annexBOf(info.video, reader.lengthBytes, (target, start) => reader.copyTo(target, start));
  if (annexB === null) return null;
  const reorders = reorderDepth !== null && reorderDepth > 0;
  return { job: { codec, width, height, reorders, annexB }, wallMs: reader.wallMs };
};
