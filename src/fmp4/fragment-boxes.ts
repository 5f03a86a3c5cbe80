import { writeU64 } from './box-bytes.js';
import type { FragmentTrack } from './fragment-track.js';
import { ntpFraction, ntpSeconds } from './ntp-time.js';
import type { SampleColumns } from './sample-columns.js';
import { SAMPLE_FLAGS } from './sample-flags.js';

/** Types as the numbers they are in the file: no string is made a fragment. */
const fourCc = (type: string): number => Buffer.from(type, 'latin1').readUInt32BE();
const PRFT = fourCc('prft');
const MOOF = fourCc('moof');
const MFHD = fourCc('mfhd');
const TRAF = fourCc('traf');
const TFHD = fourCc('tfhd');
const TFDT = fourCc('tfdt');
const TRUN = fourCc('trun');
const MDAT = fourCc('mdat');

const VERSION_1 = 0x0100_0000;
const DEFAULT_BASE_IS_MOOF = 0x02_0000;
const DATA_OFFSET = 0x01;
const SAMPLE_DURATION = 0x100;
const SAMPLE_SIZE = 0x200;
const SAMPLE_FLAGS_PRESENT = 0x400;
const SAMPLE_COMPOSITION = 0x800;
const AUDIO_TRUN = VERSION_1 | DATA_OFFSET | SAMPLE_DURATION | SAMPLE_SIZE;
const VIDEO_TRUN = AUDIO_TRUN | SAMPLE_FLAGS_PRESENT | SAMPLE_COMPOSITION;

/** What a fragment's head is written from. */
export type FragmentHead = {
  readonly tracks: readonly FragmentTrack[];
  readonly samples: SampleColumns;
  readonly sequence: number;
  /** -1: unknown, so no prft. */
  readonly wallMs: number;
  readonly wallTicks: number;
  readonly dataBytes: number;
  readonly headBytes: number;
};

/** Fills in the size of the box that began at `start`. */
const closeBox = (target: Buffer, start: number, end: number): number => {
  target.writeUInt32BE(end - start, start);
  return end;
};

/** Producer Reference Time Box (ISO 14496-12 §8.16.5): when the camera took the picture at media_time. */
const prft = (target: Buffer, start: number, trackId: number, wallMs: number, mediaTicks: number): number => {
  let at = target.writeUInt32BE(PRFT, start + 4);
  at = target.writeUInt32BE(VERSION_1, at); // flags 0: the time it went into the encoder
  at = target.writeUInt32BE(trackId, at); // reference_track_ID
  at = target.writeUInt32BE(ntpSeconds(wallMs), at); // ntp_timestamp
  at = target.writeUInt32BE(ntpFraction(wallMs), at);
  at = writeU64(target, mediaTicks, at); // media_time
  return closeBox(target, start, at);
};

/** Movie Fragment Header Box (§8.8.5). */
const mfhd = (target: Buffer, start: number, sequence: number): number => {
  let at = target.writeUInt32BE(MFHD, start + 4);
  at = target.writeUInt32BE(0, at); // version, flags
  at = target.writeUInt32BE(sequence, at); // sequence_number
  return closeBox(target, start, at);
};

/** Track Fragment Header Box (§8.8.7): all defaults are trex's. */
const tfhd = (target: Buffer, start: number, trackId: number): number => {
  let at = target.writeUInt32BE(TFHD, start + 4);
  at = target.writeUInt32BE(DEFAULT_BASE_IS_MOOF, at); // version, tf_flags
  at = target.writeUInt32BE(trackId, at); // track_ID
  return closeBox(target, start, at);
};

/** Track Fragment Decode Time Box (§8.8.12), version 1. */
const tfdt = (target: Buffer, start: number, dtsTicks: number): number => {
  let at = target.writeUInt32BE(TFDT, start + 4);
  at = target.writeUInt32BE(VERSION_1, at);
  at = writeU64(target, dtsTicks, at); // baseMediaDecodeTime
  return closeBox(target, start, at);
};

/** Track Run Box (§8.8.8) of samples[first, end), which lie back to back in mdat. */
const trun = (
  target: Buffer,
  start: number,
  samples: SampleColumns,
  first: number,
  end: number,
  isVideo: boolean,
  dataOffset: number,
): number => {
  let at = target.writeUInt32BE(TRUN, start + 4);
  at = target.writeUInt32BE(isVideo ? VIDEO_TRUN : AUDIO_TRUN, at); // version 1: signed offsets; tr_flags
  at = target.writeUInt32BE(end - first, at); // sample_count
  at = target.writeInt32BE(dataOffset, at); // data_offset
  for (let index = first; index < end; index += 1) {
    at = target.writeUInt32BE(samples.durationTicks[index]!, at); // sample_duration
    at = target.writeUInt32BE(samples.sizeBytes[index]!, at); // sample_size
    if (!isVideo) continue;
    const flags = samples.isKey[index] === 1 ? SAMPLE_FLAGS.sync : SAMPLE_FLAGS.dependent;
    at = target.writeUInt32BE(flags, at); // sample_flags
    at = target.writeInt32BE(samples.compositionTicks[index]!, at); // sample_composition_time_offset
  }
  return closeBox(target, start, at);
};

/** Track Fragment Box (§8.8.6): a trun for each stretch of the track's samples. */
const traf = (
  target: Buffer,
  start: number,
  samples: SampleColumns,
  track: FragmentTrack,
  trackIndex: number,
  dataStart: number,
): number => {
  let at = target.writeUInt32BE(TRAF, start + 4);
  at = tfhd(target, at, track.trackId);
  at = tfdt(target, at, track.firstDtsTicks);
  let dataOffset = dataStart;
  for (let first = 0; first < samples.count; ) {
    const owner = samples.track[first]!;
    const runOffset = dataOffset;
    let end = first;
    for (; end < samples.count && samples.track[end] === owner; end += 1)
      dataOffset += samples.sizeBytes[end]!;
    if (owner === trackIndex) at = trun(target, at, samples, first, end, track.isVideo, runOffset);
    first = end;
  }
  return closeBox(target, start, at);
};

/** Movie Fragment Box (§8.8.4). */
const moof = (target: Buffer, start: number, head: FragmentHead, dataStart: number): number => {
  let at = target.writeUInt32BE(MOOF, start + 4);
  at = mfhd(target, at, head.sequence);
  for (let index = 0; index < head.tracks.length; index += 1) {
    const track = head.tracks[index]!;
    if (track.samples > 0) at = traf(target, at, head.samples, track, index, dataStart);
  }
  return closeBox(target, start, at);
};

/** prft, moof, and size and type of mdat (§8.1.1). Returns where the samples' bytes begin. */
export const writeFragmentHead = (target: Buffer, start: number, head: FragmentHead): number => {
  let at = start;
  if (head.wallMs >= 0) at = prft(target, at, head.tracks[0]!.trackId, head.wallMs, head.wallTicks);
  at = moof(target, at, head, start + head.headBytes - at);
  at = target.writeUInt32BE(head.dataBytes + 8, at);
  return target.writeUInt32BE(MDAT, at);
};
