import { AppError } from '../../base/errors.js';
import { archiveError } from '../archive-error.js';
import { askStore, MAX_ANSWER_BYTES } from './mailbox.js';

/** Links between boxes may be thin: of one that gives a quarter of a megabit a second so much is here within the time for a question. */
const MAX_BOX_BYTES = 256 * 1024;

/** Where a recording, or what was seen in it, is, if that is no file here: in the store, or at another box. */
export type StoredPlace = {
  readonly object: string;
  /** By which the thread that has the network is asked. */
  readonly mailbox: SharedArrayBuffer;
  /** The disk has it no more. */
  readonly isAlone: boolean;
  /** The box that has it; nothing: a store does. */
  readonly ofBox?: string | undefined;
  /** Where a store has the same of that box: it is read there where the box can't give it. */
  readonly inStore?: Pick<StoredPlace, 'mailbox' | 'object'> | undefined;
};

/** That a box has a recording, and can't be asked for it. */
export const boxAway = (box: string): Error =>
  archiveError('box_unavailable', `the box ${box}, which has this recording, can not be reached now`, {
    box,
    retryAfterSec: 5,
  });

/** Bytes of an object, read as those of a file are, while the thread waits. */
export class StoredBytes {
  #place: StoredPlace;
  readonly #objectBytes: number;

  constructor(place: StoredPlace, objectBytes: number) {
    this.#place = place;
    this.#objectBytes = objectBytes;
  }

  /** Reads up to `target.length` bytes from `offset`; fewer mean that the object ends there. */
  readUpTo(target: Buffer, offset: number): Buffer {
    const endByte = Math.min(offset + target.length, this.#objectBytes);
    for (let startByte = offset; startByte < endByte; ) {
      const mostBytes = this.#place.ofBox === undefined ? MAX_ANSWER_BYTES : MAX_BOX_BYTES;
      const pieceEnd = Math.min(startByte + mostBytes, endByte);
      this.#readPiece(target.subarray(startByte - offset, pieceEnd - offset), startByte);
      startByte = pieceEnd;
    }
    return target.subarray(0, Math.max(endByte - offset, 0));
  }

  #readPiece(piece: Buffer, startByte: number): void {
    const { object, mailbox, ofBox, inStore } = this.#place;
    const question = {
      ...{ objectBytes: this.#objectBytes, startByte },
      endByte: startByte + piece.length,
    };
    const away = ofBox === undefined ? undefined : () => boxAway(ofBox);
    try {
      askStore(mailbox, { object, ...question }, piece, away);
    } catch (fault) {
      const isAway = fault instanceof AppError && fault.code === 'box_unavailable';
      if (!isAway || inStore === undefined) throw fault;
      askStore(inStore.mailbox, { object: inStore.object, ...question }, piece, away);
      // What follows isn't asked of the box once more.
      this.#place = { ...inStore, isAlone: true };
    }
  }
}
