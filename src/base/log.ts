/** Levels as pino spells them. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Extra fields of a record. Never a credential: URLs are redacted before they come here. */
export type LogFields = Readonly<Record<string, unknown>>;

/** What every part of the house logs through; the process or the worker entry decides where it goes. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each record. */
  child(fields: LogFields): Logger;
}

/** Builds a Logger on one function that takes finished records. */
export const createLogger = (
  write: (level: LogLevel, message: string, fields: LogFields) => void,
  bound: LogFields = {},
): Logger => ({
  debug: (message, fields) => write('debug', message, { ...bound, ...fields }),
  info: (message, fields) => write('info', message, { ...bound, ...fields }),
  warn: (message, fields) => write('warn', message, { ...bound, ...fields }),
  error: (message, fields) => write('error', message, { ...bound, ...fields }),
  child: (fields) => createLogger(write, { ...bound, ...fields }),
});
