import { brokerName } from '../../base/broker-address.js';
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { within } from '../../base/within.js';
import { Backlog } from './backlog.js';
import { Link, type LinkOptions, type Message } from './link.js';

export type PublisherDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  /** Connected: what was kept is about to be told anew. */
  readonly onUp: () => void;
  /** What happened is about to be sent. */
  readonly onTelling: () => void;
  readonly onMessage: (topic: string, payload: Buffer, isRetained: boolean) => void;
};

/** On their way at a time: so many may come twice after the connection broke. */
export const MAX_IN_FLIGHT = 16;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
const JITTER = 0.3;
/** A connection that lasted so long was a good one. */
const GOOD_MS = 30_000;
/** A broker that takes nothing, and says that it is there. */
const STALLED_MS = 60_000;
const LOOK_EVERY_MS = 10_000;
const TOLD_AGAIN_MS = 600_000;
/** For what waits when the service ends, and then for the last word. */
const DRAIN_MS = 1_500;
const LAST_WORD_MS = 1_000;
const MAX_LOSSY_BYTES = 4_000_000;

/**
 * Tells a broker what is so (kept topics, of which the newest counts), what happened (all of it, in order) and what
 * passes by (the newest, if somebody takes it now). Connects by itself, again and again; nobody waits for it.
 */
export class Publisher {
  readonly counts = { sent: 0, dropped: 0, connects: 0 };
  readonly #deps: PublisherDeps;
  readonly #options: LinkOptions;
  /** By topic, what the broker is to have; "" is to be removed there. */
  readonly #kept = new Map<string, string>();
  /** Topics whose newest the broker hasn't been sent. */
  readonly #dirty = new Set<string>();
  readonly #backlog = new Backlog();
  readonly #lossy = new Map<string, Message>();
  #lossyBytes = 0;
  /** One at a time: on a thin line all others wait behind a picture. */
  #isLossyUnderWay = false;
  #link: Link | null = null;
  #inFlight = 0;
  #isKeptNext = false;
  #failures = 0;
  #upMs: number | null = null;
  #upWallMs: number | null = null;
  #fault = '';
  #progressMs = 0;
  #waiting: Timer | null = null;
  #telling: Timer | null = null;
  readonly #looking: Timer;
  #told = { reason: '', atMs: Number.NEGATIVE_INFINITY };
  #onIdle: (() => void) | null = null;
  #isStopped = false;

  constructor(options: LinkOptions, deps: PublisherDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#looking = deps.clock.every(LOOK_EVERY_MS, () => this.#look());
    this.#connect();
  }

  get isUp(): boolean {
    return this.#link?.isUp ?? false;
  }

  /** When it was connected; null: it isn't. */
  get upSinceMs(): number | null {
    return this.#upWallMs;
  }

  /** Why it isn't, or wasn't last; "" where it always was, or is yet to be asked. No secret. */
  get fault(): string {
    return this.#fault;
  }

  /** Happenings that the broker hasn't taken yet. */
  get waiting(): number {
    return this.#backlog.size;
  }

