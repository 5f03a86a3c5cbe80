import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

/**
 * Opens what is certainly a regular file, for reading unless `flags` say more. Symlinks are refused by the system;
 * O_NONBLOCK keeps a pipe that goes by a recording's name from holding the thread. Throws what the system says.
 */
export const openRegular = (
  path: string,
  flags: number = constants.O_RDONLY,
): { fd: number; stat: Stats } => {
  const fd = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, stat };
  closeSync(fd);
  throw Object.assign(new Error(`${path} is no regular file`), { code: 'EINVAL' });
};

/** What can be read: a file that is open, or what a store has of one. */
export type ByteSource = number | { readUpTo(target: Buffer, offset: number): Buffer };

/** Reads up to `target.length` bytes from `offset`; fewer mean that the file ends there. */
export const readUpTo = (fd: ByteSource, target: Buffer, offset: number): Buffer => {
  if (typeof fd !== 'number') return fd.readUpTo(target, offset);
  let length = 0;
  while (length < target.length) {
    const count = readSync(fd, target, length, target.length - length, offset + length);
    if (count === 0) break;
    length += count;
  }
  return target.subarray(0, length);
};
