import { AAC_SAMPLE_RATES_HZ } from '../../src/codec/aac.js';

const HEADER_BYTES = 7;
const HEADER_WITH_CRC_BYTES = 9;

/**
 * Bytes of the ADTS header that `buffer[start, end)` begins with, 7 or 9, or 0 where there is none. The frame
 * length inside must be the range's own: two sync bytes alone also occur in plain AAC. Some cameras wrap their
 * access units like that although RTP has them bare (gortsplib's rtpmpeg4audio, quirk 39).
 */
export const adtsHeaderBytes = (buffer: Uint8Array, start: number, end: number): number => {
  if (end - start <= HEADER_BYTES || end > buffer.length) return 0;
  // Sync word and layer 0; bit 0 says that no CRC follows (ISO 14496-3 §1.A.2.2.1).
  if (buffer[start] !== 0xff || (buffer[start + 1]! & 0xf6) !== 0xf0) return 0;
  if (adtsFrameBytes(buffer, start) !== end - start) return 0;
  if (((buffer[start + 2]! >> 2) & 0x0f) >= AAC_SAMPLE_RATES_HZ.length) return 0;
  const headerBytes = (buffer[start + 1]! & 0x01) === 1 ? HEADER_BYTES : HEADER_WITH_CRC_BYTES;
  return end - start > headerBytes ? headerBytes : 0;
};

/** aac_frame_length: header included. */
const adtsFrameBytes = (buffer: Uint8Array, start: number): number =>
  ((buffer[start + 3]! & 0x03) << 11) | (buffer[start + 4]! << 3) | (buffer[start + 5]! >> 5);
