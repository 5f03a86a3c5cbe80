import type { StreamFrame, VideoStream } from './elementary-stream.js';

/** The frames of a stream, cut before each keyframe. */
const gopsOf = ({ frames }: VideoStream): StreamFrame[][] => {
  const gops: StreamFrame[][] = [];
  for (const frame of frames) {
    if (frame.isKey) gops.push([]);
    gops.at(-1)?.push(frame);
  }
  return gops;
};

/**
 * A camera that takes its GOPs from two encoders in turns: so many of each, without B-frames, as many as the one has
 * that has fewer.
 */
export const alternating = (first: VideoStream, second: VideoStream): VideoStream => {
  const [a, b] = [gopsOf(first), gopsOf(second)];
  const gops = a.slice(0, b.length).flatMap((gop, index) => [gop, b[index]!]);
  const frameTicks = first.clockRateHz / first.frameRateHz;
  const frames = gops.flat().map((frame, index) => ({
    ...frame,
    ptsTicks: index * frameTicks,
    dtsTicks: index * frameTicks,
  }));
  return { ...first, durationTicks: frames.length * frameTicks, frames };
};
