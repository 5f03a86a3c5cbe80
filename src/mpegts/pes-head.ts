import type { VideoTrackInfo } from '../codec/track.js';
import { writeTimestamp } from './timestamp.js';

const STREAM_ID = { video: 0xe0, audio: 0xc0 } as const;
/** Start code, stream id, length, two bytes of flags, header length. */
const FIXED_BYTES = 9;
const TIMESTAMP_BYTES = 5;
const MAX_HEADER_BYTES = FIXED_BYTES + 2 * TIMESTAMP_BYTES;
/** Bytes of the header that PES_packet_length leaves out. */
const UNCOUNTED_BYTES = 6;
const startCode = Buffer.from([0, 0, 0, 1]);
/** Access unit delimiters that allow any kind of slice (H.264 §7.4.2.4, H.265 §7.4.3.5). */
const delimiters = { h264: [0x09, 0xf0], h265: [0x46, 0x01, 0x50] } as const;

/** Writes a PES header that says PTS, and DTS where it differs (ISO 13818-1 §2.4.3.6). Returns its size. */
const writePesHeader = (
  out: Buffer,
  streamId: number,
  payloadBytes: number,
  ptsTicks: number,
  dtsTicks: number,
): number => {
  const hasDts = ptsTicks !== dtsTicks;
  const headerBytes = hasDts ? MAX_HEADER_BYTES : FIXED_BYTES + TIMESTAMP_BYTES;
  const counted = headerBytes - UNCOUNTED_BYTES + payloadBytes;
  // 0 means "to the next PES": only video may say that, and only a picture is ever that large.
  const length = counted > 0xffff ? 0 : counted;
  out[0] = 0;
  out[1] = 0;
  out[2] = 1;
  out[3] = streamId;
  out[4] = length >> 8;
  out[5] = length;
  out[6] = 0x84; // data_alignment_indicator: an access unit begins right behind the header
  out[7] = hasDts ? 0xc0 : 0x80;
  out[8] = headerBytes - FIXED_BYTES;
  writeTimestamp(out, FIXED_BYTES, hasDts ? 3 : 2, ptsTicks);
  if (hasDts) writeTimestamp(out, FIXED_BYTES + TIMESTAMP_BYTES, 1, dtsTicks);
  return headerBytes;
};

/** What goes in front of a frame's own bytes; made anew for each frame in the same memory. */
export class VideoHead {
  readonly bytes: Buffer;
  /** How much of `bytes` belongs to the frame at hand. */
  lengthBytes = 0;
  readonly #delimiter: Buffer;
  readonly #keyPrefix: Buffer;

  constructor(video: VideoTrackInfo) {
    const units = [...video.vps, ...video.sps, ...video.pps];
    this.#delimiter = Buffer.concat([startCode, Buffer.from(delimiters[video.codec])]);
    this.#keyPrefix = Buffer.concat([this.#delimiter, ...units.flatMap((unit) => [startCode, unit])]);
    this.bytes = Buffer.alloc(MAX_HEADER_BYTES + this.#keyPrefix.length);
  }

  /** PES header, access unit delimiter and, if wanted, the parameter sets. */
  write(hasSets: boolean, frameBytes: number, ptsTicks: number, dtsTicks: number): void {
    const prefix = hasSets ? this.#keyPrefix : this.#delimiter;
    const payloadBytes = prefix.length + frameBytes;
    const at = writePesHeader(this.bytes, STREAM_ID.video, payloadBytes, ptsTicks, dtsTicks);
    prefix.copy(this.bytes, at);
    this.lengthBytes = at + prefix.length;
  }
}

/** The head of an audio PES: its header alone. */
export class AudioHead {
  readonly bytes = Buffer.alloc(MAX_HEADER_BYTES);
  lengthBytes = 0;

  write(payloadBytes: number, ptsTicks: number): void {
    this.lengthBytes = writePesHeader(this.bytes, STREAM_ID.audio, payloadBytes, ptsTicks, ptsTicks);
  }
}
