/** An archive without recorders. */
export const nobodyWrites = { isLive: () => false, progressOf: () => null };
