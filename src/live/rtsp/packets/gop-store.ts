import type { PacketBatch, Track } from './packet-batch.js';

/** A group of pictures beyond this can't be had from its keyframe: whoever comes then waits for the next one. */
const MAX_BYTES = 16 << 20;

/**
 * A camera's packets since the newest keyframe, numbered by frame: there a viewer begins. Those before it stay as long as
 * somebody is on the way through them.
 */
export class GopStore {
  /** The number of the oldest batch, and of the one that comes next. */
  first = 0;
  next = 0;
  /** The newest keyframe, -1 if it is gone. */
  newestKey = -1;
  readonly #batches: PacketBatch[] = [];
  #bytes = 0;

  /** Undefined where it isn't there any more, or not yet. */
  at(number: number): PacketBatch | undefined {
    return this.#batches[number - this.first];
  }

  /** The first batch of a track from this number on. */
  firstOf(track: Track, from: number): PacketBatch | undefined {
    return this.#batches.find((batch, index) => index + this.first >= from && batch.track === track);
  }

  /** `neededFrom`: the first that somebody still wants. */
  add(batch: PacketBatch, neededFrom: number): void {
    if (batch.isKey) this.newestKey = this.next;
    batch.hold();
    this.#batches.push(batch);
    this.#bytes += batch.bytes.length;
    this.next += 1;
    if (batch.isKey) this.#dropBefore(Math.min(this.newestKey, neededFrom));
    if (this.#bytes <= MAX_BYTES) return;
    let count = this.first;
    for (let left = this.#bytes; left > MAX_BYTES / 2; count += 1) left -= this.at(count)!.bytes.length;
    this.#dropBefore(count);
    if (this.newestKey < this.first) this.newestKey = -1;
  }

  #dropBefore(number: number): void {
    if (number <= this.first) return;
    const gone = this.#batches.splice(0, number - this.first);
    for (const batch of gone) {
      this.#bytes -= batch.bytes.length;
      batch.release();
    }
    this.first = number;
  }
}
