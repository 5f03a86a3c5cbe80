import { archiveError } from '../archive-error.js';
import { askStore, MAX_ANSWER_BYTES } from './mailbox.js';

/** Where a recording, or what was seen in it, is, if that is no file here: in the store, or at another box. */
export type StoredPlace = {
  readonly object: string;
  /** By which the thread that has the network is asked. */
  readonly mailbox: SharedArrayBuffer;
  /** The disk has it no more. */
  readonly isAlone: boolean;
  /** The box that has it; nothing: a store does. */
  readonly ofBox?: string | undefined;
};

/** That a box has a recording, and can't be asked for it. */
export const boxAway = (box: string): Error =>
  archiveError('box_unavailable', `the box ${box}, which has this recording, can not be reached now`, {
    box,
    retryAfterSec: 5,
  });

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
    const { object, mailbox, ofBox } = this.#place;
    const away = ofBox === undefined ? undefined : () => boxAway(ofBox);
    const endByte = Math.min(offset + target.length, this.#objectBytes);
    for (let startByte = offset; startByte < endByte; startByte += MAX_ANSWER_BYTES) {
      const piece = target.subarray(
        startByte - offset,
        Math.min(startByte + MAX_ANSWER_BYTES, endByte) - offset,
      );
      const range = { startByte, endByte: startByte + piece.length };
      askStore(mailbox, { object, objectBytes: this.#objectBytes, ...range }, piece, away);
    }
    return target.subarray(0, Math.max(endByte - offset, 0));
  }
}
