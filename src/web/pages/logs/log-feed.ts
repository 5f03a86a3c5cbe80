import { signal } from '@preact/signals';
import { followStream } from '../../data/event-stream.js';
import { call } from '../../data/session.js';
import { logsText } from '../../text/logs.js';

export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
export type LogRecord = {
  /** Of this page's own counting. */
  readonly key: number;
  readonly timeMs: number;
  readonly level: Level;
  readonly camera: string;
  readonly message: string;
  /** The other fields, as they are shown and searched. */
  readonly rest: string;
};

/** What a page keeps: a log at its most talkative fills no memory. */
export const MAX_RECORDS = 1_000;
const MAX_REST_CHARACTERS = 4_000;
/** Records that come together are drawn together. */
const SHOWN_EVERY_MS = 250;
/** What the service repeats when it is asked anew. */
const REPEATED = 100;
/** Who only passes through other tabs misses nothing. */
const UNSEEN_AFTER_MS = 2_000;

const levels: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export const readRecord = (line: string, key: number): LogRecord | null => {
  try {
    const { time, level, msg, camera_id: camera, ...rest } = JSON.parse(line) as Record<string, unknown>;
    return {
      key,
      timeMs: Date.parse(String(time)),
      level: levels.includes(String(level)) ? (level as Level) : 'info',
      camera: typeof camera === 'string' ? camera : '',
      message: shown(msg ?? ''),
      rest: Object.entries(rest)
        .map(([name, value]) => `${name}=${shown(value)}`)
        .join('  ')
        .slice(0, MAX_REST_CHARACTERS),
    };
  } catch {
    return null;
  }
};

/**
 * The log of one filter, as it is written, for as long as somebody sees the page: browsers open six connections to a
 * host, and hidden tabs that held one each would leave none to the pages that are seen. What was written meanwhile is
 * read when it is seen again; where that is more than the service repeats, a record says so.
 */
export class LogFeed {
  readonly records = signal<readonly LogRecord[]>([]);
  /** Came while it was paused. */
  readonly held = signal(0);
  readonly isOpen = signal(false);
  readonly isPaused = signal(false);
  /** Whether older ones were let go. */
  readonly isCut = signal(false);
  readonly #path: string;
  #stream: AbortController | null = null;
  /** What comes next is what the service repeats. */
  #isFirst = true;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  readonly #lately: string[] = [];
  #waiting: LogRecord[] = [];
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(path: string) {
    this.#path = path;
    document.addEventListener('visibilitychange', this.#onVisibility);
    if (!document.hidden) this.#begin();
  }

  pause(isPaused: boolean): void {
    this.isPaused.value = isPaused;
    if (!isPaused) this.#show();
  }

  clear(): void {
    this.records.value = [];
    this.#waiting = [];
    this.held.value = 0;
    this.isCut.value = false;
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    clearTimeout(this.#hiding);
    clearTimeout(this.#timer);
    this.#end();
  }

  readonly #onVisibility = (): void => {
    clearTimeout(this.#hiding);
    if (document.hidden) this.#hiding = setTimeout(() => this.#end(), UNSEEN_AFTER_MS);
    else if (this.#stream === null) this.#begin();
  };

  #begin(): void {
    const stream = new AbortController();
    this.#stream = stream;
    void followStream(
      () => call('GET', this.#path, { signal: stream.signal }),
      (_type, data) => {
        if (this.#stream === stream) this.#take(data);
      },
      stream.signal,
      (isOpen) => {
        if (this.#stream !== stream) return;
        this.isOpen.value = isOpen;
        this.#isFirst = true;
      },
    );
  }

  #end(): void {
    this.#stream?.abort();
    this.#stream = null;
  }

  #take(line: string): void {
    if (line === '') return;
    const isKnown = this.#lately.includes(line);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isKnown) return;
    this.#count += 1;
    const record = readRecord(line, this.#count);
    if (record === null) return;
    // What is repeated begins with what was read before, unless there was more in between.
    if (isFirst && this.#lately.length > 0) this.#waiting.push(this.#missed(record));
    this.#lately.push(line);
    if (this.#lately.length > REPEATED) this.#lately.shift();
    this.#waiting.push(record);
    if (this.#waiting.length > 2 * MAX_RECORDS) this.#waiting = this.#waiting.slice(-MAX_RECORDS);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.isPaused.peek()) this.held.value = Math.min(this.#waiting.length, MAX_RECORDS);
      else this.#show();
    }, SHOWN_EVERY_MS);
  }

  #missed({ timeMs }: LogRecord): LogRecord {
    this.#count += 1;
    return { key: this.#count, timeMs, level: 'warn', camera: '', message: logsText('missed'), rest: '' };
  }

  #show(): void {
    const all = [...this.records.peek(), ...this.#waiting];
    this.#waiting = [];
    this.held.value = 0;
    if (all.length > MAX_RECORDS) this.isCut.value = true;
    this.records.value = all.slice(-MAX_RECORDS);
  }
}
