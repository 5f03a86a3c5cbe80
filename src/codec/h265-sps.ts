import { BitReader } from './bit-reader.js';
import { type H265Profile, readH265Profile, readH265ReorderDepth } from './h265-profile.js';
import { skipH265RefPics } from './h265-ref-pics.js';
import { readH265Timing, readH265VuiFrameRate } from './h265-vui.js';
import { pictureSize } from './picture-size.js';

/** What we want to know of an H.265 sequence parameter set. */
export type H265Sps = {
  readonly id: number;
  readonly vpsId: number;
  readonly profile: H265Profile;
  readonly temporalLayers: number;
  readonly isTemporalIdNested: boolean;
  readonly chromaFormatIdc: number;
  readonly bitDepthLuma: number;
  readonly bitDepthChroma: number;
  readonly width: number;
  readonly height: number;
  readonly frameRateHz: number | null;
  readonly reorderDepth: number | null;
};

/** What we want to know of an H.265 video parameter set. */
export type H265Vps = { readonly id: number; readonly frameRateHz: number | null };

const MAX_SUB_LAYERS_MINUS1 = 6;
const MAX_REORDER_PICS = 16;

/** Passes over scaling_list_data() (H.265 §7.3.4). */
const skipScalingLists = (bits: BitReader): void => {
  for (let sizeId = 0; sizeId < 4; sizeId += 1) {
    const coefficients = Math.min(64, 1 << (4 + sizeId * 2));
    for (let matrixId = 0; matrixId < 6 && !bits.isPastEnd; matrixId += sizeId === 3 ? 3 : 1) {
      if (!bits.flag())
        bits.ue(); // scaling_list_pred_matrix_id_delta
      else {
        if (sizeId > 1) bits.se(); // scaling_list_dc_coef_minus8
        for (let index = 0; index < coefficients; index += 1) bits.se();
      }
    }
  }
};

/** From log2_min_luma_coding_block_size_minus3 to the VUI; then its frame rate, where all that is sound. */
const readFrameRate = (bits: BitReader, orderCountLsbBits: number): number | null => {
  for (let size = 0; size < 6; size += 1) bits.ue(); // block sizes and transform depths
  if (bits.flag() && bits.flag()) skipScalingLists(bits);
  bits.skip(2); // amp_enabled_flag, sample_adaptive_offset_enabled_flag
  if (bits.flag()) {
    bits.skip(8); // pcm bit depths
    bits.ue(); // log2_min_pcm_luma_coding_block_size_minus3
    bits.ue(); // log2_diff_max_min_pcm_luma_coding_block_size
    bits.skip(1); // pcm_loop_filter_disabled_flag
  }
  if (!skipH265RefPics(bits, orderCountLsbBits)) return null;
  bits.skip(2); // sps_temporal_mvp_enabled_flag, strong_intra_smoothing_enabled_flag
  return readH265VuiFrameRate(bits);
};

/** Reads the conformance window: what is cut off across and down, in luma samples (H.265 §7.4.3.2.1). */
const readWindow = (bits: BitReader, chromaArrayType: number): { x: number; y: number } => {
  if (!bits.flag()) return { x: 0, y: 0 };
  const left = bits.ue();
  const right = bits.ue();
  const top = bits.ue();
  const bottom = bits.ue();
  const unitX = chromaArrayType === 1 || chromaArrayType === 2 ? 2 : 1;
  const unitY = chromaArrayType === 1 ? 2 : 1;
  return { x: (left + right) * unitX, y: (top + bottom) * unitY };
};

/**
 * Parses the SPS in `buffer[start, end)`, both header bytes included. Null: no resolution can be read. What
 * follows the resolution may be cut short or odd: that costs reorder depth and frame rate alone.
 */
export const parseH265Sps = (
  buffer: Uint8Array,
  start: number,
  end: number,
  bits: BitReader = new BitReader(),
): H265Sps | null => {
  bits.openNal(buffer, start + 2, end);
  const vpsId = bits.bits(4);
  const maxSubLayersMinus1 = bits.bits(3);
  const isTemporalIdNested = bits.flag();
  if (maxSubLayersMinus1 > MAX_SUB_LAYERS_MINUS1) return null;
  const profile = readH265Profile(bits, maxSubLayersMinus1);
  const id = bits.ue();
  const chromaFormatIdc = bits.ue();
  const isSeparate = chromaFormatIdc === 3 && bits.flag();
  const codedWidth = bits.ue();
  const codedHeight = bits.ue();
  if (bits.isPastEnd || id > 15 || chromaFormatIdc > 3) return null;
  const window = readWindow(bits, isSeparate ? 0 : chromaFormatIdc);
  const isWindowWhole = !bits.isPastEnd;
  const size = pictureSize(
    codedWidth,
    codedHeight,
    isWindowWhole ? window.x : 0,
    isWindowWhole ? window.y : 0,
  );
  const bitDepthLuma = bits.ue() + 8;
  const bitDepthChroma = bits.ue() + 8;
  if (size === null || bitDepthLuma > 16 || bitDepthChroma > 16) return null;
  const orderCountLsbBits = bits.ue() + 4;
  const depth = readH265ReorderDepth(bits, maxSubLayersMinus1);
  const reorderDepth = bits.isPastEnd || depth > MAX_REORDER_PICS ? null : depth;
  return {
    id,
    vpsId,
    profile,
    temporalLayers: maxSubLayersMinus1 + 1,
    isTemporalIdNested,
    chromaFormatIdc,
    bitDepthLuma,
    bitDepthChroma,
    width: size.width,
    height: size.height,
    frameRateHz: orderCountLsbBits <= 16 ? readFrameRate(bits, orderCountLsbBits) : null,
    reorderDepth,
  };
};

/** Parses the VPS in `buffer[start, end)` (H.265 §7.3.2.1); null only if there is nothing to read its id from. */
export const parseH265Vps = (
  buffer: Uint8Array,
  start: number,
  end: number,
  bits: BitReader = new BitReader(),
): H265Vps | null => {
  bits.openNal(buffer, start + 2, end);
  const id = bits.bits(4);
  bits.skip(8); // base layer flags, vps_max_layers_minus1
  if (bits.isPastEnd) return null;
  const maxSubLayersMinus1 = bits.bits(3);
  bits.skip(17); // vps_temporal_id_nesting_flag, vps_reserved_0xffff_16bits
  if (maxSubLayersMinus1 > MAX_SUB_LAYERS_MINUS1) return { id, frameRateHz: null };
  readH265Profile(bits, maxSubLayersMinus1);
  readH265ReorderDepth(bits, maxSubLayersMinus1);
  const layerIds = bits.bits(6) + 1;
  const layerSets = bits.ue();
  if (layerSets > 1023) return { id, frameRateHz: null };
  bits.skip(layerSets * layerIds); // layer_id_included_flag
  return { id, frameRateHz: readH265Timing(bits) };
};

/** The ids at the head of an H.265 PPS (H.265 §7.3.2.3.1), or null. */
export const parseH265Pps = (
  buffer: Uint8Array,
  start: number,
  end: number,
  bits: BitReader = new BitReader(),
): { readonly id: number; readonly spsId: number } | null => {
  bits.openNal(buffer, start + 2, end);
  const id = bits.ue();
  const spsId = bits.ue();
  return bits.isPastEnd || id > 63 || spsId > 15 ? null : { id, spsId };
};
