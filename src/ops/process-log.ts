import { type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import type { LogFields, Logger } from '../base/log.js';
import type { LogHub } from './log-hub.js';
import type { LogSink } from './log-sink.js';
import { redactLine } from './redact.js';
import { StandardOutput } from './standard-output.js';

export type ProcessLog = {
  readonly log: Logger;
  /** Its records are marked, and written whatever the level is. */
  readonly audit: Logger;
  /** Call before the process exits. */
  flush(): void;
};

const wrap = (logger: PinoLogger): Logger => ({
  debug: (message, fields) => logger.debug(fields ?? {}, message),
  info: (message, fields) => logger.info(fields ?? {}, message),
  warn: (message, fields) => logger.warn(fields ?? {}, message),
  error: (message, fields) => logger.error(fields ?? {}, message),
  child: (fields: LogFields) => wrap(logger.child(fields)),
});

/**
 * The log of the process: each record becomes one line of JSON, loses the credentials that slipped into it, and
 * goes to standard output and to the hub. `level` is a pino level or "silent".
 */
export const createProcessLog = (
  options: { readonly level: string },
  deps: { readonly hub: LogHub; readonly sink?: LogSink },
): ProcessLog => {
  const sink = deps.sink ?? new StandardOutput();
  const write = (line: string): void => {
    const clean = redactLine(line.trimEnd());
    sink.write(`${clean}\n`);
    deps.hub.push(clean);
  };
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
  const audit = wrap(logger.child({ audit: true }, { level: 'info' }));
  return { log: wrap(logger), audit, flush: () => sink.flushSync() };
};
