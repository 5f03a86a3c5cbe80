import { type PacketSink, PacketWriter, RTP_HEADER_BYTES } from '../../../rtp/packet-writer.js';
import { INTERLEAVING_BYTES } from './packet-batch.js';
import { Slab } from './slab.js';

/** A packet with all headers of IPv4 is 1400 bytes: that fits the tunnels that viewers sit behind. */
export const MAX_PACKET_BYTES = 1372;
export const MAX_PAYLOAD_BYTES = MAX_PACKET_BYTES - RTP_HEADER_BYTES;
/** Room for a few frames; many small ones share it. */
const SLAB_BYTES = 256 << 10;
/** So many wait to be used again: a group of pictures of 16 Mbit/s and 2 s, which goes all at once. */
const MOST_FREE = 16;

/** Packets behind each other, and the memory that they are in. */
export type Packets = { readonly bytes: Buffer; readonly slab: Slab };

/**
 * Memory for the packets of frames, one frame's behind each other. What the store or a socket still holds stays what it
 * was; what nobody holds is used again, since fresh memory for each frame makes V8 look through its heap all the time.
 */
export class PacketArena {
  readonly #free: Slab[] = [];
  readonly #keep = (slab: Slab): void => {
    if (slab.bytes.length === SLAB_BYTES && this.#free.length < MOST_FREE) this.#free.push(slab);
  };
  #slab = this.#spare(SLAB_BYTES);
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
    const writer = new PacketWriter(options, this.#slab.bytes, 0, sink);
    return writer;
  }

  /** A frame begins, of the track of this writer. */
  begin(writer: PacketWriter): void {
    this.#start = this.#end;
    this.#makeRoom(writer);
  }

  /** All packets since `begin`: whoever wants them for longer than this turn holds their memory. */
  take(): Packets {
    return { bytes: this.#slab.bytes.subarray(this.#start, this.#end), slab: this.#slab };
  }

  #makeRoom(writer: PacketWriter): void {
    const neededBytes = INTERLEAVING_BYTES + RTP_HEADER_BYTES + writer.maxPayloadBytes;
    if (this.#end + neededBytes > this.#slab.bytes.length) this.#move(neededBytes);
    writer.target = this.#slab.bytes;
    writer.targetStart = this.#end + INTERLEAVING_BYTES;
  }

  /** Goes on in other memory, with the frame as far as it is there. */
  #move(neededBytes: number): void {
    const { bytes, slab } = this.take();
    this.#slab = this.#spare(Math.max(SLAB_BYTES, 2 * (bytes.length + neededBytes)));
    bytes.copy(this.#slab.bytes, 0);
    slab.release();
    this.#start = 0;
    this.#end = bytes.length;
  }

  #spare(sizeBytes: number): Slab {
    const spare = sizeBytes === SLAB_BYTES ? this.#free.pop() : undefined;
    const slab = spare ?? new Slab(sizeBytes, this.#keep);
    slab.hold();
    return slab;
  }
}
