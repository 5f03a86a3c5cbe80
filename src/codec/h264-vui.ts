import type { BitReader } from './bit-reader.js';
import { saneFrameRate } from './picture-size.js';

const EXTENDED_SAR = 255;
const MAX_REORDER_FRAMES = 16;

/** Passes over hrd_parameters() (H.264 §E.1.2). */
const skipHrd = (bits: BitReader): void => {
  const count = bits.ue() + 1;
  if (count > 32) {
    bits.isPastEnd = true;
    return;
  }
  bits.skip(8); // bit_rate_scale, cpb_size_scale
  for (let index = 0; index < count && !bits.isPastEnd; index += 1) {
    bits.ue(); // bit_rate_value_minus1
    bits.ue(); // cpb_size_value_minus1
    bits.skip(1); // cbr_flag
  }
  bits.skip(20); // lengths of delays and of time_offset
};

/** Passes over what describes the picture's look: aspect ratio, overscan, signal type, chroma location. */
const skipLooks = (bits: BitReader): void => {
  if (bits.flag() && bits.bits(8) === EXTENDED_SAR) bits.skip(32);
  if (bits.flag()) bits.skip(1); // overscan_appropriate_flag
  if (bits.flag()) {
    bits.skip(4); // video_format, video_full_range_flag
    if (bits.flag()) bits.skip(24); // colour_description
  }
  if (bits.flag()) {
    bits.ue(); // chroma_sample_loc_type_top_field
    bits.ue(); // chroma_sample_loc_type_bottom_field
  }
};

/** Reads max_num_reorder_frames out of bitstream_restriction (H.264 §E.1.1). */
const readReorderDepth = (bits: BitReader): number | null => {
  if (!bits.flag()) return null;
  bits.skip(1); // motion_vectors_over_pic_boundaries_flag
  bits.ue(); // max_bytes_per_pic_denom
  bits.ue(); // max_bits_per_mb_denom
  bits.ue(); // log2_max_mv_length_horizontal
  bits.ue(); // log2_max_mv_length_vertical
  const depth = bits.ue();
  return bits.isPastEnd || depth > MAX_REORDER_FRAMES ? null : depth;
};

/** Reads the VUI where there is one: what its sound beginning says, and null for the rest. */
export const readH264Vui = (
  bits: BitReader,
): { readonly frameRateHz: number | null; readonly reorderDepth: number | null } => {
  if (!bits.flag()) return { frameRateHz: null, reorderDepth: null };
  skipLooks(bits);
  let frameRateHz: number | null = null;
  if (bits.flag()) {
    const unitsInTick = bits.bits(32);
    const timeScale = bits.bits(32);
    bits.skip(1); // fixed_frame_rate_flag
    // A tick is a field's time: two make a frame (H.264 §E.2.1).
    if (!bits.isPastEnd) frameRateHz = saneFrameRate(timeScale, unitsInTick * 2);
  }
  const hasNalHrd = bits.flag();
  if (hasNalHrd) skipHrd(bits);
  const hasVclHrd = bits.flag();
  if (hasVclHrd) skipHrd(bits);
  if (hasNalHrd || hasVclHrd) bits.skip(1); // low_delay_hrd_flag
  bits.skip(1); // pic_struct_present_flag
  return { frameRateHz, reorderDepth: readReorderDepth(bits) };
};
