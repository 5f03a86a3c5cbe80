import { padToBlock } from '../../src/archive/write/block-file.js';
import { BLOCK_BYTES } from '../../src/archive/write/direct-disk.js';

/** Fragments as they lie in a recording. */
export type BlockLayout = {
  /** The file while it is being written: whole blocks. */
  readonly bytes: Buffer;
  /** Where each fragment begins and ends. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
};

/** Lays out a file's head and its fragments as the recorder does: each write fills its last block. */
export const inBlocks = (head: Buffer, fragments: readonly Buffer[], fragmentsAWrite = 1): BlockLayout => {
  const [writes, starts, ends]: [Buffer[], number[], number[]] = [[], [], []];
  let position = 0;
  let write = [head];
  const finish = (): void => {
    const stage = Buffer.concat([...write, Buffer.alloc(2 * BLOCK_BYTES)]);
    const lengthBytes = padToBlock(stage, stage.length - 2 * BLOCK_BYTES);
    writes.push(stage.subarray(0, lengthBytes));
    position = writes.reduce((sum, { length }) => sum + length, 0);
    write = [];
  };
  let filled = head.length;
  for (const [index, fragment] of fragments.entries()) {
    starts.push(position + filled);
    write.push(fragment);
    filled += fragment.length;
    ends.push(position + filled);
    if ((index + 1) % fragmentsAWrite !== 0 && index + 1 < fragments.length) continue;
    finish();
    filled = 0;
  }
  if (write.length > 0) finish();
  return { bytes: Buffer.concat(writes), starts, ends };
};
