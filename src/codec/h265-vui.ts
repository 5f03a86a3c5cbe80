import type { BitReader } from './bit-reader.js';
import { saneFrameRate } from './picture-size.js';

const EXTENDED_SAR = 255;

/** Reads num_units_in_tick and time_scale behind their flag; null: not there, cut short, or nonsense. */
export const readH265Timing = (bits: BitReader): number | null => {
  if (!bits.flag()) return null;
  const unitsInTick = bits.bits(32);
  const timeScale = bits.bits(32);
  return bits.isPastEnd ? null : saneFrameRate(timeScale, unitsInTick);
};

/** Reads the VUI (H.265 §E.2.1) as far as its timing: the frame rate. */
export const readH265VuiFrameRate = (bits: BitReader): number | null => {
  if (!bits.flag()) return null;
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
  bits.skip(3); // neutral_chroma_indication_flag, field_seq_flag, frame_field_info_present_flag
  if (bits.flag()) {
    for (let side = 0; side < 4; side += 1) bits.ue(); // default display window
  }
  return readH265Timing(bits);
};
