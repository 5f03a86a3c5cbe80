import { AppError } from '../base/errors.js';

/** Why a device couldn't be asked, or didn't do it. */
export type OnvifErrorCode =
  /** What was typed is no address of a device. */
  | 'bad_address'
  /** Too many are being asked already. */
  | 'onvif_busy'
  | 'camera_unreachable'
  | 'camera_timeout'
  | 'camera_certificate'
  /** Whatever answers there, it doesn't speak ONVIF. */
  | 'not_onvif'
  /** Name and password are missing or refused. */
  | 'camera_unauthorized'
  /** It answered with a fault. */
  | 'camera_refused'
  /** It says that it tells no events. */
  | 'no_events'
  /** It answered what can't be read, or more than is read. */
  | 'camera_bad_answer'
  /** It can't be moved, or nobody told where it is asked. */
  | 'no_ptz'
  | 'no_media_service'
  | 'no_stream';

/** The HTTP status of each code, where a request ends with it: what the camera did wrong is a bad gateway's. */
export const onvifErrorStatus: Readonly<Record<OnvifErrorCode, number>> = {
  bad_address: 400,
  onvif_busy: 429,
  camera_unreachable: 502,
  camera_timeout: 502,
  camera_certificate: 502,
  not_onvif: 502,
  camera_unauthorized: 502,
  camera_refused: 502,
  no_events: 502,
  camera_bad_answer: 502,
  no_ptz: 409,
  no_media_service: 502,
  no_stream: 502,
};

/** `message` is a sentence for the operator, and says what to do; never a secret. */
export const onvifError = (
  code: OnvifErrorCode,
  message: string,
  options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
): AppError<OnvifErrorCode> => new AppError(code, message, options);

/** Whether it is something that the operator is to be told. */
export const isOnvifError = (thrown: unknown): thrown is AppError<OnvifErrorCode> =>
  thrown instanceof AppError && Object.hasOwn(onvifErrorStatus, thrown.code);
