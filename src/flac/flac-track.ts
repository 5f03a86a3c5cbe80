import type { AudioTrackInfo } from '../codec/track.js';
import { sampleBytesOf } from './sample-bytes.js';
import { fitsFlac, streamInfoBlock } from './stream-info.js';

/** A FLAC track; `config` is its STREAMINFO. */
export const flacTrack = (config: Uint8Array, clockRateHz: number, channels: number): AudioTrackInfo => ({
  ...{ codec: 'flac', clockRateHz, channels, config },
  codecString: 'fLaC',
});

/** The sound that is kept of what a camera sends: FLAC where MP4 can't carry it as it is; null: it can't be kept. */
export const keptSound = (track: AudioTrackInfo | null): AudioTrackInfo | null => {
  if (track === null || sampleBytesOf(track.codec) === null) return track;
  const { channels, clockRateHz } = track;
  const format = { channels, sampleRateHz: clockRateHz };
  if (!fitsFlac(format)) return null;
  return flacTrack(streamInfoBlock(format), clockRateHz, channels);
};
