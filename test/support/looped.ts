import type { AudioStream, StreamFrame, VideoStream } from './elementary-stream.js';

const repeat = (frames: readonly StreamFrame[], durationTicks: number, turns: number): StreamFrame[] =>
  Array.from({ length: turns }, (_, turn) =>
    frames.map((frame) => ({
      ...frame,
      ptsTicks: frame.ptsTicks + turn * durationTicks,
      dtsTicks: frame.dtsTicks + turn * durationTicks,
    })),
  ).flat();

/** The stream, so many times over, with times that go on. */
export const looped = <Stream extends VideoStream | AudioStream>(stream: Stream, turns: number): Stream => ({
  ...stream,
  durationTicks: stream.durationTicks * turns,
  frames: repeat(stream.frames, stream.durationTicks, turns),
});
