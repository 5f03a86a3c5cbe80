/**
 * The one error type of the house. `code` is stable and machine-readable (each folder exports its union of
 * codes); `details` locate the fault (connection, stream, byte or packet position) and never hold a secret.
 */
export class AppError<Code extends string = string> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: Code,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Ends an exhaustive switch: a new member of the union makes the call a type error. */
export const assertNever = (value: never): never => {
  throw new Error(`unexpected value ${String(value)}`);
};

/** The message of anything that was thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);
