/** Bits of a frame's flags. Without `audio` it is video. */
export const frameFlag = { key: 1, discontinuity: 2, audio: 4, damaged: 8 } as const;
