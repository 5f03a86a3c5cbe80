import { copyBytes } from './copy-bytes.js';
import { headerWord, type RingMemory } from './layout.js';

/** Whether nothing of the frame has been overwritten until now, asked after its bytes were read. */
export const isUntouched = (memory: RingMemory, sequence: number, position: number): boolean => {
  const { header, slotCount } = memory;
  // A read-modify-write: no read of the frame's bytes may sink below it.
  const reserved = Atomics.add(header, headerWord.reserved, 0);
  // By age as well, since positions come round after 4 GB.
  const ageFrames = (Atomics.load(header, headerWord.head) - sequence) >>> 0;
  return ageFrames <= slotCount && memory.holds(position, reserved);
};

/**
 * Frames of one ring that are left where they lie and copied later, all at once. Bytes are overwritten in the order
 * in which they came, so what is asked of the oldest frame goes for all.
 */
export class HeldFrames {
  lengthBytes = 0;
  readonly #memory: RingMemory;
  readonly #sequence: number;
  readonly #position: number;
  /** Where stretches of them begin and end, in turns: frames that follow each other lie side by side. */
  readonly #borders: number[] = [];

  /** The oldest frame's place in the ring. */
  constructor(memory: RingMemory, sequence: number, position: number) {
    this.#memory = memory;
    this.#sequence = sequence;
    this.#position = position;
  }

  /** Adds the bytes of a frame that came after those before it. */
  add(offset: number, lengthBytes: number): void {
    const borders = this.#borders;
    if (borders.at(-1) === offset) borders.pop();
    else borders.push(offset);
    borders.push(offset + lengthBytes);
    this.lengthBytes += lengthBytes;
  }

  /**
   * Copies bytes [start, end) of all frames, one after another, to `target`. They are the frames' if `isIntact` says
   * so afterwards.
   */
  copyTo(target: Buffer, targetStart: number, start = 0, end = this.lengthBytes): void {
    const { data } = this.#memory;
    const borders = this.#borders;
    let at = 0;
    for (let index = 0; index < borders.length && at < end; index += 2) {
      const offset = borders[index]!;
      const lengthBytes = borders[index + 1]! - offset;
      const from = Math.max(start - at, 0);
      const to = Math.min(end - at, lengthBytes);
      if (from < to) copyBytes(data, offset + from, offset + to, target, targetStart + at + from - start);
      at += lengthBytes;
    }
  }

  /** Ask after copying: true means that what was copied was the frames. */
  isIntact(): boolean {
    return isUntouched(this.#memory, this.#sequence, this.#position);
  }
}
