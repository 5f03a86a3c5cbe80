/** Where the NAL units lie between the start codes of an Annex B byte stream; looked at, never copied. */
export const nalUnits = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] => {
  const units: Uint8Array<ArrayBuffer>[] = [];
  let start = -1;
  let at = 0;
  while (at + 2 < bytes.length) {
    if (bytes[at + 2]! > 1) at += 3;
    else if (bytes[at] === 0 && bytes[at + 1] === 0 && bytes[at + 2] === 1) {
      if (start >= 0) units.push(bytes.subarray(start, endOf(bytes, start, at)));
      start = at + 3;
      at += 3;
    } else at += 1;
  }
  if (start >= 0) units.push(bytes.subarray(start, bytes.length));
  return units.filter(({ length }) => length > 0);
};

/** Zeros before a start code are no part of the unit. */
const endOf = (bytes: Uint8Array, start: number, startCodeAt: number): number => {
  let end = startCodeAt;
  while (end > start && bytes[end - 1] === 0) end -= 1;
  return end;
};

/** The same units, each with its length before it instead of a start code, as MP4 has them. */
export const withLengths = (units: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(units.reduce((total, { length }) => total + 4 + length, 0));
  const view = new DataView(whole.buffer);
  let at = 0;
  for (const unit of units) {
    view.setUint32(at, unit.length);
    whole.set(unit, at + 4);
    at += 4 + unit.length;
  }
  return whole;
};
