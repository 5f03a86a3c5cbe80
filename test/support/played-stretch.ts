import assert from 'node:assert/strict';
import { accessUnitHash } from './access-units.js';
import type { VideoStream } from './elementary-stream.js';
import type { FrameLog, SeenFrame } from './engine.js';

const hashesOf = ({ codec, frames }: VideoStream): string[] =>
  frames.map(({ bytes }) => accessUnitHash(codec, bytes));

/** Whether the last picture of a stream that ends has come. */
export const cameToEnd = (log: FrameLog, stream: VideoStream): boolean => {
  const { bytes } = stream.frames.at(-1)!;
  const last = accessUnitHash(stream.codec, bytes);
  return log.video.some(({ hash }) => hash === last);
};

/** The pictures of a stream that was played to its end, each of which must be as in the file. */
export const playedStretch = (log: FrameLog, stream: VideoStream): SeenFrame[] => {
  const seen = log.video;
  const inFile = hashesOf(stream);
  // A reader on a busy machine may have joined at a later keyframe.
  const from = inFile.indexOf(seen[0]?.hash ?? '');
  assert.equal(stream.frames[from]?.isKey, true);
  const stretch = seen.slice(0, inFile.length - from);
  assert.deepEqual(
    stretch.map(({ hash }) => hash),
    inFile.slice(from),
  );
  assert.deepEqual(
    stretch.map(({ isKey }) => isKey),
    stream.frames.slice(from).map(({ isKey }) => isKey),
  );
  return stretch;
};
