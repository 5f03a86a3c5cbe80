import { AppError } from '../base/errors.js';

/** Why there is no picture. */
export type PictureErrorCode =
  | 'not_found'
  | 'no_picture'
  /** ffmpeg isn't where it is looked for. */
  | 'ffmpeg_missing'
  /** ffmpeg made no picture of what the camera sent. */
  | 'picture_undecodable'
  /** Others wait already, or the machine has no room for another process. */
  | 'pictures_busy';

/** The HTTP status of each code that this folder's own work ends with. */
export const pictureErrorStatus: Readonly<
  Record<Exclude<PictureErrorCode, 'not_found' | 'no_picture'>, number>
> = {
  ffmpeg_missing: 501,
  picture_undecodable: 502,
  pictures_busy: 503,
};

/** An error that a client may see. */
export const pictureError = (
  code: PictureErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError<PictureErrorCode> => new AppError(code, message, { details });

/** Said where it would take too long until it is somebody's turn. */
export const picturesBusy = (): AppError<PictureErrorCode> =>
  pictureError('pictures_busy', 'too many pictures are wanted at once; try again', { retryAfterSec: 2 });
