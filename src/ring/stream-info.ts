import { AppError } from '../base/errors.js';
import type { AudioTrackInfo, StreamInfo, VideoTrackInfo } from '../codec/track.js';
import { INFO_ENTRIES, INFO_ENTRY_BYTES, type RingErrorCode, type RingMemory } from './layout.js';

/* An entry is the version (int32), the length (int32), then JSON with parameter sets in base64. */
const HEAD_BYTES = 8;
const MAX_BYTES = INFO_ENTRY_BYTES - HEAD_BYTES;

type Stored = {
  video: Omit<VideoTrackInfo, 'vps' | 'sps' | 'pps'> & { vps: string[]; sps: string[]; pps: string[] };
  audio: (Omit<AudioTrackInfo, 'config'> & { config: string }) | null;
};

const toText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const toBytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));

/** The bytes that describe a stream in shared memory. */
export const encodeStreamInfo = ({ video, audio }: StreamInfo): Buffer => {
  const stored: Stored = {
    video: {
      ...video,
      vps: video.vps.map(toText),
      sps: video.sps.map(toText),
      pps: video.pps.map(toText),
    },
    audio: audio && { ...audio, config: toText(audio.config) },
  };
  const encoded = Buffer.from(JSON.stringify(stored));
  if (encoded.length > MAX_BYTES) {
    throw new AppError<RingErrorCode>('stream_info_too_large', 'the parameter sets outgrow the ring', {
      details: { bytes: encoded.length, maxBytes: MAX_BYTES },
    });
  }
  return encoded;
};

const decodeStreamInfo = (encoded: Buffer): StreamInfo => {
  const { video, audio } = JSON.parse(encoded.toString()) as Stored;
  return {
    video: {
      ...video,
      vps: video.vps.map(toBytes),
      sps: video.sps.map(toBytes),
      pps: video.pps.map(toBytes),
    },
    audio: audio && { ...audio, config: toBytes(audio.config) },
  };
};

const entryOf = (version: number): number => (version & (INFO_ENTRIES - 1)) * INFO_ENTRY_BYTES;

/** Writes a description where the one four versions ago was. */
export const storeStreamInfo = (memory: RingMemory, version: number, encoded: Buffer): void => {
  const start = entryOf(version);
  // The complement belongs to another entry, so no reader takes it for a version of this one.
  Atomics.exchange(memory.infoWords, start / 4, ~version);
  memory.infoWords[start / 4 + 1] = encoded.length;
  encoded.copy(memory.info, start + HEAD_BYTES);
  Atomics.store(memory.infoWords, start / 4, version);
};

/** A copy of a description's bytes, or null if it isn't there (any more). */
export const loadEncodedStreamInfo = (memory: RingMemory, version: number): Buffer | null => {
  const start = entryOf(version);
  if (version === 0 || Atomics.load(memory.infoWords, start / 4) !== version) return null;
  const lengthBytes = Math.min(memory.infoWords[start / 4 + 1]!, MAX_BYTES);
  const encoded = Buffer.alloc(lengthBytes);
  memory.info.copy(encoded, 0, start + HEAD_BYTES, start + HEAD_BYTES + lengthBytes);
  return Atomics.add(memory.infoWords, start / 4, 0) === version ? encoded : null;
};

/** The description with this version, or null if it isn't there (any more). */
export const loadStreamInfo = (memory: RingMemory, version: number): StreamInfo | null => {
  const encoded = loadEncodedStreamInfo(memory, version);
  return encoded && decodeStreamInfo(encoded);
};
