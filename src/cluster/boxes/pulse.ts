import { availableParallelism, loadavg } from 'node:os';
import type { Clock, MonotonicMs, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { readBeats } from '../../base/thread-stats.js';
import { NatsLink } from '../nats-link.js';
import { RisingNumbers } from '../rising-numbers.js';
import { SealedSubject } from '../sealed-subject.js';
import { SealedText } from '../sealed-text.js';
import { type Beat, beatOf, beatText, type StoreQueue } from './beat.js';
import { BoxTable } from './box-table.js';
import type { FromPulse, PulseSetup, ToPulse } from './messages.js';

const LOOK_EVERY_MS = 100;
const BEAT_EVERY_MS = 300;
/** Loads are shown. */
const TELL_EVERY_MS = 1_000;
const WARN_EVERY_MS = 60_000;

/** The main thread connects again by itself, and says so in the log. */
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

export type PulseDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly send: (message: FromPulse) => void;
};

/**
 * Says over and over that this box lives, and hears the others. In a thread of its own, by a connection of its own: what
 * the main thread has to do makes no box look dead. If that one hangs for good, though, nobody is to believe that it lives.
 */
export class Pulse {
  readonly #setup: PulseSetup;
  readonly #deps: PulseDeps;
  readonly #link: NatsLink;
  readonly #subject: SealedSubject<Beat>;
  readonly #table: BoxTable;
  readonly #startedMs: MonotonicMs;
  readonly #timer: Timer;
  readonly #numbers: RisingNumbers;
  #told: { readonly cameras: number; readonly store: StoreQueue | null } = { cameras: 0, store: null };
  #isLeaving = false;
  #beatMs = Number.NEGATIVE_INFINITY;
  #toldMs = Number.NEGATIVE_INFINITY;
  #mainBeats = 0;
  /** Looks since the main thread was last seen moving: one that was frozen with it has counted none. */
  #stillLooks = 0;
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(setup: PulseSetup, deps: PulseDeps) {
    const { clusterName, key, own, lostMs, known, link } = setup;
    const { clock, log } = deps;
    this.#setup = setup;
    this.#deps = deps;
    const login = link.login && { ...link.login, secret: bufferOf(link.login.secret) };
    const ca = link.ca && bufferOf(link.ca);
    this.#link = new NatsLink({ ...link, ca, login }, { clock, log: silent });
    this.#subject = new SealedSubject(
      { subject: `framering.${clusterName}.boxes`, sealedAs: 'beat' },
      {
        ...{ link: this.#link, log, sealed: new SealedText(bufferOf(key)), read: beatOf },
        onMessage: (beat) => this.#table.hear(own, beat, clock.monotonicMs()),
        onForeign: () => this.#tellOfForeign(clock.monotonicMs()),
      },
    );
    this.#startedMs = clock.monotonicMs();
    this.#numbers = new RisingNumbers(clock, setup.lastSeq);
    this.#table = new BoxTable({ name: own.name, lostMs, known }, this.#startedMs);
    this.#timer = clock.every(LOOK_EVERY_MS, () => this.#look());
  }

  /** All messages but the last. */
  handle(message: Exclude<ToPulse, { type: 'stop' }>): void {
    if (message.type === 'own') {
      this.#told = { cameras: message.cameras, store: message.store };
      return;
    }
    if (message.type === 'forget') {
      this.#table.forget(message.box, this.#deps.clock.monotonicMs());
      return;
    }
    this.#isLeaving = true;
    this.#beat(this.#deps.clock.monotonicMs());
  }

  async stop(): Promise<void> {
    this.#timer.cancel();
    this.#publish('gone');
    await this.#link.connection?.flush().catch(() => undefined);
    await this.#link.stop();
  }

  #look(): void {
    const { clock, send } = this.#deps;
    const nowMs = clock.monotonicMs();
    const { connection } = this.#link;
    this.#subject.listen();
    const hasNews = this.#table.look({
      nowMs,
      wallMs: clock.wallMs(),
      isConnected: connection !== null,
    });
    if (hasNews || nowMs - this.#toldMs >= TELL_EVERY_MS) {
      this.#toldMs = nowMs;
      const view = this.#table.view(this.#own, this.#startedMs);
      send({ type: 'boxes', view, known: this.#table.known, seq: this.#numbers.last, hasNews });
    }
    if (this.#isMainStill()) return;
    if (nowMs - this.#beatMs >= BEAT_EVERY_MS) this.#beat(nowMs);
  }

  /** Whether the main thread hasn't moved for twice as long as others wait for this box. */
  #isMainStill(): boolean {
    const beats = readBeats(this.#setup.mainStats);
    this.#stillLooks = beats === this.#mainBeats ? this.#stillLooks + 1 : 0;
    this.#mainBeats = beats;
    return this.#stillLooks * LOOK_EVERY_MS >= 2 * this.#setup.lostMs;
  }

  #beat(nowMs: MonotonicMs): void {
    this.#beatMs = nowMs;
    this.#publish(this.#isLeaving ? 'leaving' : 'here');
  }

  #publish(state: Beat['state']): void {
    const { name: box, ...own } = this.#setup.own;
    const { load, cameras, store } = this.#own;
    const { hears } = this.#table;
    const wallMs = this.#deps.clock.wallMs();
    const seq = this.#numbers.next();
    this.#subject.say(beatText({ ...own, box, seq, state, load, cameras, store, wallMs, hears }));
  }

  get #own() {
    const { name: _, ...own } = this.#setup.own;
    const load = Math.round(((loadavg()[0] ?? 0) / availableParallelism()) * 100) / 100;
    return { ...own, ...this.#told, load, isLeaving: this.#isLeaving };
  }

  #tellOfForeign(nowMs: MonotonicMs): void {
    if (nowMs - this.#warnedMs < WARN_EVERY_MS) return;
    this.#warnedMs = nowMs;
    this.#deps.log.warn("something that is no box of this cluster speaks like one: it isn't heard");
  }
}
