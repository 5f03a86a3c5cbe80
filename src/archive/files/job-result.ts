/** What a job returns where memory goes along with the value instead of being copied to the main thread. */
export class Moved<Value> {
  readonly value: Value;
  readonly memory: readonly ArrayBuffer[];

  constructor(value: Value, memory: readonly ArrayBuffer[]) {
    this.value = value;
    this.memory = memory;
  }
}

/** How a job ended, as it crosses to the main thread: an error's own fields would not. */
export type JobOutcome =
  | { readonly isDone: true; readonly value: unknown }
  | {
      readonly isDone: false;
      /** Of an AppError, or of the system call that failed; '' where there was none. */
      readonly code: string;
      readonly isOurs: boolean;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    };
