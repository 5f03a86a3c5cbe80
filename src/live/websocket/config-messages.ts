import type { RingReader } from '../../ring/reader.js';
import { configMessage } from './message.js';

/** The configuration message of one camera, made anew when the stream is described anew. */
export class ConfigMessages {
  #message: Buffer | null = null;
  #streamVersion = 0;

  /**
   * The message that goes with the reader's current frame. The same object as long as the parameter sets are the
   * same. Null: the description is gone, and the reader has dropped the frame.
   */
  of(reader: RingReader): Buffer | null {
    if (this.#message !== null && reader.streamVersion === this.#streamVersion) return this.#message;
    const info = reader.streamInfo();
    if (info === null) return null;
    const message = configMessage(info.video);
    if (this.#message === null || !this.#message.equals(message)) this.#message = message;
    this.#streamVersion = reader.streamVersion;
    return this.#message;
  }

  /** Another ring counts its descriptions from one again. */
  restart(): void {
    this.#streamVersion = 0;
  }
}
