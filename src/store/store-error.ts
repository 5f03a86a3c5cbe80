import { AppError } from '../base/errors.js';
import { Database } from '../base/sqlite.js';

/** What can go wrong here. The `database_*` codes at the start need a person; `database_unavailable` may pass. */
export type StoreErrorCode =
  | 'exists'
  | 'not_found'
  | 'last_admin'
  | 'too_many_layouts'
  | 'too_many_webhooks'
  | 'too_many_keys'
  | 'unknown_parent'
  | 'folder_cycle'
  | 'bad_snapshot'
  | 'data_locked'
  | 'database_foreign'
  | 'database_newer'
  | 'database_damaged'
  | 'database_unavailable';

/** An AppError whose code is one of ours. */
export const storeError = (
  code: StoreErrorCode,
  message: string,
  options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
): AppError<StoreErrorCode> => new AppError(code, message, options);

/** Faults of the disk or of another program, not of the statement. */
const environmental =
  /^SQLITE_(FULL|IOERR|READONLY|BUSY|LOCKED|CANTOPEN|CORRUPT|NOTADB|PERM|NOLFS|NOMEM)(_|$)/;

/** Whether SQLite itself failed for want of a working disk, file or lock. */
export const isEnvironmental = (thrown: unknown): thrown is InstanceType<typeof Database.SqliteError> =>
  thrown instanceof Database.SqliteError && environmental.test(thrown.code);

/** Whether the file itself is of no use any more. */
export const isBrokenFile = (thrown: unknown): boolean =>
  thrown instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(thrown.code);
