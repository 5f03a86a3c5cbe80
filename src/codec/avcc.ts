import { ByteReader } from '../base/byte-reader.js';
import { mainSps, readSizedNals, sizedNals } from './config-record.js';
import { parseH264Sps } from './h264-sps.js';
import type { VideoTrackInfo } from './track.js';

/** NAL units in samples have 4-byte lengths, as in the ring. */
const LENGTH_SIZE_MINUS_ONE = 3;

/** Profiles from before the high ones: their avcC has no chroma and bit depth fields. */
const isShortForm = (profileIdc: number): boolean =>
  profileIdc === 66 || profileIdc === 77 || profileIdc === 88;

/** AVCDecoderConfigurationRecord (ISO 14496-15 §5.3.3.1.2), the content of an `avcC` box. */
export const buildAvcc = (track: VideoTrackInfo): Buffer => {
  const sps = mainSps(track, parseH264Sps);
  if (sps === null) throw new TypeError('an H.264 track needs an SPS that can be read');
  const high = [
    0xfc | sps.chromaFormatIdc,
    0xf8 | (sps.bitDepthLuma - 8),
    0xf8 | (sps.bitDepthChroma - 8),
    0, // numOfSequenceParameterSetExt
  ];
  return Buffer.concat([
    Uint8Array.of(
      1, // configurationVersion
      sps.profileIdc, // AVCProfileIndication
      sps.constraints, // profile_compatibility
      sps.levelIdc, // AVCLevelIndication
      0xfc | LENGTH_SIZE_MINUS_ONE,
      0xe0 | track.sps.length, // numOfSequenceParameterSets
    ),
    ...sizedNals(track.sps),
    Uint8Array.of(track.pps.length), // numOfPictureParameterSets
    ...sizedNals(track.pps),
    Uint8Array.from(isShortForm(sps.profileIdc) ? [] : high),
  ]);
};

/** What an `avcC` box holds. */
export type Avcc = {
  readonly profileIdc: number;
  readonly levelIdc: number;
  /** Bytes of the length before each NAL unit of a sample. */
  readonly lengthBytes: number;
  readonly sps: readonly Uint8Array[];
  readonly pps: readonly Uint8Array[];
};

/** Reads the content of an `avcC` box, or says null where it is cut short or of another version. */
export const parseAvcc = (record: Uint8Array): Avcc | null => {
  const reader = new ByteReader(record);
  if (reader.u8() !== 1) return null;
  const profileIdc = reader.u8();
  reader.skip(1);
  const levelIdc = reader.u8();
  const lengthBytes = (reader.u8() & 0x03) + 1;
  const sps = readSizedNals(reader, reader.u8() & 0x1f);
  const pps = readSizedNals(reader, reader.u8());
  return reader.isPastEnd ? null : { profileIdc, levelIdc, lengthBytes, sps, pps };
};
