/** One record as it was written; null: it is gone. */
export type LogRecord = { readonly key: string; readonly text: string | null };

/** As it was read. Without a change it is none of the cluster's: it can't be opened. */
export type LogEntry = LogRecord & { readonly sequence: number; readonly changeId: string | null };
