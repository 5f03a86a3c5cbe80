import { askStore, MAX_ANSWER_BYTES } from './mailbox.js';

/** Where a recording, or what was seen in it, is in the store. */
export type StoredPlace = {
  readonly object: string;
  /** By which the thread that has the network is asked. */
  readonly mailbox: SharedArrayBuffer;
  /** The disk has it no more. */
  readonly isAlone: boolean;
};

/** Bytes of an object, read as those of a file are, while the thread waits. */
export class StoredBytes {
  readonly #place: StoredPlace;
  readonly #objectBytes: number;

  constructor(place: StoredPlace, objectBytes: number) {
    this.#place = place;
    this.#objectBytes = objectBytes;
  }

  /** Reads up to `target.length` bytes from `offset`; fewer mean that the object ends there. */
  readUpTo(target: Buffer, offset: number): Buffer {
    const { object, mailbox } = this.#place;
    const endByte = Math.min(offset + target.length, this.#objectBytes);
    for (let startByte = offset; startByte < endByte; startByte += MAX_ANSWER_BYTES) {
      const piece = target.subarray(
        startByte - offset,
        Math.min(startByte + MAX_ANSWER_BYTES, endByte) - offset,
      );
      const range = { startByte, endByte: startByte + piece.length };
      askStore(mailbox, { object, objectBytes: this.#objectBytes, ...range }, piece);
    }
    return target.subarray(0, Math.max(endByte - offset, 0));
  }
}