  /** What is so from now on; "": nothing, the topic is to be gone. */
  keep(topic: string, payload: string): void {
    if ((this.#kept.get(topic) ?? null) === payload) return;
    this.#kept.set(topic, payload);
    this.#dirty.add(topic);
    // What waits to be told there is from before.
    this.#dropLossy(topic);
    this.#pump();
  }

  /** The same once more, for somebody who wasn't there. */
  repeat(topics: Iterable<string>): void {
    for (const topic of topics) if (this.#kept.has(topic)) this.#dirty.add(topic);
    this.#pump();
  }

  isKept(topic: string): boolean {
    return this.#kept.has(topic);
  }

  /** Topics that are yet to be gone. */
  get removals(): number {
    let count = 0;
    for (const payload of this.#kept.values()) if (payload === '') count += 1;
    return count;
  }

  keptTopics(): IterableIterator<string> {
    return this.#kept.keys();
  }

  /** What happened: sent with all else of this turn. */
  tell(topic: string, payload: string): void {
    this.counts.dropped += this.#backlog.add({ topic, payload, qos: 1, retain: false });
    this.#telling ??= this.#deps.clock.after(0, () => {
      this.#telling = null;
      this.#pump();
    });
  }

  /** What is soon worth nothing: sent now, or never. */
  mention(message: Message): void {
    if (!this.isUp) return;
    this.#dropLossy(message.topic);
    if (this.#lossyBytes + message.payload.length > MAX_LOSSY_BYTES) return;
    this.#lossy.set(message.topic, message);
    this.#lossyBytes += message.payload.length;
    this.#pump();
  }

  subscribe(topics: readonly string[], onDone?: () => void): void {
    this.#link?.subscribe(topics, onDone);
  }

  unsubscribe(topics: readonly string[]): void {
    this.#link?.unsubscribe(topics);
  }

  /** Tells what waits and `lastWord`, as far as the broker takes it within some seconds. */
  async stop(lastWord: Message): Promise<void> {
    this.#isStopped = true;
    this.#waiting?.cancel();
    this.#looking.cancel();
    this.#telling?.cancel();
    const link = this.#link;
    if (link === null) return;
    if (!link.isUp) return link.end();
    const { clock } = this.#deps;
    const drained = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      this.#pump();
    });
    await within(clock, DRAIN_MS, drained);
    this.#onIdle = null;
    if (!link.isUp) return;
    const taken = new Promise<void>((resolve) => link.publish(lastWord, resolve));
    const isTaken = await within(clock, LAST_WORD_MS, taken);
    // Who gets no such word is told the will by the broker, when the connection breaks.
    if (isTaken) await link.end();
    else link.break('the broker takes nothing');
  }

  #connect(): void {
    const { clock } = this.#deps;
    const link = new Link(this.#options, {
      clock,
      onUp: () => this.#onUp(),
      onDown: (reason) => this.#onDown(reason),
      onMessage: this.#deps.onMessage,
    });
    this.#link = link;
  }

  #onUp(): void {
    const { clock, log, onUp } = this.#deps;
    this.counts.connects += 1;
    this.#upMs = clock.monotonicMs();
    this.#upWallMs = clock.wallMs();
    this.#progressMs = this.#upMs;
    this.#told = { reason: '', atMs: Number.NEGATIVE_INFINITY };
    log.info('the MQTT broker is connected', { broker: brokerName(this.#options.address) });
    for (const topic of this.#kept.keys()) this.#dirty.add(topic);
    onUp();
    this.#pump();
  }

  #onDown(reason: string): void {
    const { clock, random = Math.random } = this.#deps;
    const nowMs = clock.monotonicMs();
    this.#failures = this.#upMs !== null && nowMs - this.#upMs >= GOOD_MS ? 1 : this.#failures + 1;
    this.#upMs = null;
    this.#upWallMs = null;
    this.#fault = reason;
    this.#link = null;
    this.#inFlight = 0;
    this.#isLossyUnderWay = false;
    this.#backlog.rewind();
    this.#lossy.clear();
    this.#lossyBytes = 0;
    if (this.#isStopped) {
      this.#onIdle?.();
      return;
    }
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (this.#failures - 1), MAX_WAIT_MS) * (1 + JITTER * random());
    this.#tellDown(reason, nowMs, waitMs);
    this.#waiting = clock.after(waitMs, () => this.#connect());
  }

  /** Once for each reason, and now and then while it stays. */
  #tellDown(reason: string, atMs: number, waitMs: number): void {
    if (reason === this.#told.reason && atMs - this.#told.atMs < TOLD_AGAIN_MS) return;
    this.#told = { reason, atMs };
    const broker = brokerName(this.#options.address);
    const fields = { broker, reason, again_in_sec: Math.ceil(waitMs / 1000), waiting: this.waiting };
    this.#deps.log.warn('the MQTT broker is away', fields);
  }

  #look(): void {
    const isStalled = this.#deps.clock.monotonicMs() - this.#progressMs > STALLED_MS;
    if (this.#inFlight > 0 && isStalled) this.#link?.break('the broker takes nothing');
  }

  #pump(): void {
    const link = this.#link;
    if (link === null || !link.isUp) return;
    while (this.#inFlight < MAX_IN_FLIGHT) {
      const next = this.#next();
      if (next === null) break;
      if (this.#inFlight === 0) this.#progressMs = this.#deps.clock.monotonicMs();
      this.#inFlight += 1;
      link.publish(next.message, () => {
        this.#inFlight -= 1;
        this.#progressMs = this.#deps.clock.monotonicMs();
        this.counts.sent += 1;
        next.onDone();
        this.#pump();
      });
    }
    if (this.#inFlight === 0) this.#onIdle?.();
  }

  /** What is so and what happened in turns, so that neither waits for all of the other. */
  #next(): { readonly message: Message; readonly onDone: () => void } | null {
    this.#isKeptNext = !this.#isKeptNext;
    const first = this.#isKeptNext ? this.#nextKept() : this.#nextTold();
    return first ?? (this.#isKeptNext ? this.#nextTold() : this.#nextKept()) ?? this.#nextLossy();
  }

  #nextTold(): { readonly message: Message; readonly onDone: () => void } | null {
    this.#deps.onTelling();
    return this.#backlog.take();
  }

  #nextKept(): { readonly message: Message; readonly onDone: () => void } | null {
    const [topic] = this.#dirty;
    if (topic === undefined) return null;
    this.#dirty.delete(topic);
    const payload = this.#kept.get(topic) ?? '';
    const onDone = (): void => {
      if (payload === '' && this.#kept.get(topic) === '') this.#kept.delete(topic);
    };
    return { message: { topic, payload, qos: 1, retain: true }, onDone };
  }

  #nextLossy(): { readonly message: Message; readonly onDone: () => void } | null {
    if (this.#isLossyUnderWay) return null;
    const [message] = this.#lossy.values();
    if (message === undefined) return null;
    this.#dropLossy(message.topic);
    this.#isLossyUnderWay = true;
    const onDone = (): void => {
      this.#isLossyUnderWay = false;
    };
    return { message, onDone };
  }

  #dropLossy(topic: string): void {
    const message = this.#lossy.get(topic);
    if (message === undefined) return;
    this.#lossy.delete(topic);
    this.#lossyBytes -= message.payload.length;
  }
}
