import { PacketWriter, RTP_HEADER_BYTES } from '../../../src/rtp/packet-writer.js';
import { H264Packetizer } from '../../../src/rtp/packetize-h264.js';
import { H265Packetizer } from '../../../src/rtp/packetize-h265.js';
import type { VideoStream } from '../elementary-stream.js';
import { PACKET_PAYLOAD_BYTES, STAMP_BYTES, writeStamp } from '../frame-generator.js';
import { VIDEO_PAYLOAD_TYPE } from './sdp-writer.js';

/** `$`, channel and length stand before each packet. */
export const INTERLEAVED_BYTES = 4;

/** A frame that was packetised once; who sends it patches channel, sequence, time and SSRC in place. */
export class FrameTemplate {
  /** All packets in a row, each behind its interleaved header. */
  bytes: Buffer;
  /** Each packet with its interleaved header: views of `bytes`. */
  packets: Buffer[] = [];
  readonly offsetTicks: number;
  readonly #starts: readonly number[];

  constructor(bytes: Buffer, starts: readonly number[], offsetTicks: number) {
    this.bytes = bytes;
    this.#starts = starts;
    this.offsetTicks = offsetTicks;
    this.#cut();
  }

  get packetCount(): number {
    return this.#starts.length;
  }

  /** Makes packet `index` one of a certain session. */
  patch(index: number, channel: number, sequence: number, timestamp: number, ssrc: number): void {
    const bytes = this.bytes;
    const at = this.#starts[index]!;
    bytes[at + 1] = channel;
    bytes[at + 6] = sequence >> 8;
    bytes[at + 7] = sequence & 0xff;
    bytes.writeUInt32BE(timestamp, at + 8);
    bytes.writeUInt32BE(ssrc, at + 12);
  }

  /** Whether the send time overwrites nothing but picture data. */
  get isStampable(): boolean {
    const lastBytes = this.packets.at(-1)?.length ?? 0;
    return lastBytes >= INTERLEAVED_BYTES + RTP_HEADER_BYTES + STAMP_BYTES + 4;
  }

  /** Puts the frame's number and the moment into the end of the last packet. */
  stamp(number: number, nowMs: number): void {
    writeStamp(this.bytes, this.bytes.length, number, nowMs);
  }

  /** Leaves the present bytes to a socket that hasn't sent them yet, and goes on with a copy. */
  abandonBytes(): void {
    this.bytes = Buffer.from(this.bytes);
    this.#cut();
  }

  #cut(): void {
    const ends = [...this.#starts.slice(1), this.bytes.length];
    this.packets = this.#starts.map((start, index) => this.bytes.subarray(start, ends[index]));
  }
}

/** Packetises a stream for sending it over and over. */
export const frameTemplates = (stream: VideoStream): FrameTemplate[] =>
  stream.frames.map((frame) => {
    const pieces: Buffer[] = [];
    const starts: number[] = [];
    let lengthBytes = 0;
    const options = {
      payloadType: VIDEO_PAYLOAD_TYPE,
      ssrc: 0,
      firstSequence: 0,
      maxPayloadBytes: PACKET_PAYLOAD_BYTES,
    };
    const target = Buffer.alloc(RTP_HEADER_BYTES + PACKET_PAYLOAD_BYTES);
    const writer = new PacketWriter(options, target, 0, (buffer, start, end) => {
      const head = Buffer.of(0x24, 0, (end - start) >> 8, (end - start) & 0xff);
      pieces.push(head, Buffer.from(buffer.subarray(start, end)));
      starts.push(lengthBytes);
      lengthBytes += INTERLEAVED_BYTES + end - start;
    });
    const packetizer =
      stream.codec === 'h264'
        ? new H264Packetizer({ aggregate: false, packetizationMode: 1 }, writer)
        : new H265Packetizer({ aggregate: false, donl: false }, writer);
    packetizer.packetize(frame.bytes, 0, frame.bytes.length, 0);
    return new FrameTemplate(Buffer.concat(pieces), starts, frame.ptsTicks);
  });
