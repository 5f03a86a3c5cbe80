import { randomBytes } from 'node:crypto';
import type { Permission } from '../auth/permissions.js';
import type { Clock, Timer } from '../base/clock.js';

/** What an event can be about. */
export const topics = ['cameras', 'events', 'storage', 'config'] as const;
export type Topic = (typeof topics)[number];

/** A thing is another than before. */
export type Happening = {
  readonly topic: Topic;
  readonly id: string;
  /** The fields that have another value now; `{deleted: true}` where the thing is gone. Never a secret. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Null where it is about no camera. */
  readonly cameraId: string | null;
  /** What one must be allowed to hear of it: the same as to GET it. */
  readonly needs: Permission;
};

/** What became of it here: `json` is `{"topic":…,"id":…,"set":{…}}`, made once for all who read it. */
export type HubEvent = Pick<Happening, 'topic' | 'id' | 'cameraId' | 'needs'> & {
  readonly position: number;
  readonly json: string;
};

/** Whoever finds out what happens, and does so only while somebody wants to know. */
export type EventFeed = {
  /** From here on everything is told: what is so now is known to those who ask for it now. */
  start(): void;
  stop(): void;
};

/** What is kept for those who read slowly, or come back. */
const MAX_EVENTS = 2_048;
const MAX_BYTES = 1_048_576;
/** How long it goes on after the last reader left: one whose connection broke comes back within seconds. */
const LINGER_MS = 60_000;

/**
 * What happens in the service, for all who show it. Nobody's reading is waited for: the latest events are kept once,
 * each reader has a position in them, and one that fell behind them has to look at everything anew.
 */
export class EventHub {
  readonly #clock: Clock;
  /** Positions of another run mean nothing in this one. */
  readonly #run = randomBytes(6).toString('base64url');
  readonly #feeds: EventFeed[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #counts: Record<Topic, number> = { cameras: 0, events: 0, storage: 0, config: 0 };
  #events: HubEvent[] = [];
  #bytes = 0;
  #position = 0;
  #isAwake = false;
  #bedtime: Timer | null = null;
  #isTelling = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Of the last event there was. */
  get position(): number {
    return this.#position;
  }

  /** Events so far, by topic: those that there was somebody for. */
  get counts(): Readonly<Record<Topic, number>> {
    return this.#counts;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  /** Before anybody listens. */
  add(feed: EventFeed): void {
    this.#feeds.push(feed);
  }

  /** Dropped where nobody reads: whoever comes then begins with everything as it is. */
  publish({ topic, id, set, cameraId, needs }: Happening): void {
    if (!this.#isAwake) return;
    const json = JSON.stringify({ topic, id, set });
    this.#events.push({ topic, id, cameraId, needs, position: ++this.#position, json });
    this.#counts[topic]++;
    this.#bytes += json.length;
    while (this.#events.length > MAX_EVENTS || this.#bytes > MAX_BYTES)
      this.#bytes -= this.#events.shift()!.json.length;
    this.#tell();
  }

  /** Calls back, once for many, when there are events behind the position that was reached. It must not throw. */
  listen(listener: () => void): () => void {
    this.#wake();
    this.#listeners.add(listener);
    return () => {
      if (!this.#listeners.delete(listener) || this.#listeners.size > 0) return;
      this.#bedtime = this.#clock.after(LINGER_MS, () => this.#fallAsleep());
    };
  }

  /** What came after a position, or null where some of it is not known any more. */
  since(position: number): readonly HubEvent[] | null {
    const missing = this.#position - position;
    if (missing < 0 || missing > this.#events.length) return null;
    return missing === 0 ? [] : this.#events.slice(-missing);
  }

  /** A position as a client keeps it. */
  textOf(position: number): string {
    return `${this.#run}-${position}`;
  }

  /** The position that a text names, if it is one of this run. */
  positionOf(text: string): number | null {
    const [, run, position] = /^([\w-]{8})-(\d{1,15})$/.exec(text) ?? [];
    return run === this.#run ? Number(position) : null;
  }

  /** The service stops. */
  stop(): void {
    this.#fallAsleep();
  }

  #wake(): void {
    this.#bedtime?.cancel();
    this.#bedtime = null;
    if (this.#isAwake) return;
    this.#isAwake = true;
    try {
      for (const feed of this.#feeds) feed.start();
    } catch (fault) {
      // Else whoever comes next would be told of nothing.
      this.#fallAsleep();
      throw fault;
    }
  }

  #fallAsleep(): void {
    this.#bedtime?.cancel();
    this.#bedtime = null;
    if (!this.#isAwake) return;
    this.#isAwake = false;
    for (const feed of this.#feeds) feed.stop();
    this.#events = [];
    this.#bytes = 0;
    // Whatever comes next, something before it is missing.
    this.#position++;
  }

  #tell(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      for (const listener of [...this.#listeners]) listener();
    });
  }
}
