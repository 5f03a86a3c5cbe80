import { AppError } from './base/errors.js';
import type { PictureFiles } from './events/kept/picture-files.js';
import type { EventPictures } from './http/routes/kept-events.js';
import type { Pictures } from './pictures/pictures.js';

/** What was recorded longer before an event began shows nothing of it. */
const MAX_AGE_MS = 60_000;
const WIDTH = 480;
const nothing: ReadonlySet<string> = new Set(['not_found', 'recording_unreadable']);

/** Pictures of events: their own, or out of the recordings. */
export const eventPictures = (
  pictures: Pick<Pictures, 'archived'>,
  files: Pick<PictureFiles, 'find'>,
): EventPictures => ({
  of: async ({ id, cameraId, fromMs }, signal) => {
    const own = await files.find(id);
    if (own !== null || cameraId === '') return own;
    try {
      const picture = await pictures.archived(cameraId, fromMs, WIDTH, signal);
      return fromMs - picture.takenMs > MAX_AGE_MS ? null : picture;
    } catch (fault) {
      const isNothing = fault instanceof AppError && nothing.has(fault.code);
      if (isNothing) return null;
      throw fault;
    }
  },
});
