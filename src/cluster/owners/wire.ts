import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { NatsLink } from '../nats-link.js';
import { RisingNumbers } from '../rising-numbers.js';
import { SealedSubject } from '../sealed-subject.js';
import type { SealedText } from '../sealed-text.js';
import { type HeldRow, type Report, ROWS_PER_PART, reportBytes, reportOf } from './report.js';

/** Reports to the other boxes and from them, by plain messages: what is lost is said again a second later. */
export class ReportWire {
  readonly #subject: SealedSubject<Report>;
  readonly #own: { readonly box: string; readonly boot: string };
  readonly #numbers: RisingNumbers;

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
    const { clock, link, log, sealed, onReport } = deps;
    this.#own = own;
    this.#numbers = new RisingNumbers(clock);
    this.#subject = new SealedSubject(
      { subject: `framering.${clusterName}.cameras`, sealedAs: 'report' },
      {
        ...{ link, log, sealed },
        read: (text) => reportOf(Buffer.from(text, 'base64')),
        onMessage: (report) => {
          if (report.box !== own.box) onReport(report);
        },
      },
    );
  }

  /** Tells of all cameras. Rows are asked for part by part: all at once would outlive the collector's next turn each second. */
  tellAll(cameraIds: readonly string[], rowOf: (cameraId: string) => HeldRow): void {
    const count = Math.max(1, Math.ceil(cameraIds.length / ROWS_PER_PART));
    const seq = this.#numbers.next();
    for (let index = 0; index < count; index++)
      this.#send({
        ...{ ...this.#own, seq, part: [index, count], dropped: [] },
        rows: cameraIds.slice(index * ROWS_PER_PART, (index + 1) * ROWS_PER_PART).map(rowOf),
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
    this.#subject.listen();
  }

  #send(report: Report): void {
    this.#subject.say(reportBytes(report).toString('base64'));
  }
}
