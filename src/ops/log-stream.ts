import type { Writable } from 'node:stream';
import type { Clock } from '../base/clock.js';
import type { LogEntry, LogFilter, LogHub } from './log-hub.js';

/** Keeps proxies from closing a quiet connection. */
const COMMENT_PERIOD_MS = 15_000;
const MAX_WAITING = 500;
const MAX_WAITING_BYTES = 262_144;
/** Comment periods after which a client that takes nothing is cut off. */
const MAX_STALLED_PERIODS = 4;

/** A record as a server-sent event: JSON holds no line break, so the data is one line. */
export const encodeLogEvent = (jsonLine: string): string => `event: log\ndata: ${jsonLine}\n\n`;

/**
 * Sends the log to one client as server-sent events: the latest records, then each new one. A client that takes
 * them too slowly loses those that find no room, and is told how many; nothing else ever waits for it.
 */
export class LogStream {
  readonly #sink: Writable;
  readonly #clock: Clock;
  readonly #waiting: string[] = [];
  #waitingBytes = 0;
  #lost = 0;
  #isBlocked = false;
  #stalledPeriods = 0;
  readonly #endings: (() => void)[] = [];

  /** Begins at once, and ends by itself when the sink closes. The sink's headers have been sent by the caller. */
  constructor(filter: LogFilter, deps: { hub: LogHub; sink: Writable; clock: Clock }) {
    this.#sink = deps.sink;
    this.#clock = deps.clock;
    const recent = deps.hub.recent(filter).map(({ line }) => encodeLogEvent(line));
    // The first comment makes the headers leave at once, even if there is no record yet.
    this.#write(`: log\n\n${recent.join('')}`);
    const onDrain = (): void => this.#drain();
    const onClose = (): void => this.#end();
    deps.sink.on('drain', onDrain).on('close', onClose);
    const comments = deps.clock.every(COMMENT_PERIOD_MS, () => this.#comment());
    this.#endings.push(
      deps.hub.listen(filter, (entry) => this.#take(entry)),
      () => comments.cancel(),
      () => deps.sink.off('drain', onDrain).off('close', onClose),
    );
  }

  /** Ends the stream in order. */
  close(): void {
    this.#end();
    this.#sink.end();
  }

  #end(): void {
    for (const ending of this.#endings.splice(0)) ending();
    this.#waiting.length = 0;
  }

  #take({ line }: LogEntry): void {
    const event = encodeLogEvent(line);
    if (!this.#isBlocked) {
      this.#write(event);
      return;
    }
    // Once one is lost all are, until the client has caught up: the count then stands where they are missing.
    const hasRoom =
      this.#waiting.length < MAX_WAITING && this.#waitingBytes + event.length <= MAX_WAITING_BYTES;
    if (this.#lost > 0 || !hasRoom) {
      this.#lost++;
      return;
    }
    this.#waiting.push(event);
    this.#waitingBytes += event.length;
  }

  #drain(): void {
    this.#isBlocked = false;
    this.#stalledPeriods = 0;
    const events = this.#waiting.splice(0).join('') + this.#lossEvent();
    this.#waitingBytes = 0;
    if (events !== '') this.#write(events);
  }

  #lossEvent(): string {
    if (this.#lost === 0) return '';
    const record = {
      level: 'warn',
      time: new Date(this.#clock.wallMs()).toISOString(),
      lost: this.#lost,
      msg: 'log records were left out: this client takes them too slowly',
    };
    this.#lost = 0;
    return encodeLogEvent(JSON.stringify(record));
  }

  #comment(): void {
    if (!this.#isBlocked) this.#write(': still here\n\n');
    else if (++this.#stalledPeriods >= MAX_STALLED_PERIODS) this.#sink.destroy();
  }

  #write(text: string): void {
    this.#isBlocked = !this.#sink.write(text);
  }
}
