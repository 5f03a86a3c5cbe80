import { ByteReader } from '../base/byte-reader.js';
import { mainSps, readSizedNals, sizedNals } from './config-record.js';
import { parseH265Sps } from './h265-sps.js';
import { H265_NAL } from './nal.js';
import type { VideoTrackInfo } from './track.js';

const LENGTH_SIZE_MINUS_ONE = 3;
const ARRAY_COMPLETENESS = 0x80;

/** All sets of one type. Complete, as the sample entry `hvc1` demands: none is found in the samples. */
const setArray = (nalType: number, nals: readonly Uint8Array[]): Uint8Array[] => [
  Uint8Array.of(ARRAY_COMPLETENESS | nalType, nals.length >> 8, nals.length & 0xff),
  ...sizedNals(nals),
];

/** HEVCDecoderConfigurationRecord (ISO 14496-15 §8.3.3.1.2), the content of an `hvcC` box. */
export const buildHvcc = (track: VideoTrackInfo): Buffer => {
  const sps = mainSps(track, parseH265Sps);
  if (sps === null) throw new TypeError('an H.265 track needs an SPS that can be read');
  const { profile } = sps;
  const compatibility = Buffer.alloc(4);
  compatibility.writeUInt32BE(profile.compatibility);
  return Buffer.concat([
    Uint8Array.of(
      1, // configurationVersion
      (profile.space << 6) | (profile.isHighTier ? 0x20 : 0) | profile.idc,
    ),
    compatibility, // general_profile_compatibility_flags
    Uint8Array.from(profile.constraints), // general_constraint_indicator_flags
    Uint8Array.of(
      profile.levelIdc, // general_level_idc
      0xf0, // min_spatial_segmentation_idc: no claim
      0x00,
      0xfc, // parallelismType: unknown
      0xfc | sps.chromaFormatIdc, // chroma_format_idc
      0xf8 | Math.min(sps.bitDepthLuma - 8, 7), // bit_depth_luma_minus8
      0xf8 | Math.min(sps.bitDepthChroma - 8, 7), // bit_depth_chroma_minus8
      0, // avgFrameRate: unspecified
      0,
      // constantFrameRate 0, numTemporalLayers, temporalIdNested, lengthSizeMinusOne
      (sps.temporalLayers << 3) | (sps.isTemporalIdNested ? 0x04 : 0) | LENGTH_SIZE_MINUS_ONE,
      3, // numOfArrays
    ),
    ...setArray(H265_NAL.vps, track.vps),
    ...setArray(H265_NAL.sps, track.sps),
    ...setArray(H265_NAL.pps, track.pps),
  ]);
};

/** What an `hvcC` box holds. */
export type Hvcc = {
  readonly profileIdc: number;
  readonly levelIdc: number;
  /** Bytes of the length before each NAL unit of a sample. */
  readonly lengthBytes: number;
  readonly vps: readonly Uint8Array[];
  readonly sps: readonly Uint8Array[];
  readonly pps: readonly Uint8Array[];
};

/** Reads the content of an `hvcC` box, or says null where it is cut short or of another version. */
export const parseHvcc = (record: Uint8Array): Hvcc | null => {
  const reader = new ByteReader(record);
  if (reader.u8() !== 1) return null;
  const profileIdc = reader.u8() & 0x1f;
  reader.skip(10);
  const levelIdc = reader.u8();
  reader.skip(8);
  const lengthBytes = (reader.u8() & 0x03) + 1;
  const arrays = reader.u8();
  const sets = new Map<number, Uint8Array[]>();
  for (let array = 0; array < arrays && !reader.isPastEnd; array += 1) {
    const nalType = reader.u8() & 0x3f;
    const nals = readSizedNals(reader, reader.u16());
    sets.set(nalType, [...(sets.get(nalType) ?? []), ...nals]);
  }
  if (reader.isPastEnd) return null;
  const [vps, sps, pps] = [H265_NAL.vps, H265_NAL.sps, H265_NAL.pps].map((type) => sets.get(type) ?? []);
  return { profileIdc, levelIdc, lengthBytes, vps: vps!, sps: sps!, pps: pps! };
};
