import type { Registry } from 'prom-client';
import { CollectedCounter, CollectedGauge, line } from './collected.js';
import type { StoreFigures } from './metrics-source.js';

/** Copies of recordings in a store; no series where none is set. */
export class StoreCollector {
  readonly #up: CollectedGauge;
  readonly #waiting: CollectedGauge;
  readonly #oldest: CollectedGauge;
  readonly #recordings: CollectedCounter;
  readonly #bytes: CollectedCounter;

  constructor(register: Registry) {
    this.#up = new CollectedGauge(register, {
      name: 'svc_s3_up',
      help: '1 if the store did what it was asked last, 0 if not, or before it was asked; none where ARCHIVE_S3 is not set.',
    });
    this.#waiting = new CollectedGauge(register, {
      name: 'svc_s3_waiting',
      help: 'Closed recordings that are yet to be copied to the store.',
    });
    this.#oldest = new CollectedGauge(register, {
      name: 'svc_s3_oldest_waiting_seconds',
      help: 'Since when the oldest of these waits, by when it began; 0 where none waits.',
    });
    this.#recordings = new CollectedCounter(register, {
      name: 'svc_s3_recordings_total',
      help: 'Recordings in the store: copied, deleted, and attempts that failed.',
      labelNames: ['outcome'],
    });
    this.#bytes = new CollectedCounter(register, {
      name: 'svc_s3_sent_bytes_total',
      help: 'Bytes of recordings that were sent to the store.',
    });
  }

  collect(figures: StoreFigures | null): void {
    const lines = (value: number | undefined): ReturnType<typeof line>[] =>
      value === undefined ? [] : [line(value)];
    this.#up.lines = lines(figures === null ? undefined : Number(figures.isUp));
    this.#waiting.lines = lines(figures?.waiting);
    this.#oldest.lines = lines(figures?.oldestSec);
    this.#bytes.lines = lines(figures?.sentBytes);
    this.#recordings.lines =
      figures === null
        ? []
        : (['copied', 'deleted', 'failed'] as const).map((outcome) => line(figures[outcome], { outcome }));
  }
}
