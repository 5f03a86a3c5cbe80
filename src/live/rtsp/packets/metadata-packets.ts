import { MAX_PAYLOAD_BYTES, type PacketArena, type Packets } from './packet-arena.js';
import { DEFAULT_CHANNEL } from './packet-batch.js';
import { payloadType } from './payload-type.js';
import { type RtpNumbers, rtpTime } from './rtp-numbers.js';

/** Makes the packets of what a camera's own analytics tell (ONVIF Streaming §5.1.2): the marker ends a document. */
export class MetadataPackets {
  readonly #arena: PacketArena;
  readonly #numbers: RtpNumbers;
  readonly #writer: ReturnType<PacketArena['writer']>;
  #ticks = Number.NEGATIVE_INFINITY;

  constructor(arena: PacketArena, numbers: RtpNumbers) {
    this.#arena = arena;
    this.#numbers = numbers;
    const { ssrc, firstSequence } = numbers;
    this.#writer = arena.writer(DEFAULT_CHANNEL.metadata, ssrc, firstSequence, MAX_PAYLOAD_BYTES);
    this.#writer.payloadType = payloadType.metadata;
  }

  get nextSequence(): number {
    return this.#writer.sequence;
  }

  /** The packets of a document that is at `ticks` of the axis, or where the one before it is: times never go back. */
  make(document: Uint8Array, ticks: number): Packets {
    this.#ticks = Math.max(this.#ticks, ticks);
    const timestamp = rtpTime(this.#numbers, this.#ticks);
    const source = Buffer.from(document.buffer, document.byteOffset, document.byteLength);
    this.#arena.begin(this.#writer);
    for (let at = 0; at < source.length; at += MAX_PAYLOAD_BYTES) {
      const end = Math.min(at + MAX_PAYLOAD_BYTES, source.length);
      this.#writer.begin();
      this.#writer.copy(source, at, end);
      this.#writer.finish(timestamp, end === source.length);
    }
    return this.#arena.take();
  }
}
