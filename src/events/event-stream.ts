import type { Writable } from 'node:stream';
import type { Clock } from '../base/clock.js';
import type { EventHub, HubEvent } from './event-hub.js';

/** Keeps proxies from closing a quiet connection. */
const COMMENT_PERIOD_MS = 15_000;
/** Comment periods after which a client that takes nothing is cut off. */
const MAX_STALLED_PERIODS = 4;
/** What is written at a time where much is to be caught up with. */
const STEP_CHARACTERS = 65_536;

export type EventStreamOptions = {
  readonly isWanted: (event: HubEvent) => boolean;
  /** `Last-Event-ID` of a client that comes back. */
  readonly lastEventId: string | null;
  /** Another number when things may have come into its sight, or left it: then it looks at everything anew, too. */
  readonly sightRevision?: () => number;
};

/**
 * Sends what happens to one client as server-sent events. It begins with `reset`, unless the client says where it was
 * and that is still known: look at everything anew, what comes after is what changed since. A client that reads too
 * slowly for what is kept gets another `reset`; nothing is queued for it.
 */
export class EventStream {
  readonly #hub: EventHub;
  readonly #sink: Writable;
  readonly #isWanted: (event: HubEvent) => boolean;
  readonly #sightRevision: () => number;
  #seenRevision: number;
  readonly #endings: (() => void)[] = [];
  /** What the client knows; null: nothing. */
  #position: number | null;
  #isBlocked = false;
  #stalledPeriods = 0;

  /** Begins at once, and ends by itself when the sink closes. The sink's headers have been sent by the caller. */
  constructor(options: EventStreamOptions, deps: { hub: EventHub; sink: Writable; clock: Clock }) {
    this.#hub = deps.hub;
    this.#sink = deps.sink;
    this.#isWanted = options.isWanted;
    this.#sightRevision = options.sightRevision ?? (() => 0);
    this.#seenRevision = this.#sightRevision();
    this.#position = options.lastEventId === null ? null : deps.hub.positionOf(options.lastEventId);
    const onDrain = (): void => this.#onDrain();
    const onClose = (): void => this.#end();
    deps.sink.on('drain', onDrain).on('close', onClose);
    const comments = deps.clock.every(COMMENT_PERIOD_MS, () => this.#comment());
    this.#endings.push(
      deps.hub.listen(() => this.#catchUp()),
      () => comments.cancel(),
      () => deps.sink.off('drain', onDrain).off('close', onClose),
    );
    // The first comment makes the headers leave at once.
    this.#write(': events\n\n');
    this.#catchUp();
  }

  /** Ends the stream in order. */
  close(): void {
    this.#end();
    this.#sink.end();
  }

  #end(): void {
    for (const ending of this.#endings.splice(0)) ending();
  }

  #onDrain(): void {
    this.#isBlocked = false;
    this.#stalledPeriods = 0;
    this.#catchUp();
  }

  #catchUp(): void {
    if (this.#isBlocked) return;
    const revision = this.#sightRevision();
    if (revision !== this.#seenRevision) this.#position = null;
    this.#seenRevision = revision;
    const events = this.#position === null ? null : this.#hub.since(this.#position);
    if (events === null) {
      this.#position = this.#hub.position;
      this.#write(`${this.#idLine()}event: reset\ndata: {}\n\n`);
      return;
    }
    let text = '';
    for (const event of events) {
      this.#position = event.position;
      if (this.#isWanted(event)) text += `${this.#idLine()}data: ${event.json}\n\n`;
      if (text.length < STEP_CHARACTERS) continue;
      this.#write(text);
      text = '';
      if (this.#isBlocked) return;
    }
    if (text !== '') this.#write(text);
  }

  #idLine(): string {
    return `id: ${this.#hub.textOf(this.#position ?? 0)}\n`;
  }

  /** With the position, which moves on though nothing of it is wanted: so a filter doesn't age a client. */
  #comment(): void {
    if (!this.#isBlocked) this.#write(`: still here\n${this.#idLine()}\n`);
    else if (++this.#stalledPeriods >= MAX_STALLED_PERIODS) this.#sink.destroy();
  }

  #write(text: string): void {
    this.#isBlocked = !this.#sink.write(text);
  }
}
