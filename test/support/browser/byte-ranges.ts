/** Bytes [start, end) that a Range header asks for; null: all of them (RFC 9110 §14.2). */
export const rangeOf = (
  header: string | undefined,
  lengthBytes: number,
): { readonly start: number; readonly end: number } | null => {
  const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? '');
  if (match === null) return null;
  const start = Number(match[1]);
  const end = match[2] === '' ? lengthBytes : Math.min(Number(match[2]) + 1, lengthBytes);
  return start < end ? { start, end } : null;
};
