import type { ConnectionOptions } from 'node:tls';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { OtherBox } from '../receive/pull.js';
import { relayError } from '../relay-error.js';
import { clientTls } from '../shared-key-tls.js';
import type { Fields } from '../wire/texts.js';
import { AskLink, type BoxAnswer } from './ask-link.js';

export type AskLimits = {
  /** Until it says anything, and from then on from one word to the next. */
  readonly withinMs: number;
  /** Until all of the answer is here, however it comes. */
  readonly inAllMs: number;
  /** Room for what comes beside the answer's JSON. */
  readonly maxBytes: number;
};

type Idle = { readonly link: AskLink; readonly sinceMs: MonotonicMs };

/** Before the other side closes it. */
const IDLE_MS = 30_000;
const MAX_IDLE_A_BOX = 8;

const addressOf = ({ host, port }: OtherBox): string => `${host} ${port}`;

/** Asks other boxes: as many connections to each as there are questions at the same time, kept for the next ones. */
export class Asking {
  readonly #box: string;
  readonly #tls: ConnectionOptions;
  readonly #clock: Clock;
  /** By address; the one that was used last is the last one. */
  readonly #idle = new Map<string, Idle[]>();

  constructor(own: { readonly box: string; readonly key: Buffer }, deps: { readonly clock: Clock }) {
    this.#box = own.box;
    this.#tls = clientTls(own.key);
    this.#clock = deps.clock;
  }

  /** Rejects with the code that the box says, or one of the relay's where it says nothing. */
  async ask(to: OtherBox, question: Fields, limits: AskLimits): Promise<BoxAnswer> {
    const kept = this.#take(to);
    if (kept === null) return this.#askBy(this.#open(to), to, question, limits);
    try {
      return await this.#askBy(kept, to, question, limits);
    } catch (fault) {
      // The other side may have closed it, or begun anew, just then.
      const isLost = fault instanceof AppError && fault.code === 'relay_unreachable';
      if (!isLost) throw fault;
      return this.#askBy(this.#open(to), to, question, limits);
    }
  }

  close(): void {
    for (const links of this.#idle.values())
      for (const { link } of [...links]) link.end(new AppError('aborted', 'nothing is asked any more'));
  }

  async #askBy(
    link: AskLink,
    to: OtherBox,
    question: Fields,
    { withinMs, inAllMs, maxBytes }: AskLimits,
  ): Promise<BoxAnswer> {
    const onLate = (): void =>
      link.end(
        link.isAnswering
          ? relayError('relay_slow', `${to.box} takes too long to answer`)
          : relayError('relay_stalled', `${to.box} doesn't answer in time`),
      );
    const inAll = this.#clock.after(inAllMs, onLate);
    let silence = this.#clock.after(withinMs, onLate);
    const onMoved = (): void => {
      silence.cancel();
      silence = this.#clock.after(withinMs, onLate);
    };
    try {
      return await link.ask(this.#box, question, { maxBytes, onMoved });
    } finally {
      inAll.cancel();
      silence.cancel();
      this.#keep(to, link);
    }
  }

  #open(to: OtherBox): AskLink {
    const link: AskLink = new AskLink(to, this.#tls, () => this.#forget(to, link));
    return link;
  }

  #take(to: OtherBox): AskLink | null {
    const links = this.#idle.get(addressOf(to)) ?? [];
    const oldestMs = this.#clock.monotonicMs() - IDLE_MS;
    for (let idle = links.pop(); idle !== undefined; idle = links.pop()) {
      if (idle.sinceMs >= oldestMs) return idle.link;
      idle.link.end(new AppError('aborted', 'it was not used'));
    }
    return null;
  }

  #keep(to: OtherBox, link: AskLink): void {
    if (!link.isOpen) return;
    const links = this.#idle.get(addressOf(to)) ?? [];
    this.#idle.set(addressOf(to), links);
    links.push({ link, sinceMs: this.#clock.monotonicMs() });
    if (links.length > MAX_IDLE_A_BOX) links.shift()?.link.end(new AppError('aborted', 'there are others'));
  }

  #forget(to: OtherBox, link: AskLink): void {
    const links = this.#idle.get(addressOf(to));
    const at = links?.findIndex((idle) => idle.link === link) ?? -1;
    if (at >= 0) links!.splice(at, 1);
    if (links?.length === 0) this.#idle.delete(addressOf(to));
  }
}
