import type { VideoCodec } from './track.js';

/** H.264 NAL unit types that we name (ITU-T H.264 table 7-1). */
export const H264_NAL = {
  slice: 1,
  idrSlice: 5,
  sei: 6,
  sps: 7,
  pps: 8,
  accessUnitDelimiter: 9,
  endOfSequence: 10,
  endOfStream: 11,
  filler: 12,
} as const;

/** H.265 NAL unit types that we name (ITU-T H.265 table 7-1). */
export const H265_NAL = {
  trailR: 1,
  blaWLp: 16,
  idrWRadl: 19,
  idrNLp: 20,
  cra: 21,
  vps: 32,
  sps: 33,
  pps: 34,
  accessUnitDelimiter: 35,
  endOfSequence: 36,
  endOfBitstream: 37,
  filler: 38,
  prefixSei: 39,
  suffixSei: 40,
} as const;

/** The type of an H.264 NAL unit by its header byte (H.264 §7.3.1). */
export const nalTypeH264 = (header: number): number => header & 0x1f;

/** The type of an H.265 NAL unit by the first of its two header bytes (H.265 §7.3.1.2). */
export const nalTypeH265 = (header: number): number => (header >> 1) & 0x3f;

/** The type of a NAL unit by its first byte, whichever the codec. */
export const nalTypeOf = (codec: VideoCodec, header: number): number =>
  codec === 'h264' ? header & 0x1f : (header >> 1) & 0x3f;

/** An IDR slice: decoding can start here. */
export const isKeyH264 = (nalType: number): boolean => nalType === H264_NAL.idrSlice;

/** A slice of an IRAP picture (BLA, IDR or CRA, types 16 to 21): decoding can start here. */
export const isKeyH265 = (nalType: number): boolean => nalType >= H265_NAL.blaWLp && nalType <= H265_NAL.cra;

/** Coded picture data. */
export const isVclH264 = (nalType: number): boolean =>
  nalType === H264_NAL.slice || nalType === H264_NAL.idrSlice;

/**
 * A slice in parts (types 2 to 4), which the Extended profile alone has, and no decoder of today takes. H.265 looks just
 * so where a camera's codec is changed and it goes on in the session that was announced as H.264.
 */
export const isPartitionH264 = (nalType: number): boolean => nalType >= 2 && nalType <= 4;

/** Coded picture data: types 0 to 31 are all VCL. */
export const isVclH265 = (nalType: number): boolean => nalType < H265_NAL.vps;

/** SPS or PPS. */
export const isParameterSetH264 = (nalType: number): boolean =>
  nalType === H264_NAL.sps || nalType === H264_NAL.pps;

/** VPS, SPS or PPS. */
export const isParameterSetH265 = (nalType: number): boolean =>
  nalType >= H265_NAL.vps && nalType <= H265_NAL.pps;

/** What never goes into a frame: delimiter, end of sequence, end of stream, filler. */
export const isDroppedH264 = (nalType: number): boolean =>
  nalType >= H264_NAL.accessUnitDelimiter && nalType <= H264_NAL.filler;

/** What never goes into a frame: delimiter, end of sequence, end of bitstream, filler. */
export const isDroppedH265 = (nalType: number): boolean =>
  nalType >= H265_NAL.accessUnitDelimiter && nalType <= H265_NAL.filler;

/**
 * Whether the VCL NAL unit at `start` opens a picture: first_mb_in_slice is ue(v), and 0 is the single bit 1
 * (H.264 §7.3.3).
 */
export const isFirstSliceH264 = (buffer: Uint8Array, start: number, end: number): boolean =>
  start + 1 < end && buffer[start + 1]! >= 0x80;

/** Whether the VCL NAL unit at `start` opens a picture: first_slice_segment_in_pic_flag (H.265 §7.3.6.1). */
export const isFirstSliceH265 = (buffer: Uint8Array, start: number, end: number): boolean =>
  start + 2 < end && buffer[start + 2]! >= 0x80;

/** Whether the access unit at `start`, NAL units behind 4-byte lengths, brings its parameter sets along: they lead it. */
export const beginsWithParameterSet = (codec: VideoCodec, buffer: Uint8Array, start: number): boolean => {
  const type = nalTypeOf(codec, buffer[start + 4] ?? 0);
  return codec === 'h264' ? isParameterSetH264(type) : isParameterSetH265(type);
};

/** NAL units with their 4-byte lengths in front, as frames hold them. */
export const withLengths = (nals: readonly Uint8Array[]): Buffer =>
  Buffer.concat(
    nals.flatMap((nal) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(nal.length);
      return [length, nal];
    }),
  );

/** Where a NAL unit really ends: it never ends in zero bytes, so those are padding (H.264 §B.1.1, §7.4.1). */
export const endWithoutZeros = (buffer: Uint8Array, start: number, end: number): number => {
  let last = end;
  while (last > start && buffer[last - 1] === 0) last -= 1;
  return last;
};
