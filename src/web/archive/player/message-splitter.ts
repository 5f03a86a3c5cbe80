import { readMessage, type StreamMessage } from '../../player/messages.js';

const LENGTH_BYTES = 4;
/** The service sends no frame that is larger. */
const MAX_MESSAGE_BYTES = 17 << 20;

/** Cuts an answer into its messages, each behind its length, however it comes in pieces. */
export class MessageSplitter {
  #rest: Uint8Array<ArrayBuffer>[] = [];
  #restBytes = 0;

  /** The messages that are whole with this piece; throws for what can't be one. */
  push(piece: Uint8Array<ArrayBuffer>): StreamMessage[] {
    this.#rest.push(piece);
    this.#restBytes += piece.length;
    const messages: StreamMessage[] = [];
    for (let lengthBytes = this.#nextLength(); lengthBytes !== null; lengthBytes = this.#nextLength()) {
      const message = readMessage(this.#take(LENGTH_BYTES + lengthBytes).subarray(LENGTH_BYTES));
      if (message !== null) messages.push(message);
    }
    return messages;
  }

  /** Of the message that comes next, if it is there as a whole. */
  #nextLength(): number | null {
    if (this.#restBytes < LENGTH_BYTES) return null;
    const first = this.#rest[0]!;
    const head = first.length >= LENGTH_BYTES ? first : this.#joined(LENGTH_BYTES);
    const lengthBytes = new DataView(head.buffer, head.byteOffset).getUint32(0);
    if (lengthBytes > MAX_MESSAGE_BYTES) throw new Error(`a message of ${lengthBytes} bytes is none`);
    return this.#restBytes < LENGTH_BYTES + lengthBytes ? null : lengthBytes;
  }

  /** Sees to it that the first piece has so many bytes. */
  #joined(bytes: number): Uint8Array<ArrayBuffer> {
    const joined = new Uint8Array(Math.max(bytes, this.#rest[0]!.length));
    let filled = 0;
    while (filled < bytes) {
      const piece = this.#rest.shift()!;
      const used = piece.subarray(0, joined.length - filled);
      joined.set(used, filled);
      filled += used.length;
      if (used.length < piece.length) this.#rest.unshift(piece.subarray(used.length));
    }
    this.#rest.unshift(joined.subarray(0, filled));
    return this.#rest[0]!;
  }

  #take(bytes: number): Uint8Array<ArrayBuffer> {
    const first = this.#rest[0]!.length >= bytes ? this.#rest[0]! : this.#joined(bytes);
    this.#rest.shift();
    if (first.length > bytes) this.#rest.unshift(first.subarray(bytes));
    this.#restBytes -= bytes;
    return first.subarray(0, bytes);
  }
}
