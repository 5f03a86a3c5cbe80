/** Levels by rank: a filter takes its level and those above. */
export const logLevelRanks = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;
export type RecordLevel = keyof typeof logLevelRanks;

/** What a reader of the log wants; null takes all. */
export type LogFilter = {
  readonly level: RecordLevel | null;
  readonly cameraId: string | null;
  /** Whether its reader sees what is about this camera, or about none. */
  readonly isSeen?: (cameraId: string | null) => boolean;
};

/** One record, as the JSON text that it is written as. */
export type LogEntry = { readonly line: string; readonly rank: number; readonly cameraId: string | null };

const MAX_RECORDS = 100;
const MAX_BYTES = 1_048_576;
const MAX_RECORD_BYTES = 65_536;

const matches = (entry: LogEntry, filter: LogFilter): boolean =>
  (filter.level === null || entry.rank >= logLevelRanks[filter.level]) &&
  (filter.cameraId === null || entry.cameraId === filter.cameraId) &&
  filter.isSeen?.(entry.cameraId) !== false;

const entryOf = (line: string): LogEntry => {
  const { level, camera_id: cameraId } = JSON.parse(line) as { level?: unknown; camera_id?: unknown };
  return {
    line,
    rank: logLevelRanks[level as RecordLevel] ?? logLevelRanks.info,
    cameraId: typeof cameraId === 'string' ? cameraId : null,
  };
};

/** A record that is too large to keep, as one that says so. */
const shortened = (line: string): string => {
  const { time, level, camera_id, msg } = JSON.parse(line) as Record<string, unknown>;
  const text = String(msg).slice(0, 1_000);
  return JSON.stringify({ time, level, camera_id, msg: text, shortened_from_bytes: line.length });
};

/** The latest log records, for those who come later, and everybody who listens for the next ones. */
export class LogHub {
  readonly #entries: LogEntry[] = [];
  #bytes = 0;
  readonly #listeners = new Map<(entry: LogEntry) => void, LogFilter>();

  /** Takes a record as one line of JSON without credentials. A listener must return at once and not throw. */
  push(jsonLine: string): void {
    const entry = entryOf(jsonLine.length > MAX_RECORD_BYTES ? shortened(jsonLine) : jsonLine);
    this.#entries.push(entry);
    this.#bytes += entry.line.length;
    while (this.#entries.length > MAX_RECORDS || this.#bytes > MAX_BYTES) {
      this.#bytes -= this.#entries.shift()!.line.length;
    }
    for (const [listener, filter] of this.#listeners) if (matches(entry, filter)) listener(entry);
  }

  /** Those of the last 100 records that pass the filter, oldest first. */
  recent(filter: LogFilter): readonly LogEntry[] {
    return this.#entries.filter((entry) => matches(entry, filter));
  }

  /** Calls back for each later record that passes; returns the function that ends that. */
  listen(filter: LogFilter, listener: (entry: LogEntry) => void): () => void {
    this.#listeners.set(listener, filter);
    return () => void this.#listeners.delete(listener);
  }
}
