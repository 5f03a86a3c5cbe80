import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { NatsLink } from '../nats-link.js';
import { RisingNumbers } from '../rising-numbers.js';
import type { SealedText } from '../sealed-text.js';
import { type HeldRow, type Report, ROWS_PER_PART, reportBytes, reportOf } from './report.js';

/** What reports are sealed as. */
const SEALED_NAME = 'report';

/** Reports to the other boxes and from them, by plain messages: what is lost is said again a second later. */
export class ReportWire {
  readonly #link: NatsLink;
  readonly #sealed: SealedText;
  readonly #subject: string;
  readonly #own: { readonly box: string; readonly boot: string };
  readonly #onReport: (report: Report) => void;
  readonly #listening = new WeakSet<NatsConnection>();
  readonly #log: Logger;
  readonly #numbers: RisingNumbers;
  #isRefused = false;

  constructor(
    clusterName: string,
    own: { readonly box: string; readonly boot: string },
    deps: {
      readonly clock: Clock;
      readonly link: NatsLink;
      readonly log: Logger;
      readonly sealed: SealedText;
      readonly onReport: (report: Report) => void;
    },
  ) {
    this.#subject = `framering.${clusterName}.cameras`;
    this.#own = own;
    this.#numbers = new RisingNumbers(deps.clock);
    this.#link = deps.link;
    this.#log = deps.log;
    this.#sealed = deps.sealed;
    this.#onReport = deps.onReport;
  }

  /** Tells of all cameras. */
  tellAll(rows: readonly HeldRow[]): void {
    const count = Math.max(1, Math.ceil(rows.length / ROWS_PER_PART));
    const seq = this.#numbers.next();
    for (let index = 0; index < count; index++)
      this.#send({
        ...{ ...this.#own, seq, part: [index, count], dropped: [] },
        rows: rows.slice(index * ROWS_PER_PART, (index + 1) * ROWS_PER_PART),
      });
  }

  /** Tells of those that are others now. */
  tellSome(rows: readonly HeldRow[], dropped: readonly string[]): void {
    for (let from = 0; from < Math.max(rows.length, dropped.length); from += ROWS_PER_PART)
      this.#send({
        ...{ ...this.#own, seq: this.#numbers.next(), part: null },
        rows: rows.slice(from, from + ROWS_PER_PART),
        dropped: dropped.slice(from, from + ROWS_PER_PART),
      });
  }

  /** To be called now and then: each new connection is listened at once. */
  listen(): void {
    const { connection } = this.#link;
    if (connection === null || this.#listening.has(connection)) return;
    try {
      connection.subscribe(this.#subject, {
        callback: (fault, message) => {
          if (fault === null) this.#hear(message.data);
        },
      });
      this.#listening.add(connection);
    } catch {
      // It ends just now: the next one is listened at.
    }
  }

  /** Servers that take no message of such a length, or a connection that ends, end nothing else: it is told again in a second. */
  #send(report: Report): void {
    const bytes = reportBytes(report).toString('base64');
    try {
      this.#link.connection?.publish(this.#subject, this.#sealed.seal(SEALED_NAME, bytes));
      this.#isRefused = false;
    } catch (thrown) {
      if (!this.#isRefused)
        this.#log.warn("which cameras this box has can't be told to the others", {
          reason: messageOf(thrown),
        });
      this.#isRefused = true;
    }
  }

  #hear(data: Uint8Array): void {
    let report: Report | null = null;
    try {
      report = reportOf(Buffer.from(this.#sealed.open(SEALED_NAME, data), 'base64'));
    } catch {
      // Of another key: the pulse tells of those.
    }
    if (report !== null && report.box !== this.#own.box) this.#onReport(report);
  }
}
