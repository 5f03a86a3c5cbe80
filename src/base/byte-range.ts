/** Bytes of a file, both ends included. */
export type ByteRange = { readonly first: number; readonly last: number };

/**
 * Reads a Range header (RFC 9110, section 14.2) against a file that isn't empty. Null: send the whole file, since
 * there is no range, or one that we may ignore (several ranges, another unit, not well formed).
 */
export const parseByteRange = (
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | null => {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return null;
  if (match[1] === '') {
    const length = Math.min(Number(match[2]), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { first: sizeBytes - length, last: sizeBytes - 1 };
  }
  const first = Number(match[1]);
  const last = match[2] === '' ? sizeBytes - 1 : Number(match[2]);
  if (match[2] !== '' && last < first) return null;
  return first >= sizeBytes ? 'unsatisfiable' : { first, last: Math.min(last, sizeBytes - 1) };
};

/** Whether an If-Match header names the strong `etag`; a weak one is never the same (RFC 9110, section 13.1.1). */
export const isMatch = (header: string, etag: string): boolean => {
  if (header.trim() === '*') return true;
  const named: readonly string[] = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return named.includes(etag);
};

/** Whether an If-None-Match header names the strong `etag`; W/ in front of it makes no difference here. */
export const isNoneMatch = (header: string | undefined, etag: string): boolean => {
  if (header === undefined) return true;
  if (header.trim() === '*') return false;
  const named: readonly string[] = header.match(/"[^"]*"/g) ?? [];
  return !named.includes(etag);
};
