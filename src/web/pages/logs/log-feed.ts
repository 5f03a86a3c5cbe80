import { signal } from '@preact/signals';
import { followStream } from '../../data/event-stream.js';
import { call } from '../../data/session.js';

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

/** The log of one filter, as it is written. */
export class LogFeed {
  readonly records = signal<readonly LogRecord[]>([]);
  /** Came while it was paused. */
  readonly held = signal(0);
  readonly isOpen = signal(false);
  readonly isPaused = signal(false);
  /** Whether older ones were let go. */
  readonly isCut = signal(false);
  readonly #abort = new AbortController();
  readonly #lately: string[] = [];
  #waiting: LogRecord[] = [];
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(path: string) {
    const { signal: ended } = this.#abort;
    void followStream(
      () => call('GET', path, { signal: ended }),
      (_type, data) => this.#take(data),
      ended,
      (isOpen) => {
        this.isOpen.value = isOpen;
      },
    );
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
    this.#abort.abort();
    clearTimeout(this.#timer);
  }

  #take(line: string): void {
    if (line === '' || this.#lately.includes(line)) return;
    this.#lately.push(line);
    if (this.#lately.length > REPEATED) this.#lately.shift();
    this.#count += 1;
    const record = readRecord(line, this.#count);
    if (record === null) return;
    this.#waiting.push(record);
    if (this.#waiting.length > 2 * MAX_RECORDS) this.#waiting = this.#waiting.slice(-MAX_RECORDS);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.isPaused.peek()) this.held.value = Math.min(this.#waiting.length, MAX_RECORDS);
      else this.#show();
    }, SHOWN_EVERY_MS);
  }

  #show(): void {
    const all = [...this.records.peek(), ...this.#waiting];
    this.#waiting = [];
    this.held.value = 0;
    if (all.length > MAX_RECORDS) this.isCut.value = true;
    this.records.value = all.slice(-MAX_RECORDS);
  }
}
