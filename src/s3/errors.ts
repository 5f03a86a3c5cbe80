import { AppError } from '../base/errors.js';

/** What a store refuses, or can't do. */
export type S3ErrorCode =
  /** It can't be reached, or has trouble of its own: the same may go well later. */
  | 's3_unavailable'
  /** It doesn't let us: key, bucket, rights. */
  | 's3_refused'
  /** Its clock and ours are too far apart for a signature. */
  | 's3_clock'
  | 's3_not_found'
  /** There is an object of this name already. */
  | 's3_taken'
  /** What was sent arrived otherwise. */
  | 's3_damaged'
  /** What it answers makes no sense. */
  | 's3_bad_answer';

export const s3Error = (
  code: S3ErrorCode,
  message: string,
  options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
): AppError<S3ErrorCode> => new AppError(code, message, options);

/** Whether something went wrong for that reason. */
export const isS3Error = (fault: unknown, code: S3ErrorCode): boolean =>
  fault instanceof AppError && fault.code === code;
