import { BitReader } from './bit-reader.js';
import { readH264Vui } from './h264-vui.js';
import { pictureSize } from './picture-size.js';

/** What we want to know of an H.264 sequence parameter set. */
export type H264Sps = {
  readonly id: number;
  readonly profileIdc: number;
  /** constraint_set flags and reserved bits, as the byte they are. */
  readonly constraints: number;
  readonly levelIdc: number;
  readonly chromaFormatIdc: number;
  readonly bitDepthLuma: number;
  readonly bitDepthChroma: number;
  readonly width: number;
  readonly height: number;
  readonly isInterlaced: boolean;
  readonly frameRateHz: number | null;
  readonly reorderDepth: number | null;
};

const BASELINE = 66;

/** Profiles whose SPS has the chroma format and scaling lists (H.264 §7.3.2.1.1). */
const withChromaFormat: ReadonlySet<number> = new Set([
  100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
]);

/** Profiles that are intra-only when constraint_set3_flag is set (H.264 §E.2.1). */
const intraByConstraint3: ReadonlySet<number> = new Set([44, 86, 100, 110, 122, 244]);

const skipScalingList = (bits: BitReader, size: number): void => {
  let last = 8;
  for (let index = 0; index < size && !bits.isPastEnd; index += 1) {
    const next = (last + bits.se() + 256) % 256;
    // Zero means that the rest repeats the last value and isn't sent (H.264 §7.3.2.1.1.1).
    if (next === 0) return;
    last = next;
  }
};

type Chroma = { formatIdc: number; isSeparate: boolean; bitDepthLuma: number; bitDepthChroma: number };

const readChroma = (bits: BitReader): Chroma => {
  const formatIdc = bits.ue();
  const isSeparate = formatIdc === 3 && bits.flag();
  const bitDepthLuma = bits.ue() + 8;
  const bitDepthChroma = bits.ue() + 8;
  bits.skip(1); // qpprime_y_zero_transform_bypass_flag
  if (bits.flag()) {
    const lists = formatIdc === 3 ? 12 : 8;
    for (let list = 0; list < lists; list += 1) {
      if (bits.flag()) skipScalingList(bits, list < 6 ? 16 : 64);
    }
  }
  return { formatIdc, isSeparate, bitDepthLuma, bitDepthChroma };
};

/** Returns pic_order_cnt_type. */
const readOrderCount = (bits: BitReader): number => {
  const type = bits.ue();
  if (type === 0) bits.ue(); // log2_max_pic_order_cnt_lsb_minus4
  if (type === 1) {
    bits.skip(1); // delta_pic_order_always_zero_flag
    bits.se(); // offset_for_non_ref_pic
    bits.se(); // offset_for_top_to_bottom_field
    const cycle = Math.min(bits.ue(), 255);
    for (let index = 0; index < cycle && !bits.isPastEnd; index += 1) bits.se();
  }
  return type;
};

/** Reads the cropping rectangle: what is cut off across and down, in luma samples (H.264 table 6-1, §7.4.2.1.1). */
const readCrop = (bits: BitReader, chroma: Chroma, fieldFactor: number): { x: number; y: number } => {
  const left = bits.ue();
  const right = bits.ue();
  const top = bits.ue();
  const bottom = bits.ue();
  const arrayType = chroma.isSeparate ? 0 : chroma.formatIdc;
  const unitX = arrayType === 1 || arrayType === 2 ? 2 : 1;
  const unitY = (arrayType === 1 ? 2 : 1) * fieldFactor;
  return { x: (left + right) * unitX, y: (top + bottom) * unitY };
};

/** How deep frames can be reordered where the VUI doesn't say: 0 where nothing can be, else null. */
const impliedReorderDepth = (
  profileIdc: number,
  constraints: number,
  orderCountType: number,
): number | null => {
  if (profileIdc === BASELINE) return 0;
  // Output order is decode order (H.264 §8.2.1.3): how most cameras say that they have no B-frames.
  if (orderCountType === 2) return 0;
  const isIntraOnly = (constraints & 0x10) !== 0 && intraByConstraint3.has(profileIdc);
  return isIntraOnly ? 0 : null;
};

/**
 * Parses the SPS in `buffer[start, end)`, header byte included. Null: no resolution can be read. Whatever
 * follows the resolution may be cut short or odd (Reolink's stray byte, retina#102): that only costs the VUI.
 */
export const parseH264Sps = (
  buffer: Uint8Array,
  start: number,
  end: number,
  bits: BitReader = new BitReader(),
): H264Sps | null => {
  bits.openNal(buffer, start + 1, end);
  const profileIdc = bits.bits(8);
  const constraints = bits.bits(8);
  const levelIdc = bits.bits(8);
  const id = bits.ue();
  const chroma = withChromaFormat.has(profileIdc)
    ? readChroma(bits)
    : { formatIdc: 1, isSeparate: false, bitDepthLuma: 8, bitDepthChroma: 8 };
  bits.ue(); // log2_max_frame_num_minus4
  const orderCountType = readOrderCount(bits);
  bits.ue(); // max_num_ref_frames
  bits.skip(1); // gaps_in_frame_num_value_allowed_flag
  const widthMbs = bits.ue() + 1;
  const heightMapUnits = bits.ue() + 1;
  const isInterlaced = !bits.flag();
  if (bits.isPastEnd || id > 31 || chroma.formatIdc > 3 || orderCountType > 2) return null;
  if (chroma.bitDepthLuma > 14 || chroma.bitDepthChroma > 14) return null;
  const fieldFactor = isInterlaced ? 2 : 1;
  if (isInterlaced) bits.skip(1); // mb_adaptive_frame_field_flag
  bits.skip(1); // direct_8x8_inference_flag
  const crop = bits.flag() ? readCrop(bits, chroma, fieldFactor) : { x: 0, y: 0 };
  const isCropWhole = !bits.isPastEnd;
  const size = pictureSize(
    widthMbs * 16,
    heightMapUnits * 16 * fieldFactor,
    isCropWhole ? crop.x : 0,
    isCropWhole ? crop.y : 0,
  );
  if (size === null) return null;
  const vui = readH264Vui(bits);
  return {
    id,
    profileIdc,
    constraints,
    levelIdc,
    chromaFormatIdc: chroma.formatIdc,
    bitDepthLuma: chroma.bitDepthLuma,
    bitDepthChroma: chroma.bitDepthChroma,
    width: size.width,
    height: size.height,
    isInterlaced,
    frameRateHz: vui.frameRateHz,
    reorderDepth: impliedReorderDepth(profileIdc, constraints, orderCountType) ?? vui.reorderDepth,
  };
};

/** The ids at the head of an H.264 PPS (H.264 §7.3.2.2), or null. */
export const parseH264Pps = (
  buffer: Uint8Array,
  start: number,
  end: number,
  bits: BitReader = new BitReader(),
): { readonly id: number; readonly spsId: number } | null => {
  bits.openNal(buffer, start + 1, end);
  const id = bits.ue();
  const spsId = bits.ue();
  return bits.isPastEnd || id > 255 || spsId > 31 ? null : { id, spsId };
};
