import { buildAacConfig, parseAacConfig } from './aac.js';
import type { AudioTrackInfo } from './track.js';

const MAX_CONFIG_BYTES = 64;
const noConfig = new Uint8Array(0);

const channelsOf = (told: number): number => (told >= 1 && told <= 8 ? told : 1);

/**
 * An AAC track on an RTP clock. A config that can't be read is replaced by plain AAC-LC at the clock's rate;
 * what the config says of channels wins over the SDP, where cameras often leave them out.
 */
export const aacTrack = (config: Uint8Array, clockRateHz: number, channels: number): AudioTrackInfo => {
  const told = config.length <= MAX_CONFIG_BYTES ? parseAacConfig(config) : null;
  return {
    codec: 'aac',
    clockRateHz,
    channels: told !== null && told.channels > 0 ? told.channels : channelsOf(channels),
    // A copy of its own: the caller's may be a slice of Buffer's pool, which a posted message would drag along.
    config: told === null ? buildAacConfig(clockRateHz, channelsOf(channels)) : new Uint8Array(config),
    codecString: `mp4a.40.${told?.signalledObjectType ?? 2}`,
  };
};

/** A G.711 track; RFC 3551 §4.5.14 has it at 8 kHz mono, cameras also at 16 kHz. */
export const g711Track = (codec: 'pcmu' | 'pcma', clockRateHz: number, channels: number): AudioTrackInfo => ({
  codec,
  clockRateHz,
  channels: channelsOf(channels),
  config: noConfig,
  codecString: codec === 'pcmu' ? 'ulaw' : 'alaw',
});

/** PCM of 16 bits, the higher byte first (RFC 3551 §4.5.11). */
export const l16Track = (clockRateHz: number, channels: number): AudioTrackInfo => ({
  codec: 'l16',
  clockRateHz,
  channels: channelsOf(channels),
  config: noConfig,
  codecString: 'twos',
});

/** An Opus track: always 48 kHz and two channels on the wire, whatever is inside (RFC 7587 §4.1, §7). */
export const opusTrack = (): AudioTrackInfo => ({
  codec: 'opus',
  clockRateHz: 48_000,
  channels: 2,
  config: noConfig,
  codecString: 'opus',
});
