import { type Signal, signal } from '@preact/signals';
import { seenPicture } from '../../../data/camera-tests.js';
import { PictureDecoder } from '../../../player/picture-decoder.js';

const WIDTH_PX = 320;
const MAX_KEPT = 200;
const DECODE_MS = 4_000;

const pictures = new Map<string, Signal<ImageBitmap | null>>();
let last: Promise<void> = Promise.resolve();

const decodeFirst = async (testId: string): Promise<ImageBitmap | null> => {
  const seen = await seenPicture(testId);
  if (seen === null) return null;
  return await new Promise((resolve) => {
    const finish = (picture: ImageBitmap | null): void => {
      clearTimeout(timer);
      decoder.close();
      resolve(picture);
    };
    const timer = setTimeout(() => finish(null), DECODE_MS);
    const decoder = new PictureDecoder(seen.config, {
      acceleration: 'prefer-software',
      onPicture: ({ frame }) => {
        const resizeWidth = Math.min(WIDTH_PX, frame.displayWidth);
        createImageBitmap(frame, { resizeWidth })
          .then(finish, () => finish(null))
          .finally(() => frame.close());
      },
      onFault: () => finish(null),
    });
    decoder.decode(seen.frame);
    void decoder.flush();
  });
};

/**
 * What a test saw: the service shows it once, so that it is kept here as long as the page is. One after another: fifty
 * decoders at once would be none. null: not yet, or there is none, or this page may not decode (plain http).
 */
export const pictureOf = (testId: string): Signal<ImageBitmap | null> => {
  const known = pictures.get(testId);
  if (known !== undefined) return known;
  const made = signal<ImageBitmap | null>(null);
  pictures.set(testId, made);
  const [oldest] = pictures.keys();
  if (pictures.size > MAX_KEPT && oldest !== undefined) pictures.delete(oldest);
  if ('VideoDecoder' in window)
    last = last.then(async () => {
      made.value = await decodeFirst(testId).catch(() => null);
    });
  return made;
};
