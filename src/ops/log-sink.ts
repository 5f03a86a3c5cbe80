/** Where the lines go, each with its line break. */
export interface LogSink {
  write(line: string): unknown;
  /** Writes what waits, at once: before the process exits. */
  flushSync(): void;
}
