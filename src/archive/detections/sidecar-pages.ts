import { type ByteSource, readUpTo } from '../files/regular-file.js';
import { recordBytesAt } from './detection-record.js';

/**
 * A sidecar is pages, and no record crosses the border of two: so a moment is found by halving, and damage costs the
 * rest of its page alone.
 */
export const PAGE_BYTES = 16_384;
/** What this version reads and writes. */
const HEAD = Buffer.from('FrmDet\x00\x01', 'latin1');

/** Where the first record of a page is. */
const firstAt = (page: number): number => (page === 0 ? HEAD.length : 0);

export const pageCountOf = (fileBytes: number): number => Math.ceil(fileBytes / PAGE_BYTES);

/** Whether the file is one of these. */
export const isSidecar = (fd: ByteSource): boolean => readUpTo(fd, Buffer.alloc(HEAD.length), 0).equals(HEAD);

/** A page, as far as the file has it. */
export const readPage = (fd: ByteSource, page: number): Buffer =>
  readUpTo(fd, Buffer.allocUnsafe(PAGE_BYTES), page * PAGE_BYTES);

/** Calls back for each whole record of a page, up to the first that isn't; returns where that is in the page. */
export const eachRecord = (
  bytes: Buffer,
  page: number,
  visit: (at: number, lengthBytes: number) => void,
): number => {
  let at = firstAt(page);
  for (let length = recordBytesAt(bytes, at); length > 0; length = recordBytesAt(bytes, at)) {
    visit(at, length);
    at += length;
  }
  return Math.min(at, bytes.length);
};

/** How much of a file is whole records: of its last page, which alone can have a torn end. */
export const wholeBytesOf = (fd: number, fileBytes: number): number => {
  if (fileBytes < HEAD.length) return 0;
  const page = pageCountOf(fileBytes) - 1;
  return page * PAGE_BYTES + eachRecord(readPage(fd, page), page, () => {});
};

/** What is to be written behind `fileBytes`, for these records to stand there. */
export const pagesOf = (records: readonly Buffer[], fileBytes: number): Buffer => {
  const pieces: Buffer[] = [];
  let at = fileBytes;
  const put = (piece: Buffer): void => {
    pieces.push(piece);
    at += piece.length;
  };
  if (at === 0) put(HEAD);
  for (const record of records) {
    const leftBytes = PAGE_BYTES - (at % PAGE_BYTES);
    if (record.length > leftBytes) put(Buffer.alloc(leftBytes));
    put(record);
  }
  return Buffer.concat(pieces);
};
