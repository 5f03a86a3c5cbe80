import type { StreamInfo } from '../../codec/track.js';
import type { RingReader } from '../../ring/reader.js';
import { recordable } from './fragment-collector.js';

/**
 * What the newest frames are of. The same for all files of a format: frames with other parameter sets bring them along,
 * and files can be joined.
 */
export class StreamFormat {
  #info: StreamInfo | null = null;
  #version = 0;

  /** Whether the frame is of the format that was asked for last. */
  isOf(frame: RingReader): boolean {
    return frame.formatVersion === this.#version;
  }

  /** What of the frame's stream is recorded; null: nobody knows any more, and the frame is dropped. */
  at(frame: RingReader): StreamInfo | null {
    if (this.#info !== null && this.isOf(frame)) return this.#info;
    const info = frame.formatInfo();
    if (info === null) return null;
    this.#version = frame.formatVersion;
    this.#info = recordable(info);
    return this.#info;
  }
}
