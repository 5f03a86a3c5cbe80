import type { StreamInfo } from '../codec/track.js';
import { VIDEO_CLOCK_HZ } from '../codec/track.js';
import { box } from './box-bytes.js';
import { ftyp, hdlr, mdhd, mdia, minf, moov, mvex, mvhd, stsd, tkhd, trak, trex } from './movie-boxes.js';
import { audioSampleEntryOf, videoSampleEntry } from './sample-entries.js';
import { SAMPLE_FLAGS } from './sample-flags.js';
import { stco, stsc, stsz, stts } from './sample-table-boxes.js';
import { type StartReason, startReasonBox } from './start-reason.js';

/** The video's track_ID in every file of ours. */
export const VIDEO_TRACK_ID = 1;
/** The audio's track_ID in every file of ours. */
export const AUDIO_TRACK_ID = 2;

/** iso6 for prft and tfdt; iso5 for offsets from the moof. */
const brands = ['iso6', 'iso5', 'mp41'] as const;

/** A Sample Table Box whose samples are all in fragments. */
const emptyStbl = (sampleEntry: Uint8Array): Buffer =>
  box('stbl', stsd(sampleEntry), stts([]), stsc([]), stsz(new Uint32Array(0)), stco([]));

const trackOf = (
  trackId: number,
  handlerType: 'vide' | 'soun',
  timescale: number,
  sampleEntry: Uint8Array,
  size: { readonly width: number; readonly height: number },
): Buffer =>
  trak(
    tkhd(trackId, 0, size.width, size.height),
    mdia(mdhd(timescale, 0), hdlr(handlerType), minf(handlerType, emptyStbl(sampleEntry))),
  );

/**
 * ftyp and moov of a fragmented file: what comes before the first fragment. Throws where the video has no
 * parameter set that can be read. Without `audio` the track is left out. `startReason`: why this file begins.
 */
export const buildInitSegment = (
  { video, audio }: StreamInfo,
  { startReason }: { readonly startReason?: StartReason } = {},
): Buffer => {
  const tracks = [trackOf(VIDEO_TRACK_ID, 'vide', VIDEO_CLOCK_HZ, videoSampleEntry(video), video)];
  const defaults = [trex(VIDEO_TRACK_ID, SAMPLE_FLAGS.dependent)];
  if (audio !== null) {
    const noSize = { width: 0, height: 0 };
    tracks.push(trackOf(AUDIO_TRACK_ID, 'soun', audio.clockRateHz, audioSampleEntryOf(audio), noSize));
    defaults.push(trex(AUDIO_TRACK_ID, SAMPLE_FLAGS.sync));
  }
  const reason = startReason === undefined ? [] : [startReasonBox(startReason)];
  return Buffer.concat([
    ftyp('iso6', brands),
    moov(mvhd(VIDEO_CLOCK_HZ, 0, tracks.length + 1), ...tracks, mvex(...defaults), ...reason),
  ]);
};
