import type { Clock, MonotonicMs } from '../base/clock.js';
import type { Metrics } from './metrics.js';

/** Anybody may ask, and hundreds of cameras are a megabyte of text. */
const KEEP_MS = 1_000;

/** The metrics as they are sent: made once a second at most, however many ask. */
export class MetricsPage {
  readonly #metrics: Pick<Metrics, 'contentType' | 'exposition'>;
  readonly #clock: Clock;
  #latest: { readonly page: Promise<Buffer>; readonly atMs: MonotonicMs } | null = null;

  constructor(metrics: Pick<Metrics, 'contentType' | 'exposition'>, clock: Clock) {
    this.#metrics = metrics;
    this.#clock = clock;
  }

  get contentType(): string {
    return this.#metrics.contentType;
  }

  /** All metrics as of the last second. */
  read(): Promise<Buffer> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#latest !== null && nowMs - this.#latest.atMs < KEEP_MS) return this.#latest.page;
    const page = this.#metrics.exposition().then((text) => Buffer.from(text));
    this.#latest = { page, atMs: nowMs };
    return page;
  }
}
