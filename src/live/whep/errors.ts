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
  /** Others have all of `WEBRTC_UDP_PORTS`. */
  | 'no_free_port'
  /** The viewer's address has asked for many sessions, and connected none of them. */
  | 'too_many_waiting'
  | 'too_many_sessions'
  /** The thread that would serve it ended, or the service stops. */
  | 'whep_unavailable';

/** An AppError of this folder; it crosses threads as its code and message. */
export const whepError = (
  code: WhepErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError<WhepErrorCode> => new AppError(code, message, { details });

/** The HTTP status of each code; `no_picture` is one of all live outputs. */
export const whepErrorStatus: Readonly<Record<Exclude<WhepErrorCode, 'no_picture'>, number>> = {
  bad_offer: 400,
  codec_not_offered: 406,
  b_frames: 406,
  no_free_port: 503,
  too_many_waiting: 429,
  too_many_sessions: 503,
  whep_unavailable: 503,
};
