/** NAL units behind start codes, as a decoder takes them from a file. */
export const joinAnnexB = (nals: readonly Uint8Array[]): Buffer =>
  Buffer.concat(nals.flatMap((nal) => [Buffer.of(0, 0, 0, 1), nal]));
