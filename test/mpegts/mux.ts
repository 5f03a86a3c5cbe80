import { ParameterSets } from '../../src/codec/parameter-sets.js';
import type { AudioTrackInfo, StreamInfo } from '../../src/codec/track.js';
import type { SegmentFacts } from '../../src/mpegts/segment-facts.js';
import { SegmentMuxer, type SegmentMuxerOptions } from '../../src/mpegts/segment-muxer.js';
import { normaliseAccessUnit } from '../support/access-units.js';
import type { AudioStream, StreamFrame, VideoStream } from '../support/elementary-stream.js';

/** The description that a ring would hold of this fixture. */
export const infoOf = (stream: VideoStream, audio: AudioTrackInfo | null = null): StreamInfo => {
  const sets = new ParameterSets(stream.codec);
  for (const nal of stream.parameterSets) sets.offer(nal, 0, nal.length);
  const video = sets.toVideoTrackInfo();
  if (video === null) throw new Error('the fixture has no parameter sets');
  return { video, audio };
};

export type SourceFrame = StreamFrame & { readonly isAudio: boolean; readonly seconds: number };

/** How much earlier than it is sent each frame has to be decoded, so that none is decoded after it is shown. */
export const earlyTicks = ({ frames }: VideoStream): number =>
  Math.max(...frames.map(({ ptsTicks, dtsTicks }) => dtsTicks - ptsTicks));

/** Frames as a ring holds them, both tracks in the order of time, cut before each keyframe. */
export const gopsOf = (video: VideoStream, audio: AudioStream | null): SourceFrame[][] => {
  const early = earlyTicks(video);
  const frames = [
    ...video.frames.map((frame) => ({
      ...frame,
      dtsTicks: frame.dtsTicks - early,
      bytes: normaliseAccessUnit(video.codec, frame.bytes),
      isAudio: false,
      seconds: frame.dtsTicks / video.clockRateHz,
    })),
    ...(audio?.frames ?? []).map((frame) => ({
      ...frame,
      isAudio: true,
      seconds: frame.dtsTicks / audio!.clockRateHz,
    })),
  ].sort((a, b) => a.seconds - b.seconds || Number(a.isAudio) - Number(b.isAudio));
  const gops: SourceFrame[][] = [];
  for (const frame of frames) {
    if (!frame.isAudio && frame.isKey) gops.push([]);
    gops.at(-1)?.push(frame);
  }
  return gops;
};

/** Views of shared memory, one byte off, as the worst that a ring may give. */
const shared = (bytes: Buffer): Buffer => {
  const memory = Buffer.from(new SharedArrayBuffer(bytes.length + 9));
  bytes.copy(memory, 5);
  return memory;
};

export const addFrame = (
  muxer: SegmentMuxer,
  frame: SourceFrame,
  shiftSeconds: number,
  audioHz: number,
): boolean => {
  const memory = shared(frame.bytes);
  const end = 5 + frame.bytes.length;
  if (frame.isAudio) return muxer.audio(memory, 5, end, frame.ptsTicks + shiftSeconds * audioHz);
  const shift = shiftSeconds * 90_000;
  return muxer.video(memory, 5, end, frame.ptsTicks + shift, frame.dtsTicks + shift, frame.isKey);
};

const firstPts = (gop: readonly SourceFrame[] | undefined): number | null =>
  gop?.find(({ isAudio }) => !isAudio)?.ptsTicks ?? null;

/** All segments of a fixture, one per GOP; standalone ones each from a muxer of its own. */
export const muxAll = (
  video: VideoStream,
  audio: AudioStream | null,
  continuity: SegmentMuxerOptions['continuity'],
  shiftSeconds = 0,
): SegmentFacts[] => {
  const info = infoOf(video, audio?.track ?? null);
  const gops = gopsOf(video, audio);
  const carried = new SegmentMuxer({ continuity, initialBytes: 188 });
  return gops.map((gop, index) => {
    const muxer = continuity === 'carried' ? carried : new SegmentMuxer({ continuity, initialBytes: 188 });
    muxer.begin(info, { index, discontinuity: false });
    for (const frame of gop) {
      if (!addFrame(muxer, frame, shiftSeconds, audio?.clockRateHz ?? 1))
        throw new Error('a frame was refused');
    }
    const next = firstPts(gops[index + 1]);
    const facts = muxer.finish(next === null ? null : next + shiftSeconds * 90_000);
    return { ...facts, bytes: Buffer.from(facts.bytes) };
  });
};
