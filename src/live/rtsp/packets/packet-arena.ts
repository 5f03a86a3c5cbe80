import { type PacketSink, PacketWriter, RTP_HEADER_BYTES } from '../../../rtp/packet-writer.js';
import { INTERLEAVING_BYTES } from './packet-batch.js';

/** A packet with all headers of IPv4 is 1400 bytes: that fits the tunnels that viewers sit behind. */
export const MAX_PACKET_BYTES = 1372;
export const MAX_PAYLOAD_BYTES = MAX_PACKET_BYTES - RTP_HEADER_BYTES;
/** Room for a few frames; many small ones share it, and it goes when the last of them is sent. */
const SLAB_BYTES = 256 << 10;

/**
 * Memory for the packets of frames, one frame's behind each other. Nothing is written over: what a socket still holds
 * stays what it was.
 */
export class PacketArena {
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  #start = 0;
  #end = 0;

  /** A writer into this arena for one track. Its `ssrc` and first sequence number come from the caller. */
  writer(channel: number, ssrc: number, firstSequence: number, maxPayloadBytes: number): PacketWriter {
    const options = { payloadType: 0, ssrc, firstSequence, maxPayloadBytes };
    const sink: PacketSink = (buffer, start, end) => {
      buffer[start - 4] = 0x24;
      buffer[start - 3] = channel;
      buffer.writeUInt16BE(end - start, start - 2);
      this.#end = end;
      this.#makeRoom(writer);
    };
    const writer = new PacketWriter(options, this.#slab, 0, sink);
    return writer;
  }

  /** A frame begins, of the track of this writer. */
  begin(writer: PacketWriter): void {
    this.#start = this.#end;
    this.#makeRoom(writer);
  }

  /** All packets since `begin`. */
  take(): Buffer {
    return this.#slab.subarray(this.#start, this.#end);
  }

  #makeRoom(writer: PacketWriter): void {
    const neededBytes = INTERLEAVING_BYTES + RTP_HEADER_BYTES + writer.maxPayloadBytes;
    if (this.#end + neededBytes > this.#slab.length) this.#move(neededBytes);
    writer.target = this.#slab;
    writer.targetStart = this.#end + INTERLEAVING_BYTES;
  }

  /** Goes on in fresh memory, with the frame as far as it is there. */
  #move(neededBytes: number): void {
    const frame = this.take();
    this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, 2 * (frame.length + neededBytes)));
    frame.copy(this.#slab, 0);
    this.#start = 0;
    this.#end = frame.length;
  }
}
