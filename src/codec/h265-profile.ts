import type { BitReader } from './bit-reader.js';

/** general_* of profile_tier_level() (H.265 §7.3.3): what hvcC and RFC 6381 strings repeat. */
export type H265Profile = {
  readonly space: number;
  readonly isHighTier: boolean;
  readonly idc: number;
  /** The 32 compatibility flags, flag 0 on top. */
  readonly compatibility: number;
  /** The six bytes from progressive_source_flag on. */
  readonly constraints: readonly number[];
  readonly levelIdc: number;
};

/** Reads profile_tier_level(1, maxSubLayersMinus1); sub-layers are passed over. */
export const readH265Profile = (bits: BitReader, maxSubLayersMinus1: number): H265Profile => {
  const space = bits.bits(2);
  const isHighTier = bits.flag();
  const idc = bits.bits(5);
  const compatibility = bits.bits(32);
  const constraints = Array.from({ length: 6 }, () => bits.bits(8));
  const levelIdc = bits.bits(8);
  let subLayerBits = 0;
  for (let layer = 0; layer < maxSubLayersMinus1; layer += 1) {
    if (bits.flag()) subLayerBits += 88; // sub_layer_profile_present_flag
    if (bits.flag()) subLayerBits += 8; // sub_layer_level_present_flag
  }
  if (maxSubLayersMinus1 > 0) bits.skip(2 * (8 - maxSubLayersMinus1)); // reserved_zero_2bits
  bits.skip(subLayerBits);
  return { space, isHighTier, idc, compatibility, constraints, levelIdc };
};

/**
 * Passes over the sub-layer ordering info and returns sps_max_num_reorder_pics of the highest sub-layer, which
 * comes last (H.265 §7.3.2.1, §7.3.2.2).
 */
export const readH265ReorderDepth = (bits: BitReader, maxSubLayersMinus1: number): number => {
  const isForEachLayer = bits.flag();
  let depth = 0;
  for (let layer = isForEachLayer ? 0 : maxSubLayersMinus1; layer <= maxSubLayersMinus1; layer += 1) {
    bits.ue(); // max_dec_pic_buffering_minus1
    depth = bits.ue();
    bits.ue(); // max_latency_increase_plus1
  }
  return depth;
};
