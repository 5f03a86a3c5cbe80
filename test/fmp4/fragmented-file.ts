import { ParameterSets } from '../../src/codec/parameter-sets.js';
import type { AudioTrackInfo, StreamInfo } from '../../src/codec/track.js';
import { FileScanner } from '../../src/fmp4/file-scanner.js';
import { FragmentBuilder } from '../../src/fmp4/fragment.js';
import { AUDIO_TRACK_ID, buildInitSegment, VIDEO_TRACK_ID } from '../../src/fmp4/init-segment.js';
import { normaliseAccessUnit } from '../support/access-units.js';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';

/** A sample as the recorder gets it from the ring. */
export type Sample = {
  readonly track: 0 | 1;
  readonly dtsTicks: number;
  readonly ptsTicks: number;
  readonly bytes: Buffer;
  readonly isKey: boolean;
};

export const START_WALL_MS = Date.UTC(2026, 10, 21, 8, 30, 0, 125);

export const streamInfoOf = (video: VideoStream, audio: AudioTrackInfo | null): StreamInfo => {
  const sets = new ParameterSets(video.codec);
  for (const nal of video.parameterSets) sets.offer(nal, 0, nal.length);
  return { video: sets.toVideoTrackInfo()!, audio };
};

/** Both tracks in the order in which a camera would send them; the file's time begins at `originTicks`. */
export const samplesOf = (video: VideoStream, audio: AudioStream | null, originTicks = 0): Sample[] => {
  // Composition comes no earlier than decoding, as DecodeOrder has it.
  const delayTicks = Math.max(...video.frames.map((frame) => frame.dtsTicks - frame.ptsTicks));
  const samples: Sample[] = video.frames.map((frame) => ({
    track: 0,
    dtsTicks: frame.dtsTicks + originTicks,
    ptsTicks: frame.ptsTicks + delayTicks + originTicks,
    bytes: normaliseAccessUnit(video.codec, frame.bytes),
    isKey: frame.isKey,
  }));
  for (const frame of audio?.frames ?? []) {
    const { dtsTicks, ptsTicks, bytes } = frame;
    samples.push({ track: 1, dtsTicks, ptsTicks, bytes, isKey: true });
  }
  const secondsOf = ({ track, dtsTicks }: Sample): number =>
    track === 0 ? (dtsTicks - originTicks) / video.clockRateHz : dtsTicks / audio!.clockRateHz;
  return samples.sort((a, b) => secondsOf(a) - secondsOf(b));
};

/** Records samples: a fragment at each keyframe and `maxSamples` at most. */
export const recordFile = (
  info: StreamInfo,
  samples: readonly Sample[],
  options: { readonly maxSamples: number; readonly originTicks?: number; readonly startWallMs?: number },
): Buffer => {
  const { maxSamples, originTicks = 0, startWallMs = START_WALL_MS } = options;
  const builder = new FragmentBuilder([
    { trackId: VIDEO_TRACK_ID, kind: 'video', originTicks, usualDurationTicks: 6000 },
    { trackId: AUDIO_TRACK_ID, kind: 'audio', originTicks: 0, usualDurationTicks: 1024 },
  ]);
  const pieces: Buffer[] = [buildInitSegment(info)];
  let data: Buffer[] = [];
  const finish = (next: number): void => {
    const endTicks = ([0, 1] as const).map(
      (track) => samples.slice(next).find((sample) => sample.track === track)?.dtsTicks ?? Number.NaN,
    );
    const head = Buffer.alloc(builder.headBytes);
    if (builder.finish(head, 0, endTicks) !== head.length) throw new Error('headBytes is wrong');
    pieces.push(head, ...data);
    data = [];
  };
  for (const [index, sample] of samples.entries()) {
    const isCut = (sample.track === 0 && sample.isKey) || builder.sampleCount >= maxSamples;
    if (isCut && builder.sampleCount > 0) finish(index);
    if (sample.track === 0 && builder.sampleCount === 0) {
      builder.setWall(startWallMs + (sample.ptsTicks - originTicks) / 90, sample.ptsTicks);
    }
    if (!builder.add(sample.track, sample.dtsTicks, sample.ptsTicks, sample.bytes.length, sample.isKey)) {
      throw new Error(`sample ${index} was refused`);
    }
    data.push(sample.bytes);
  }
  finish(samples.length);
  return Buffer.concat(pieces);
};

/** Scans a file in memory, reading what is asked for alone; says how much was read. */
export const scanFile = (file: Buffer, scanner = new FileScanner(file.length)) => {
  let readBytes = 0;
  let reads = 0;
  for (let range = scanner.wanted; range !== null; range = scanner.wanted) {
    const bytes = file.subarray(range.offset, range.offset + range.lengthBytes);
    reads += 1;
    readBytes += bytes.length;
    if (reads > file.length / 8 + 10) throw new Error('the scan goes round in circles');
    scanner.feed(bytes);
  }
  return { scanner, readBytes, reads };
};
