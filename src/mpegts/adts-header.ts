import { AAC_SAMPLE_RATES_HZ, parseAacConfig } from '../codec/aac.js';
import type { AudioTrackInfo } from '../codec/track.js';

export const ADTS_HEADER_BYTES = 7;
/** aac_frame_length has 13 bits and counts the header. */
export const MAX_ADTS_BODY_BYTES = 8191 - ADTS_HEADER_BYTES;
/** ADTS can't say otherwise (number_of_raw_data_blocks is 0, and there is no frameLengthFlag). */
export const ADTS_FRAME_SAMPLES = 1024;

/**
 * The header of this track's ADTS frames with a length of 0 (ISO 14496-3 §1.A.2.2), or null where ADTS can't
 * carry it: no AAC, an odd rate, frames of 960 samples, or channels that only a program config element tells.
 */
export const adtsHeaderFor = (track: AudioTrackInfo | null): Buffer | null => {
  if (track === null || track.codec !== 'aac') return null;
  const config = parseAacConfig(track.config);
  if (config === null || config.samplesPerFrame !== ADTS_FRAME_SAMPLES || config.objectType > 4) return null;
  const rates: readonly number[] = AAC_SAMPLE_RATES_HZ;
  const rateIndex = rates.indexOf(config.sampleRateHz);
  const { channels } = config;
  const channelConfiguration = channels === 8 ? 7 : channels;
  if (rateIndex < 0 || channelConfiguration < 1 || channelConfiguration > 7 || channels === 7) return null;
  return Buffer.from([
    0xff,
    0xf1, // MPEG-4, layer 0, no CRC
    ((config.objectType - 1) << 6) | (rateIndex << 2) | (channelConfiguration >> 2),
    (channelConfiguration & 3) << 6,
    0,
    0x1f, // adts_buffer_fullness 0x7ff: variable bitrate
    0xfc,
  ]);
};

/** Fills in the length of the frame whose header is at `at`. */
export const setAdtsLength = (out: Uint8Array, at: number, bodyBytes: number): void => {
  const length = bodyBytes + ADTS_HEADER_BYTES;
  out[at + 3] = (out[at + 3]! & 0xfc) | (length >> 11);
  out[at + 4] = length >> 3;
  out[at + 5] = ((length & 7) << 5) | 0x1f;
};
