import { annexBBytes, toAnnexB, writeAnnexB } from '../codec/annex-b.js';
import type { VideoCodec, VideoTrackInfo } from '../codec/track.js';

/** A picture that can be decoded on its own. */
export type Keyframe = {
  /** The same name, the same picture of this camera. */
  readonly name: string;
  readonly codec: VideoCodec;
  readonly takenMs: number;
  /** Parameter sets and picture, as decoders take them from a file. */
  readonly annexB: Buffer;
};

/**
 * Parameter sets, and behind them the access unit that `copyTo` puts there, its NAL units behind 4-byte lengths. Null:
 * it could not, or the lengths don't add up.
 */
export const annexBOf = (
  { vps, sps, pps }: VideoTrackInfo,
  accessUnitBytes: number,
  copyTo: (target: Buffer, start: number) => boolean,
): Buffer | null => {
  const sets = [...vps, ...sps, ...pps];
  const bytes = Buffer.allocUnsafeSlow(annexBBytes(sets) + accessUnitBytes);
  const start = writeAnnexB(bytes, 0, sets);
  return copyTo(bytes, start) && toAnnexB(bytes, start, bytes.length) ? bytes : null;
};
