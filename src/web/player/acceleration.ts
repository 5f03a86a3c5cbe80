/** Whether a decoder is one of the graphics chip. */
export type Acceleration = NonNullable<VideoDecoderConfig['hardwareAcceleration']>;

const LARGE_PIXELS = 1280 * 720;

/**
 * Large pictures are worth a decoder of the graphics chip, of which there are few, and which fail without a word when
 * there are too many; small ones are decoded as fast without.
 */
export const accelerationFor = (
  width: number,
  height: number,
  { isSoftwareOnly, freeHardware }: { readonly isSoftwareOnly: boolean; readonly freeHardware: number },
): Acceleration =>
  !isSoftwareOnly && width * height > LARGE_PIXELS && freeHardware > 0 ? 'no-preference' : 'prefer-software';
