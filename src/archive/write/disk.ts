import {
  access,
  type BigIntStats,
  close,
  fdatasync,
  fsync,
  ftruncate,
  lstat,
  mkdir,
  open,
  rename,
  stat,
  unlink,
  write,
} from 'node:fs';
import { promisify } from 'node:util';

/** Writes `lengthBytes` from the start of `bytes`; resolves with how many of them the disk took. */
const writeAt = (descriptor: number, bytes: Buffer, lengthBytes: number, position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, lengthBytes, position, (fault, writtenBytes) => {
      if (fault === null) resolve(writtenBytes);
      else reject(fault);
    });
  });

/** Device and inode alone say what a path leads to; beyond 2^53 only a bigint is exact. */
const identityOf = (path: string): Promise<BigIntStats> => promisify(stat)(path, { bigint: true });

/** The operations of a recorder, on plain descriptors: a FileHandle would cost an object and a promise more each. */
export const disk = {
  access: promisify(access),
  close: promisify(close),
  fdatasync: promisify(fdatasync),
  fsync: promisify(fsync),
  ftruncate: promisify(ftruncate),
  identityOf,
  lstat: promisify(lstat),
  mkdir: promisify(mkdir),
  open: promisify(open),
  rename: promisify(rename),
  unlink: promisify(unlink),
  writeAt,
} as const;
