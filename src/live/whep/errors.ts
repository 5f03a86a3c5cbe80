import { AppError } from '../../base/errors.js';

/** Why there is no WebRTC session for an offer. */
export type WhepErrorCode =
  /** What was sent is no offer that a session could be made of. */
  | 'bad_offer'
  /** The offer has no codec that the camera sends. */
  | 'codec_not_offered'
  /** The camera sends frames out of display order, which WebRTC can't carry. */
  | 'b_frames'
  | 'no_picture'
  | 'no_free_port'
  /** The thread that would serve it ended, or the service stops. */
  | 'whep_unavailable';

/** An AppError of this folder; it crosses threads as its code and message. */
export const whepError = (code: WhepErrorCode, message: string): AppError<WhepErrorCode> =>
  new AppError(code, message);

/** The HTTP status of each code; `no_picture` is one of all live outputs. */
export const whepErrorStatus: Readonly<Record<Exclude<WhepErrorCode, 'no_picture'>, number>> = {
  bad_offer: 400,
  codec_not_offered: 406,
  b_frames: 406,
  no_free_port: 503,
  whep_unavailable: 503,
};
