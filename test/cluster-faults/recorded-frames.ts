import { closeSync, openSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FileWalk } from '../../src/archive/files/file-walk.js';
import { frameNumber, STAMP_BYTES, sendTimeMs } from '../support/frame-generator.js';

/** As the camera sent it: by the monotonic clock that all of the machine share, whatever boxes think of the time. */
export type RecordedFrame = { readonly sentMs: number; readonly number: number };

const framesIn = (path: string): RecordedFrame[] => {
  const fd = openSync(path, 'r');
  try {
    const frames: RecordedFrame[] = [];
    const walk = new FileWalk(fd, statSync(path).size);
    walk.readAll(({ firstSamples, endSamples }) => {
      const [columns] = walk.scanner.columns;
      if (columns === undefined) return;
      // All that a fragment has, in one read.
      const [first, end] = [firstSamples[0]!, endSamples[0]!];
      if (end <= first) return;
      const fromBytes = columns.offsetBytes[first]!;
      const toBytes = columns.offsetBytes[end - 1]! + columns.sizeBytes[end - 1]!;
      const bytes = walk.read(fromBytes, toBytes - fromBytes);
      for (let at = first; at < end; at++) {
        const frameEnd = columns.offsetBytes[at]! + columns.sizeBytes[at]! - fromBytes;
        if (frameEnd > bytes.length || columns.sizeBytes[at]! < STAMP_BYTES) continue;
        frames.push({ sentMs: sendTimeMs(bytes, frameEnd), number: frameNumber(bytes, frameEnd) });
      }
    });
    return frames;
  } finally {
    closeSync(fd);
  }
};

const recordingsIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.mp4'));
  } catch {
    return [];
  }
};

/** All that one box has of a camera, in the order in which it was sent. */
export const recordedFrames = (folder: string): RecordedFrame[] => {
  const frames = recordingsIn(folder).flatMap((name) => {
    try {
      return framesIn(join(folder, name));
    } catch {
      // Closed, and so called otherwise, since: it is looked at by its new name the next time.
      return framesIn(
        join(folder, recordingsIn(folder).find((other) => other.startsWith(name.slice(0, 20)))!),
      );
    }
  });
  return frames.sort((a, b) => a.sentMs - b.sentMs);
};
