import type { ConfigMessage, FrameMessage, StreamMessage } from '../../player/messages.js';

/** Pictures of an answer; stream 2 is the sound. */
export const PICTURES = 1;
export const SOUND = 2;

/** A keyframe and all that needs it, as they are decoded. */
export type Gop = {
  readonly config: ConfigMessage;
  readonly frames: FrameMessage[];
};

const DEFAULT_INTERVAL_US = 66_667;

/** In the order in which they are seen. */
export const shownOrder = ({ frames }: Gop): FrameMessage[] =>
  [...frames].sort((a, b) => a.wallUs - b.wallUs);

export const startUs = ({ frames }: Gop): number => Math.min(...frames.map(({ wallUs }) => wallUs));

export const lastUs = ({ frames }: Gop): number => Math.max(...frames.map(({ wallUs }) => wallUs));

/** How long a picture of it is seen. */
export const intervalUs = (gop: Gop): number => {
  if (gop.frames.length > 1) return (lastUs(gop) - startUs(gop)) / (gop.frames.length - 1);
  const rateHz = gop.config.rateHz ?? 0;
  return rateHz > 0 ? 1e6 / rateHz : DEFAULT_INTERVAL_US;
};

export const bytesOf = ({ frames }: Gop): number => frames.reduce((sum, { data }) => sum + data.length, 0);

/** Which of the pictures, in the order in which they are seen, is seen at a moment; -1: it is before them all. */
export const shownAt = (order: readonly FrameMessage[], timeUs: number): number =>
  order.findLastIndex(({ wallUs }) => wallUs <= timeUs);

/** Puts frames of an answer together; a frame without a keyframe before it is of no use. */
export class GopCollector {
  readonly gops: Gop[] = [];
  #config: ConfigMessage | null = null;

  add(message: StreamMessage): void {
    if (message.kind === 'gap' || message.stream !== PICTURES) return;
    if (message.kind === 'config') this.#config = message;
    else if (message.isKey) {
      if (this.#config !== null) this.gops.push({ config: this.#config, frames: [message] });
    } else this.gops.at(-1)?.frames.push(message);
  }
}
