import type { ConfigMessage, FrameMessage } from '../../player/messages.js';
import { PictureDecoder } from '../../player/picture-decoder.js';

/** Above this a decoder of the machine pays; there are few of them, and they fail when they are too many. */
const MAX_SOFTWARE_PIXELS = 1280 * 720;

export const accelerationFor = ({ width, height }: ConfigMessage): HardwareAcceleration =>
  width * height > MAX_SOFTWARE_PIXELS ? 'no-preference' : 'prefer-software';

export class DecodeFault extends Error {}

/** Frames given at once; the rest waits, so that an abort is heard. */
const AHEAD = 16;

/**
 * Decodes frames from a keyframe on, to the end of `frames`; `onPicture` gets each picture with its moment, and closes
 * it. Throws `DecodeFault` for what this browser can't decode.
 */
export const decodeFrames = async (
  config: ConfigMessage,
  frames: readonly FrameMessage[],
  onPicture: (frame: VideoFrame, wallUs: number) => void,
  signal: AbortSignal,
): Promise<void> => {
  let fault: string | null = null;
  const decoder = new PictureDecoder(config, {
    acceleration: accelerationFor(config),
    onPicture: ({ frame, wallUs }) => (signal.aborted ? frame.close() : onPicture(frame, wallUs)),
    onFault: ({ message }) => {
      fault = message;
    },
  });
  try {
    for (const frame of frames) {
      while (decoder.queued > AHEAD && decoder.isOpen && !signal.aborted)
        await new Promise((resolve) => setTimeout(resolve, 2));
      if (signal.aborted) return;
      decoder.decode(frame);
    }
    await decoder.flush();
    if (fault !== null && !signal.aborted) throw new DecodeFault(fault);
  } finally {
    decoder.close();
  }
};
