import { toAnnexB } from '../../codec/annex-b.js';
import type { RingReader } from '../../ring/reader.js';
import { PING_BYTES, writePing } from '../socket-frame.js';
import { videoMessageBytes, writeVideoHead } from './message.js';

/** Most frames fit; a larger one gets memory of its own. */
const SCRATCH_BYTES = 64 << 10;

/**
 * Makes video messages out of frames. What every socket took whole needn't be kept, so that one piece of memory
 * serves nearly all messages: a fresh one for each would keep the garbage collector busy.
 */
export class FrameMessages {
  #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);

  /**
   * The reader's current frame as a message, with a ping behind it unless `pingMs` is null. Null: the frame was
   * overwritten meanwhile, or is no frame. `isKept`: somebody will go on reading the message; whoever finds that
   * out later says so by `keep`, before the next one is made.
   */
  make(reader: RingReader, timestampUs: number, pingMs: number | null, isKept: boolean): Buffer | null {
    const { lengthBytes } = reader;
    const messageBytes = videoMessageBytes(lengthBytes);
    const totalBytes = messageBytes + (pingMs === null ? 0 : PING_BYTES);
    const message =
      isKept || totalBytes > SCRATCH_BYTES
        ? Buffer.allocUnsafeSlow(totalBytes)
        : this.#scratch.subarray(0, totalBytes);
    const start = writeVideoHead(message, lengthBytes, timestampUs);
    if (!reader.copyTo(message, start) || !toAnnexB(message, start, messageBytes)) return null;
    if (pingMs !== null) writePing(message, messageBytes, pingMs);
    return message;
  }

  /** The message is still being written: its memory is let go. */
  keep(message: Buffer): void {
    if (message.buffer === this.#scratch.buffer) this.#scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  }
}
