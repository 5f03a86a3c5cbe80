import { AppError } from '../../base/errors.js';

const CODE = /^[A-Za-z0-9._-]{1,64}$/;

const codeIn = (value: unknown): string => (typeof value === 'string' ? (CODE.exec(value)?.[0] ?? '') : '');

/** What went wrong in words that anybody may read: what a store says itself may name its bucket, or who asks, and a disk its paths. */
export const faultWords = (fault: unknown): string => {
  if (!(fault instanceof AppError)) {
    const code = codeIn((fault as { code?: unknown } | null)?.code);
    return code === '' ? 'it failed, and the log says why' : `the disk failed: ${code}`;
  }
  const { status, s3_code } = fault.details;
  if (typeof status !== 'number') return fault.message;
  const code = codeIn(s3_code);
  return `the store answered ${status}${code === '' ? '' : ` ${code}`}`;
};

/** A disk that is full says so of a write, which names no file: recordings are read alone. */
const WRITES: readonly unknown[] = ['write', 'fsync', 'fdatasync', 'ftruncate'];

/** Whether it is what is written of copies that failed, and not a recording. */
export const isOfNotes = (fault: unknown, copiesDir: string): boolean => {
  const { path, syscall } = (fault ?? {}) as { readonly path?: unknown; readonly syscall?: unknown };
  return typeof path === 'string' ? path.startsWith(copiesDir) : WRITES.includes(syscall);
};
