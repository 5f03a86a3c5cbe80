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
 * Watches over views that an asynchronous write still reads from. Bytes are overwritten in the order in which
 * they came, so the guard of the oldest frame speaks for all later ones of the same ring.
 */
export class ViewGuard {
  readonly #memory: RingMemory;
  readonly #sequence: number;
  readonly #position: number;

  constructor(memory: RingMemory, sequence: number, position: number) {
    this.#memory = memory;
    this.#sequence = sequence;
    this.#position = position;
  }

  /** Ask after the write has completed: true means that what was read was the frame. */
  isIntact(): boolean {
    return isUntouched(this.#memory, this.#sequence, this.#position);
  }
}
