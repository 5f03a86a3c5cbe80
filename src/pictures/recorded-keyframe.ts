import type { Keyframe } from './keyframe.js';

/** An answer of the archive: messages, each behind its length as 32 bits, no message in two pieces. */
export type FrameReading = { read(): AsyncIterable<Buffer>; close(): void };

/** Recordings, as far as pictures are made of them. */
export type FrameArchive = {
  /** The keyframe of a moment, or the last one before it; throws where there is none. `viewer`: who counts as one. */
  frames(
    cameraId: string,
    wanted: { readonly atMs: number; readonly keysOnly: true },
    viewer: string,
  ): Promise<FrameReading>;
};

/* Where what lies in messages: src/wire/README.md has them. */
const LENGTH_BYTES = 4;
const CONFIG = 0x11;
const CONFIG_HEAD_BYTES = 16;
const FRAME = 0x12;
const FRAME_HEAD_BYTES = 32;

function* messagesIn(piece: Buffer): Generator<Buffer> {
  for (let at = 0; at + LENGTH_BYTES <= piece.length; ) {
    const start = at + LENGTH_BYTES;
    at = start + piece.readUInt32BE(at);
    yield piece.subarray(start, at);
  }
}

const keyframeIn = (config: Buffer, frame: Buffer): Keyframe => {
  const setsAt = CONFIG_HEAD_BYTES + config.readUInt16BE(2);
  const codec = config.toString('latin1', CONFIG_HEAD_BYTES, setsAt).startsWith('avc') ? 'h264' : 'h265';
  const wallUs = frame.readBigUInt64BE(24);
  return {
    name: `recorded ${wallUs}`,
    codec,
    takenMs: Number(wallUs) / 1000,
    annexB: Buffer.concat([config.subarray(setsAt), frame.subarray(FRAME_HEAD_BYTES)]),
  };
};

/** The keyframe that was recorded at a moment, or the last one before it; null: it is damaged. */
export const recordedKeyframe = async (
  archive: FrameArchive,
  cameraId: string,
  atMs: number,
): Promise<Keyframe | null> => {
  const reading = await archive.frames(cameraId, { atMs, keysOnly: true }, `snapshots of ${cameraId}`);
  try {
    let config: Buffer | null = null;
    for await (const piece of reading.read()) {
      for (const message of messagesIn(piece)) {
        if (message[0] === CONFIG) config = message;
        else if (message[0] === FRAME && config !== null) return keyframeIn(config, message);
      }
    }
    return null;
  } finally {
    reading.close();
  }
};
