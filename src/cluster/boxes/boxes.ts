import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Signal } from '../../base/signal.js';
import { startThread, type ThreadHandle } from '../../base/thread-handle.js';
import type { StoreQueue } from './beat.js';
import type { BoxesView, BoxView, KnownBox } from './box-table.js';
import { ClocksApart } from './clocks.js';
import type { FromPulse, PulseSetup, ToPulse } from './messages.js';

export type BoxesOptions = Omit<PulseSetup, 'known' | 'lastSeq'>;

export type BoxesDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** What is remembered of the others over starts. */
  readonly memory: { readonly known: readonly KnownBox[]; remember(known: readonly KnownBox[]): void };
};

const STOP_TIMEOUT_MS = 2_000;
const RESTART_MS = 500;
/** It says how far it is each second: more it hasn't said since. */
const UNTOLD_BEATS = 1_000;

const nobodyYet: BoxesView = {
  boxes: [],
  hasMajority: false,
  awaited: [],
  isSettled: false,
  hasNamesake: false,
  isUnheard: false,
};

/** The boxes of the cluster, this one among them, as its pulse tells of them (workers/pulse.ts). */
export class Boxes {
  /** Who is here, or what one of them is, is another than before; or merely their loads (not `hasNews`). */
  readonly changed = new Signal<[hasNews: boolean]>();
  readonly #options: BoxesOptions;
  readonly #deps: BoxesDeps;
  #thread: ThreadHandle<ToPulse>;
  #view = nobodyYet;
  readonly #clocks = new ClocksApart();
  #known: readonly KnownBox[];
  /** Above all that a pulse of this process has said. */
  #lastSeq = -1;
  #remembered: string;
  #isForgetful = false;
  #isLeaving = false;
  #isStopped = false;

  constructor(options: BoxesOptions, deps: BoxesDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#known = deps.memory.known;
    this.#remembered = JSON.stringify(this.#known);
    this.#thread = this.#start();
  }

  get view(): BoxesView {
    return this.#view;
  }

  /** Whose clocks are apart from this box's, in words; null: nobody's. */
  get clockFault(): string | null {
    return this.#clocks.fault;
  }

  /** What the others are told of this one: its cameras, and what waits to be copied. */
  tell(cameras: number, store: StoreQueue | null): void {
    this.#thread.send({ type: 'own', cameras, store });
  }

  /** Nobody is to wait for a box that is gone for good. */
  forget(box: string): void {
    this.#thread.send({ type: 'forget', box });
  }

  /** Says that this one hands its cameras over. */
  leave(): void {
    this.#isLeaving = true;
    this.#thread.send({ type: 'leave' });
  }

  /** Says goodbye. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#thread.stop();
  }

  #start(): ThreadHandle<ToPulse> {
    const thread = startThread<ToPulse, FromPulse>(
      {
        entry: new URL('../../../workers/pulse.js', import.meta.url),
        name: 'pulse',
        workerData: { ...this.#options, known: this.#known, lastSeq: this.#lastSeq } satisfies PulseSetup,
        stopTimeoutMs: STOP_TIMEOUT_MS,
      },
      {
        onMessage: (message) => this.#onMessage(message),
        onLost: (reason) => {
          this.#deps.log.error('the pulse of this box was lost: it begins anew', { reason });
          this.#deps.clock.after(RESTART_MS, () => {
            if (!this.#isStopped) this.#thread = this.#start();
          });
        },
      },
    );
    if (this.#isLeaving) thread.send({ type: 'leave' });
    return thread;
  }

  #onMessage(message: FromPulse): void {
    if (message.type === 'log') {
      this.#deps.log[message.level](message.message, message.fields);
      return;
    }
    this.#report(this.#view, message.view);
    this.#view = message.view;
    this.#lastSeq = message.seq + UNTOLD_BEATS;
    this.#remember(message.known);
    this.changed.emit(message.hasNews);
  }

  /** A disk that takes nothing now is asked again with the next word of the pulse. */
  #remember(known: readonly KnownBox[]): void {
    this.#known = known;
    const text = JSON.stringify(known);
    if (text === this.#remembered) return;
    try {
      this.#deps.memory.remember(known);
      this.#remembered = text;
      this.#isForgetful = false;
    } catch (thrown) {
      if (!this.#isForgetful)
        this.#deps.log.error("which boxes there are can't be written down: it will be when it can", {
          reason: messageOf(thrown),
        });
      this.#isForgetful = true;
    }
  }

  #report(before: BoxesView, after: BoxesView): void {
    const { log } = this.#deps;
    const { name: own } = this.#options.own;
    const known = new Map(before.boxes.map((box): [string, BoxView] => [box.name, box]));
    for (const { name, isHere, isLeaving, boot } of after.boxes) {
      const was = known.get(name);
      known.delete(name);
      if (name === own) continue;
      if (was === undefined || (isHere && !was.isHere) || was.boot !== boot)
        log.info('a box is here', { box: name });
      else if (was.isHere && !isHere) log.warn('a box is lost', { box: name });
      else if (isLeaving && !was.isLeaving) log.info('a box hands its cameras over', { box: name });
    }
    for (const name of known.keys()) if (name !== own) log.info('a box has gone', { box: name });
    const { parted, joined } = this.#clocks.look(after.boxes);
    for (const name of parted)
      log.error('the clock of a box is apart from that of this one: set both by NTP', {
        box: name,
        ahead_sec: (after.boxes.find((box) => box.name === name)?.aheadMs ?? 0) / 1_000,
      });
    for (const name of joined) log.info('the clock of a box is that of this one again', { box: name });
    if (after.hasNamesake && !before.hasNamesake)
      log.error('another box is called as this one: each needs a BOX_NAME of its own', { box: own });
  }
}
