import { type FileWalk, PRFT_BYTES } from './file-walk.js';

/** Damage that would cost more than this in one place is left to a person to look at. */
export const MAX_HOLE_BYTES = 64 << 20;
const CHUNK_BYTES = 1 << 20;
/** The size and type of a prft that a recorder wrote. */
const PRFT_HEAD = Buffer.from('\0\0\0\x20prft', 'latin1');
const MOOF_TYPE_AT = PRFT_BYTES + 4;
const HEAD_BYTES = PRFT_BYTES + 8;

/** The next place in [startBytes, endBytes) where a prft and a moof lie one behind the other; -1: there is none. */
export const findHead = (walk: FileWalk, startBytes: number, endBytes: number): number => {
  for (let at = startBytes; at < endBytes; at += CHUNK_BYTES - HEAD_BYTES) {
    const chunk = walk.read(at, CHUNK_BYTES);
    for (let found = chunk.indexOf(PRFT_HEAD); found >= 0; found = chunk.indexOf(PRFT_HEAD, found + 1)) {
      const type = chunk.toString('latin1', found + MOOF_TYPE_AT, found + MOOF_TYPE_AT + 4);
      if (type === 'moof') return at + found;
    }
    if (chunk.length < CHUNK_BYTES) return -1;
  }
  return -1;
};
