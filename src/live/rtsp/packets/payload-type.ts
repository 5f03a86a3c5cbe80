import type { AudioTrackInfo } from '../../../codec/track.js';

const DYNAMIC_AUDIO = 97;
const PCMU = 0;
const PCMA = 8;

/** Payload types; G.711 as telephones have it has numbers of its own (RFC 3551 §6). */
export const payloadType = {
  video: 96,
  metadata: 98,
  audio: ({ codec, clockRateHz, channels }: AudioTrackInfo): number => {
    if (clockRateHz !== 8_000 || channels !== 1) return DYNAMIC_AUDIO;
    if (codec === 'pcmu') return PCMU;
    return codec === 'pcma' ? PCMA : DYNAMIC_AUDIO;
  },
} as const;
