/**
 * Bits of a frame's flags. Without `audio` it is video. Sound that files can't hold as it is sent is there twice: as it
 * is sent (`sentOnly`), and as it is kept (`keptOnly`).
 */
export const frameFlag = {
  key: 1,
  discontinuity: 2,
  audio: 4,
  damaged: 8,
  sentOnly: 16,
  keptOnly: 32,
} as const;
