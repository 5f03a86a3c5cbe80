import type { NatsConnection } from '@nats-io/transport-node';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { NatsLink } from './nats-link.js';
import type { SealedText } from './sealed-text.js';

export type SealedSubjectOptions = {
  readonly subject: string;
  /** What messages are sealed as. */
  readonly sealedAs: string;
};

export type SealedSubjectDeps<T> = {
  readonly link: Pick<NatsLink, 'connection'>;
  readonly log: Logger;
  readonly sealed: SealedText;
  /** Null, or an error: it isn't one. */
  readonly read: (text: string) => T | null;
  readonly onMessage: (message: T) => void;
  /** It is of another key, or nothing that a box says. */
  readonly onForeign?: () => void;
};

/** What each box says to all others, by plain messages: it is said over and over, so that nothing is lost for long. */
export class SealedSubject<T> {
  readonly #options: SealedSubjectOptions;
  readonly #deps: SealedSubjectDeps<T>;
  readonly #listening = new WeakSet<NatsConnection>();
  #isRefused = false;

  constructor(options: SealedSubjectOptions, deps: SealedSubjectDeps<T>) {
    this.#options = options;
    this.#deps = deps;
  }

  /** To be called now and then: each new connection is listened at once. */
  listen(): void {
    const { connection } = this.#deps.link;
    if (connection === null || this.#listening.has(connection)) return;
    try {
      connection.subscribe(this.#options.subject, {
        // What is refused comes as an error: the connection's log, or `BoxesView.isUnheard`, tells of it.
        callback: (fault, message) => {
          if (fault === null) this.#hear(message.data);
        },
      });
      this.#listening.add(connection);
    } catch {
      // It ends just now: the next one is listened at.
    }
  }

  /** A connection that ends, or servers that take no message of such a length, end nothing else. Told once, until it works. */
  say(text: string): void {
    const { link, log, sealed } = this.#deps;
    const { subject, sealedAs } = this.#options;
    const { connection } = link;
    if (connection === null) return;
    try {
      connection.publish(subject, sealed.seal(sealedAs, text));
      this.#isRefused = false;
    } catch (thrown) {
      if (!this.#isRefused)
        log.warn(`the other boxes can't be told by this one's ${sealedAs}`, { reason: messageOf(thrown) });
      this.#isRefused = true;
    }
  }

  #hear(data: Uint8Array): void {
    const { sealed, read, onMessage, onForeign } = this.#deps;
    let message: T | null = null;
    try {
      message = read(sealed.open(this.#options.sealedAs, data));
    } catch {
      // Of another key: it is told of below.
    }
    if (message !== null) onMessage(message);
    else onForeign?.();
  }
}
