import { annexBBytes, writeAnnexB } from '../codec/annex-b.js';
import type { AudioTrackInfo, VideoTrackInfo } from '../codec/track.js';

const TYPE = 0x11;
const HEAD_BYTES = 16;
/** A stream that doesn't say how many frames it holds back for display order. */
export const UNKNOWN_REORDER_DEPTH = 255;

type Facts = {
  readonly stream: number;
  readonly reorderDepth: number;
  readonly width: number;
  readonly height: number;
  readonly rate: number;
  readonly codecString: string;
};

const withHead = (facts: Facts, descriptionBytes: number): { message: Buffer; start: number } => {
  const { stream, reorderDepth, width, height, rate, codecString } = facts;
  const codecBytes = Buffer.byteLength(codecString, 'latin1');
  const start = HEAD_BYTES + codecBytes;
  const message = Buffer.allocUnsafeSlow(start + descriptionBytes);
  message[0] = TYPE;
  message[1] = reorderDepth;
  message.writeUInt16BE(codecBytes, 2);
  message.writeUInt32BE(stream, 4);
  message.writeUInt16BE(width, 8);
  message.writeUInt16BE(height, 10);
  message.writeUInt32BE(rate, 12);
  message.write(codecString, HEAD_BYTES, 'latin1');
  return { message, start };
};

/** What a decoder has to know of pictures: the parameter sets come in the order in which it wants them. */
export const videoConfigMessage = (stream: number, info: VideoTrackInfo): Buffer => {
  const { vps, sps, pps, width, height, codecString } = info;
  const sets = [...vps, ...sps, ...pps];
  const reorderDepth = info.reorderDepth ?? UNKNOWN_REORDER_DEPTH;
  const rate = Math.round((info.frameRateHz ?? 0) * 1000);
  const facts = { stream, reorderDepth, width, height, rate, codecString };
  const { message, start } = withHead(facts, annexBBytes(sets));
  writeAnnexB(message, start, sets);
  return message;
};

/** As a FLAC file begins: its mark, and the head of STREAMINFO as the only block. */
const FLAC_HEAD = Buffer.of(0x66, 0x4c, 0x61, 0x43, 0x80, 0, 0, 34);

/** The decoder's name for sound and its description, as WebCodecs has them. */
const decoderOf = ({ codec, codecString, config }: AudioTrackInfo): readonly [string, Uint8Array] => {
  if (codec === 'flac') return ['flac', Buffer.concat([FLAC_HEAD, config])];
  return [codec === 'l16' ? 'pcm-s16' : codecString, config];
};

/** What a decoder has to know of sound: in the place of the picture's width are its channels. */
export const soundConfigMessage = (stream: number, info: AudioTrackInfo): Buffer => {
  const { channels, clockRateHz: rate } = info;
  const [codecString, description] = decoderOf(info);
  const facts = { stream, reorderDepth: 0, width: channels, height: 0, rate, codecString };
  const { message, start } = withHead(facts, description.length);
  message.set(description, start);
  return message;
};
