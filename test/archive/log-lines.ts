import { createLogger, type LogFields, type Logger } from '../../src/base/log.js';

export type LogLine = { readonly level: string; readonly message: string; readonly fields: LogFields };

/** A log that a test can read. */
export const logLines = (): { readonly log: Logger; readonly lines: LogLine[] } => {
  const lines: LogLine[] = [];
  return {
    lines,
    log: createLogger((level, message, fields) => void lines.push({ level, message, fields })),
  };
};
