const PREFIX_BYTES = 4;
const START_CODE = 1;

/**
 * Makes Annex B of NAL units behind 4-byte lengths, in place: a long start code is as long as a length (H.264
 * §B.1.1). False: the lengths don't add up.
 */
export const toAnnexB = (bytes: Buffer, start: number, end: number): boolean => {
  let at = start;
  while (at + PREFIX_BYTES <= end) {
    const nalBytes = bytes.readUInt32BE(at);
    bytes.writeUInt32BE(START_CODE, at);
    at += PREFIX_BYTES + nalBytes;
  }
  return at === end;
};

/** Size of NAL units in Annex B. */
export const annexBBytes = (nals: readonly Uint8Array[]): number =>
  nals.reduce((sum, nal) => sum + PREFIX_BYTES + nal.length, 0);

/** Writes NAL units as Annex B; returns where they end. */
export const writeAnnexB = (target: Buffer, start: number, nals: readonly Uint8Array[]): number => {
  let at = start;
  for (const nal of nals) {
    at = target.writeUInt32BE(START_CODE, at);
    target.set(nal, at);
    at += nal.length;
  }
  return at;
};
