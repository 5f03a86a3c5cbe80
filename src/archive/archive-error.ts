import { AppError } from '../base/errors.js';

/** What the archive refuses, or can't do. */
export type ArchiveErrorCode = 'bad_file_name' | 'not_found' | 'archive_busy' | 'archive_unavailable';

/** The HTTP status of each code that the archive's own work ends with. */
export const archiveErrorStatus: Readonly<Record<Exclude<ArchiveErrorCode, 'not_found'>, number>> = {
  bad_file_name: 400,
  archive_busy: 503,
  archive_unavailable: 503,
};

/** An error that a client may see. */
export const archiveError = (
  code: ArchiveErrorCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError<ArchiveErrorCode> => new AppError(code, message, { details });
