import type { VideoStream } from './elementary-stream.js';

/**
 * The stream as it comes to somebody who joins it in the middle of a long GOP (those of smart codecs last up to a minute):
 * so many seconds without a keyframe, then all of it.
 */
export const joinedInMidGop = (stream: VideoStream, seconds: number): VideoStream => {
  const frameTicks = stream.clockRateHz / stream.frameRateHz;
  const gop = stream.frames.slice(
    1,
    stream.frames.findIndex(({ isKey }, index) => index > 0 && isKey),
  );
  const before = Array.from({ length: seconds * stream.frameRateHz }, (_, index) => gop[index % gop.length]!);
  const frames = [...before, ...stream.frames].map((frame, index) => ({
    ...frame,
    ptsTicks: index * frameTicks,
    dtsTicks: index * frameTicks,
  }));
  return { ...stream, durationTicks: frames.length * frameTicks, frames };
};
