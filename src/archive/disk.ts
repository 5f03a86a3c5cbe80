import { access, close, fdatasync, fsync, ftruncate, mkdir, open, rename, unlink, write } from 'node:fs';
import { promisify } from 'node:util';

/** The operations of a recorder, on plain descriptors: a FileHandle would cost an object and a promise more each. */
export const disk = {
  access: promisify(access),
  close: promisify(close),
  fdatasync: promisify(fdatasync),
  fsync: promisify(fsync),
  ftruncate: promisify(ftruncate),
  mkdir: promisify(mkdir),
  open: promisify(open),
  rename: promisify(rename),
  unlink: promisify(unlink),
  write: promisify(write),
} as const;
