import { annexBBytes, toAnnexB, writeAnnexB } from '../../codec/annex-b.js';
import type { AudioTrackInfo, VideoTrackInfo } from '../../codec/track.js';
import type { RingReader } from '../../ring/reader.js';
import { BINARY, headBytes, writeHead } from '../socket-frame.js';
import type { MessageMemory } from './message-memory.js';

const CONFIG = 0x11;
const FRAME = 0x12;
const CONFIG_HEAD_BYTES = 16;
const FRAME_HEAD_BYTES = 32;
const flag = { key: 1, brokeOff: 2 } as const;

const writeU64 = (target: Buffer, at: number, value: number): void => {
  target.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  target.writeUInt32BE(value % 2 ** 32, at + 4);
};

/** Where a frame belongs, and when it is decoded and shown. */
export type FramePlace = {
  stream: number;
  index: number;
  /** Decode time, microseconds. */
  timestampUs: number;
  /** From the decode time to when it is shown. */
  compositionUs: number;
  /** It follows on nothing that was sent before. */
  brokeOff: boolean;
};

/** Makes messages out of frames: the last one made lies in the shared memory, from `start` to `end`. */
export class FrameMessages {
  start = 0;
  end = 0;
  /** Of the message alone, without the frame of RFC 6455 around it. */
  payloadBytes = 0;
  readonly memory: MessageMemory;

  constructor(memory: MessageMemory) {
    this.memory = memory;
  }

  /** The reader's current frame. False: it was overwritten meanwhile, or is no frame. */
  make(reader: RingReader, place: FramePlace): boolean {
    const { memory } = this;
    this.payloadBytes = FRAME_HEAD_BYTES + reader.lengthBytes;
    const totalBytes = headBytes(this.payloadBytes) + this.payloadBytes;
    this.start = memory.take(totalBytes);
    this.end = this.start + totalBytes;
    const { bytes } = memory;
    const at = writeHead(bytes, this.start, BINARY, this.payloadBytes);
    bytes[at] = FRAME;
    bytes[at + 1] = (reader.isKey ? flag.key : 0) | (place.brokeOff ? flag.brokeOff : 0);
    bytes.writeUInt16BE(0, at + 2);
    bytes.writeUInt32BE(place.stream, at + 4);
    bytes.writeUInt32BE(place.index, at + 8);
    bytes.writeInt32BE(place.compositionUs, at + 12);
    writeU64(bytes, at + 16, place.timestampUs);
    writeU64(bytes, at + 24, Math.max(0, Math.round(reader.wallMs * 1000)));
    const start = at + FRAME_HEAD_BYTES;
    if (!reader.copyTo(bytes, start)) return false;
    return reader.isAudio || toAnnexB(bytes, start, this.end);
  }
}

/** A whole message that is kept, and how much of it is payload. */
export type KeptMessage = { readonly bytes: Buffer; readonly payloadBytes: number };

const configMessage = (
  head: { stream: number; reorderDepth: number; width: number; height: number; rate: number; codec: string },
  tailBytes: number,
  writeTail: (target: Buffer, at: number) => void,
): KeptMessage => {
  const codec = Buffer.from(head.codec);
  const payloadBytes = CONFIG_HEAD_BYTES + codec.length + tailBytes;
  const bytes = Buffer.allocUnsafeSlow(headBytes(payloadBytes) + payloadBytes);
  const at = writeHead(bytes, 0, BINARY, payloadBytes);
  bytes[at] = CONFIG;
  bytes[at + 1] = head.reorderDepth;
  bytes.writeUInt16BE(codec.length, at + 2);
  bytes.writeUInt32BE(head.stream, at + 4);
  bytes.writeUInt16BE(head.width, at + 8);
  bytes.writeUInt16BE(head.height, at + 10);
  bytes.writeUInt32BE(head.rate, at + 12);
  codec.copy(bytes, at + CONFIG_HEAD_BYTES);
  writeTail(bytes, at + CONFIG_HEAD_BYTES + codec.length);
  return { bytes, payloadBytes };
};

/** What a decoder has to know of pictures. */
export const pictureConfig = (stream: number, video: VideoTrackInfo): KeptMessage => {
  const sets = [...video.vps, ...video.sps, ...video.pps];
  return configMessage(
    {
      stream,
      reorderDepth: video.reorderDepth ?? 0,
      width: video.width,
      height: video.height,
      rate: Math.round((video.frameRateHz ?? 0) * 1000),
      codec: video.codecString,
    },
    annexBBytes(sets),
    (target, at) => writeAnnexB(target, at, sets),
  );
};

/** What a decoder has to know of sound; where pictures have their width stands the number of channels. */
export const soundConfig = (stream: number, audio: AudioTrackInfo): KeptMessage =>
  configMessage(
    {
      stream,
      reorderDepth: 0,
      width: audio.channels,
      height: 0,
      rate: audio.clockRateHz,
      codec: audio.codecString,
    },
    audio.config.length,
    (target, at) => target.set(audio.config, at),
  );
