import {
  H264_NAL,
  H265_NAL,
  isFirstSliceH264,
  isFirstSliceH265,
  isParameterSetH264,
  isParameterSetH265,
  isPartitionH264,
  isVclH264,
  isVclH265,
  nalTypeH264,
  nalTypeH265,
} from '../codec/nal.js';

/** What a NAL unit means for the access unit that it belongs to. */
export const ROLE = {
  /** Not a NAL unit: a forbidden bit, or a type that is a packet's and no unit's. */
  invalid: 0,
  /** Goes nowhere: filler, end of sequence, data partitions, extension layers, reserved types. */
  dropped: 1,
  /** The first slice of a picture. */
  firstSlice: 2,
  /** Any other slice: the picture has begun already. */
  slice: 3,
  parameterSet: 4,
  /** SEI before the picture. */
  prefix: 5,
  /** SEI after the picture. */
  suffix: 6,
  /** Access unit delimiter: starts an access unit and goes nowhere. */
  delimiter: 7,
} as const;

/** One of `ROLE`. */
export type NalRole = (typeof ROLE)[keyof typeof ROLE];

/** A unit of this role can stand at the head of an access unit (H.264 §7.4.1.2.3, H.265 §7.4.2.4.4). */
export const isHead = (role: NalRole): boolean =>
  role === ROLE.firstSlice || role === ROLE.parameterSet || role === ROLE.prefix || role === ROLE.delimiter;

/** Picture data. */
export const isSlice = (role: NalRole): boolean => role === ROLE.firstSlice || role === ROLE.slice;

/**
 * Role by the header byte. The rest of the unit is looked at where it would be if it began at `start`: of a
 * fragmented one just the data that follows the header is there.
 */
export const roleOfH264 = (header: number, buffer: Buffer, start: number, end: number): NalRole => {
  const type = nalTypeH264(header);
  if (header >= 0x80 || type === 0 || type >= 24) return ROLE.invalid;
  if (isPartitionH264(type)) return ROLE.dropped;
  if (isVclH264(type)) return isFirstSliceH264(buffer, start, end) ? ROLE.firstSlice : ROLE.slice;
  if (isParameterSetH264(type)) return ROLE.parameterSet;
  if (type === H264_NAL.sei) return ROLE.prefix;
  if (type === H264_NAL.accessUnitDelimiter) return ROLE.delimiter;
  return ROLE.dropped;
};

/** Role by both header bytes; see `roleOfH264`. A temporal id of 0 is forbidden (H.265 §7.4.2.2). */
export const roleOfH265 = (
  header: number,
  secondHeader: number,
  buffer: Buffer,
  start: number,
  end: number,
): NalRole => {
  const type = nalTypeH265(header);
  if (header >= 0x80 || type >= 48 || (secondHeader & 7) === 0) return ROLE.invalid;
  const layerId = ((header & 1) << 5) | (secondHeader >> 3);
  if (layerId > 0) return ROLE.dropped;
  if (isVclH265(type)) return isFirstSliceH265(buffer, start, end) ? ROLE.firstSlice : ROLE.slice;
  if (isParameterSetH265(type)) return ROLE.parameterSet;
  if (type === H265_NAL.prefixSei) return ROLE.prefix;
  if (type === H265_NAL.suffixSei) return ROLE.suffix;
  if (type === H265_NAL.accessUnitDelimiter) return ROLE.delimiter;
  return ROLE.dropped;
};
