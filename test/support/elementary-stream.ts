import { readFileSync } from 'node:fs';
import { AAC_SAMPLE_RATES_HZ, buildAacConfig } from '../../src/codec/aac.js';
import { aacTrack, g711Track } from '../../src/codec/audio-track.js';
import { isKeyH264, isKeyH265, nalTypeOf } from '../../src/codec/nal.js';
import { AnnexBCursor } from '../../src/codec/nal-cursor.js';
import type { AudioTrackInfo, VideoCodec } from '../../src/codec/track.js';
import { VIDEO_CLOCK_HZ } from '../../src/codec/track.js';
import { isHead, isSlice, type NalRole, ROLE, roleOfH264, roleOfH265 } from '../../src/rtp/nal-role.js';
import { isParameterSet, joinNals } from './access-units.js';
import { adtsHeaderBytes } from './adts.js';

/** One frame of a file, in the order of decoding. */
export type StreamFrame = {
  /** Video: NAL units behind 4-byte lengths, parameter sets in band as the file has them. Audio: the frame. */
  readonly bytes: Buffer;
  readonly isKey: boolean;
  /** Media time since the start of the stream. */
  readonly ptsTicks: number;
  /** When a camera would send it, in ticks since the start: frames in the order of decoding, evenly spread. */
  readonly dtsTicks: number;
};

type StreamBase = {
  readonly clockRateHz: number;
  /** What one turn of the loop lasts. */
  readonly durationTicks: number;
  readonly frames: readonly StreamFrame[];
};

export type VideoStream = StreamBase & {
  readonly kind: 'video';
  readonly codec: VideoCodec;
  readonly frameRateHz: number;
  /** The parameter sets of the first access unit, as an SDP would tell them. */
  readonly parameterSets: readonly Buffer[];
};

export type AudioStream = StreamBase & { readonly kind: 'audio'; readonly track: AudioTrackInfo };

const roleOf = (codec: VideoCodec, nal: Buffer): NalRole =>
  codec === 'h264'
    ? roleOfH264(nal[0]!, nal, 0, nal.length)
    : roleOfH265(nal[0]!, nal[1]!, nal, 0, nal.length);

/** Splits an Annex B stream into access units (H.264 §7.4.1.2.3, H.265 §7.4.2.4.4). */
const splitAccessUnits = (codec: VideoCodec, file: Buffer): Buffer[][] => {
  const units: Buffer[][] = [];
  let nals: Buffer[] = [];
  let hasPicture = false;
  const cursor = new AnnexBCursor();
  cursor.open(file, 0, file.length);
  while (cursor.next()) {
    const nal = file.subarray(cursor.offset, cursor.offset + cursor.length);
    const role = roleOf(codec, nal);
    if (role === ROLE.invalid) throw new Error(`no NAL unit at ${cursor.offset}`);
    if (hasPicture && isHead(role)) {
      units.push(nals);
      nals = [];
      hasPicture = false;
    }
    nals.push(nal);
    hasPicture ||= isSlice(role);
  }
  if (hasPicture) units.push(nals);
  return units;
};

const isKeyFrame = (codec: VideoCodec, nals: readonly Buffer[]): boolean =>
  nals.some((nal) => {
    const type = nalTypeOf(codec, nal[0]!);
    return codec === 'h264' ? isKeyH264(type) : isKeyH265(type);
  });

/** `displayOrder`: for streams with B-frames, the place in display order of each picture in the file's order. */
export const readVideoStream = (
  path: string,
  options: {
    readonly codec: VideoCodec;
    readonly frameRateHz: number;
    readonly displayOrder?: readonly number[];
  },
): VideoStream => {
  const { codec, frameRateHz, displayOrder } = options;
  const units = splitAccessUnits(codec, readFileSync(path));
  const first = units[0];
  if (first === undefined) throw new Error(`${path} has no picture`);
  if (displayOrder !== undefined && displayOrder.length !== units.length) {
    throw new Error(`${path} has ${units.length} pictures, not ${displayOrder.length}`);
  }
  const frameTicks = VIDEO_CLOCK_HZ / frameRateHz;
  return {
    kind: 'video',
    codec,
    frameRateHz,
    clockRateHz: VIDEO_CLOCK_HZ,
    durationTicks: units.length * frameTicks,
    parameterSets: first.filter((nal) => isParameterSet(codec, nal)),
    frames: units.map((nals, index) => ({
      bytes: joinNals(nals),
      isKey: isKeyFrame(codec, nals),
      ptsTicks: (displayOrder?.[index] ?? index) * frameTicks,
      dtsTicks: index * frameTicks,
    })),
  };
};

const AAC_FRAME_SAMPLES = 1024;

const adtsTrack = (file: Buffer, at: number): AudioTrackInfo => {
  const rateHz = AAC_SAMPLE_RATES_HZ[(file[at + 2]! >> 2) & 15]!;
  const channels = ((file[at + 2]! & 1) << 2) | (file[at + 3]! >> 6);
  return aacTrack(buildAacConfig(rateHz, channels), rateHz, channels);
};

/** Reads ADTS frames (ISO 14496-3 §1.A.2) to bare AAC access units. */
export const readAdtsStream = (path: string): AudioStream => {
  const file = readFileSync(path);
  const frames: StreamFrame[] = [];
  let track: AudioTrackInfo | null = null;
  for (let at = 0; at + 7 <= file.length; ) {
    const lengthBytes = ((file[at + 3]! & 3) << 11) | (file[at + 4]! << 3) | (file[at + 5]! >> 5);
    const headerBytes = adtsHeaderBytes(file, at, at + lengthBytes);
    if (headerBytes === 0) throw new Error(`${path} has no ADTS frame at ${at}`);
    track ??= adtsTrack(file, at);
    frames.push(
      audioFrame(file.subarray(at + headerBytes, at + lengthBytes), frames.length, AAC_FRAME_SAMPLES),
    );
    at += lengthBytes;
  }
  if (track === null) throw new Error(`${path} is empty`);
  return audioStream(track, frames, AAC_FRAME_SAMPLES);
};

const G711_FRAME_SAMPLES = 160;

/** Cuts raw G.711 into packets of 20 ms (RFC 3551 §4.2). */
export const readG711Stream = (path: string, codec: 'pcmu' | 'pcma'): AudioStream => {
  const file = readFileSync(path);
  const frames: StreamFrame[] = [];
  for (let at = 0; at + G711_FRAME_SAMPLES <= file.length; at += G711_FRAME_SAMPLES) {
    frames.push(audioFrame(file.subarray(at, at + G711_FRAME_SAMPLES), frames.length, G711_FRAME_SAMPLES));
  }
  return audioStream(g711Track(codec, 8000, 1), frames, G711_FRAME_SAMPLES);
};

const audioFrame = (bytes: Buffer, index: number, samples: number): StreamFrame => ({
  bytes,
  isKey: true,
  ptsTicks: index * samples,
  dtsTicks: index * samples,
});

const audioStream = (
  track: AudioTrackInfo,
  frames: readonly StreamFrame[],
  samples: number,
): AudioStream => ({
  kind: 'audio',
  track,
  clockRateHz: track.clockRateHz,
  durationTicks: frames.length * samples,
  frames,
});
