import type { Registry } from 'prom-client';
import { CollectedCounter, CollectedGauge, line } from './collected.js';
import type { NoticeFigures } from './metrics-source.js';

/** What becomes of messages to others. */
export class NoticeCollector {
  readonly #waiting: CollectedGauge;
  readonly #sending: CollectedGauge;
  readonly #messages: CollectedCounter;

  constructor(register: Registry) {
    this.#waiting = new CollectedGauge(register, {
      name: 'svc_webhook_waiting',
      help: 'Messages to webhooks that are yet to be sent.',
    });
    this.#sending = new CollectedGauge(register, {
      name: 'svc_webhook_sending',
      help: 'Messages to webhooks that are on their way: one a receiver.',
    });
    this.#messages = new CollectedCounter(register, {
      name: 'svc_webhook_messages_total',
      help: 'Messages to webhooks: sent, attempts that failed, and messages that were dropped.',
      labelNames: ['outcome'],
    });
  }

  collect({ webhooks }: NoticeFigures): void {
    this.#waiting.lines = [line(webhooks.waiting)];
    this.#sending.lines = [line(webhooks.sending)];
    this.#messages.lines = (['sent', 'failed', 'dropped'] as const).map((outcome) =>
      line(webhooks[outcome], { outcome }),
    );
  }
}
