import { AppError } from '../base/errors.js';

/** What the archive refuses, or can't do. */
export type ArchiveErrorCode =
  | 'bad_file_name'
  | 'bad_seq'
  | 'bad_range'
  | 'range_too_large'
  | 'mixed_formats'
  | 'export_gone'
  | 'too_many_exports'
  | 'not_found'
  | 'recording_unreadable'
  | 'recording_changed'
  | 'recording_not_ready'
  | 'archive_busy'
  | 'archive_unavailable'
  | 'store_unavailable'
  | 'box_unavailable'
  | 'partly_deleted';

/** The HTTP status of each code that the archive's own work ends with. */
export const archiveErrorStatus: Readonly<Record<Exclude<ArchiveErrorCode, 'not_found'>, number>> = {
  bad_file_name: 400,
  bad_seq: 400,
  bad_range: 400,
  range_too_large: 400,
  mixed_formats: 400,
  export_gone: 410,
  too_many_exports: 429,
  // It is there, but there is nothing to play in it.
  recording_unreadable: 404,
  recording_changed: 503,
  recording_not_ready: 503,
  archive_busy: 503,
  archive_unavailable: 503,
  // The disk has it no more, and the store that has it is away.
  store_unavailable: 503,
  // Another box has it, and is away.
  box_unavailable: 503,
  // Some was deleted: another box that is away has more.
  partly_deleted: 503,
};

/** Whether what was asked for isn't there (any more). */
export const isGone = (fault: unknown): boolean => fault instanceof AppError && fault.code === 'not_found';

/** An error that a client may see. */
export const archiveError = (
  code: ArchiveErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError<ArchiveErrorCode> => new AppError(code, message, { details });
