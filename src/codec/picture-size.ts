/** A picture side over this is a parse error, not a camera. */
const MAX_SIDE = 16_384;

/** The picture's size, after cropping where the cropping makes sense, or null where it can't be true. */
export const pictureSize = (
  codedWidth: number,
  codedHeight: number,
  cropX: number,
  cropY: number,
): { width: number; height: number } | null => {
  const fits = (side: number): boolean => side >= 1 && side <= MAX_SIDE;
  if (!fits(codedWidth) || !fits(codedHeight)) return null;
  // A window as large as the picture can only be junk; the coded size is then the better guess.
  const isCropped = cropX < codedWidth && cropY < codedHeight;
  return isCropped
    ? { width: codedWidth - cropX, height: codedHeight - cropY }
    : { width: codedWidth, height: codedHeight };
};

/** Frames a second from a clock and its ticks a frame, or null where a camera filled in nonsense. */
export const saneFrameRate = (timeScale: number, ticksPerFrame: number): number | null => {
  if (timeScale === 0 || ticksPerFrame === 0) return null;
  const rateHz = timeScale / ticksPerFrame;
  return rateHz >= 0.05 && rateHz <= 480 ? rateHz : null;
};
